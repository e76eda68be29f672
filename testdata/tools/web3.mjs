// Sends to every EVM chain of a running Snowglobe and reads it with web3.js.
import { Web3 } from 'web3'

import { Tally } from '../clients/tally.mjs'
import { abi, artifact, heights, persona, world } from '../clients/world.mjs'

const tally = new Tally()
const { alice, bob } = persona

async function check(chain) {
  const web3 = new Web3(chain.rpcUrl)
  web3.eth.transactionPollingInterval = 20
  web3.eth.Contract.transactionPollingInterval = 20
  const { address: from } = web3.eth.accounts.wallet.add(alice.privateKey)[0]
  await tally.group(`web3.js, ${chain.title}: reading`, async () => {
    tally.same('chain id', [await web3.eth.getChainId(), await web3.eth.net.getId()], [BigInt(chain.chainId), BigInt(chain.chainId)])
    tally.same('height', await web3.eth.getBlockNumber(), BigInt(chain.height))
    for (const height of heights(chain.height, 12)) {
      const block = await web3.eth.getBlock(height, true)
      tally.same(`block ${height}`, (await web3.eth.getBlock(block.hash)).transactions ?? [], (block.transactions ?? []).map((tx) => tx.hash))
      for (const tx of block.transactions ?? []) {
        const receipt = await web3.eth.getTransactionReceipt(tx.hash)
        tally.same(`receipt of ${tx.hash}`, [receipt.blockHash, receipt.from, receipt.transactionIndex], [block.hash, tx.from, tx.transactionIndex])
        for (const log of receipt.logs) tally.ok(`log ${log.logIndex} of ${tx.hash}`, (log.transactionHash === tx.hash))
      }
    }
  })
  await tally.group(`web3.js, ${chain.title}: sending`, async () => {
    const start = await web3.eth.getBlockNumber()
    const token = await new web3.eth.Contract(abi('Token')).deploy({ data: artifact('Token').bytecode, arguments: ['Snow', 'SNW', 18, 1000n, from] }).send({ from })
    const steps = []
    const receipt = await token.methods.transfer(bob.address, 5n).send({ from })
      .on('transactionHash', () => steps.push('hash')).on('receipt', () => steps.push('receipt'))
    tally.same('steps', steps, ['hash', 'receipt'])
    tally.same('receipt', [receipt.status, receipt.blockNumber], [1n, start + 2n])
    tally.same('event', [receipt.events.Transfer.returnValues.to.toLowerCase(), receipt.events.Transfer.returnValues.value], [bob.address.toLowerCase(), 5n])
    tally.same('balance', await token.methods.balanceOf(bob.address).call(), 5n)
    const events = await token.getPastEvents('Transfer', { fromBlock: start })
    tally.same('past events', events.map((event) => event.returnValues.value), [1000n, 5n])
    tally.same('estimate', await web3.eth.estimateGas({ from, to: bob.address, value: 1 }), 21000n)
    const paid = await web3.eth.sendTransaction({ from, to: bob.address, value: 7, type: 0x0, gasPrice: await web3.eth.getGasPrice(), gas: 21000 })
    tally.same('a legacy transaction', [paid.status, paid.type], [1n, 0n])
  })
  await tally.group(`web3.js, ${chain.title}: refusals`, async () => {
    const reverter = new web3.eth.Contract(abi('Reverter'), chain.of('reverter'))
    const reason = (text) => (error) => [error.message, error.cause?.message, error.reason, error.innerError?.message].some((said) => said?.includes(text))
    await tally.fails('a reason of a call', reverter.methods.withReason('no snow').call(), reason('no snow'))
    await tally.fails('an own error of a call', reverter.methods.withCustomError(7).call({ from }), (error) => error.cause?.errorName === 'Unlucky' && error.cause.errorArgs.code === 7n)
    await tally.fails('a division by zero', reverter.methods.divide(1, 0).call(), reason('division or modulo by zero'))
    await tally.fails('a reason before it is sent', reverter.methods.withReason('no snow').send({ from }), reason('no snow'))
    web3.eth.handleRevert = true
    await tally.fails('a receipt that failed', web3.eth.sendTransaction({ from, to: chain.of('reverter'), data: reverter.methods.withReason('no snow').encodeABI(), gas: 100_000 }, undefined, { checkRevertBeforeSending: false }), (error) => error.receipt?.status === 0n && reason('no snow')(error))
    const plain = { from, to: bob.address, value: 1, gas: 21000, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n }
    const sent = (tx) => web3.eth.sendTransaction({ ...plain, ...tx }, undefined, { checkRevertBeforeSending: false })
    await tally.fails('an old nonce', sent({ nonce: 0 }), reason('nonce too low'))
    await tally.fails('too much', sent({ value: 10n ** 40n }), reason('insufficient funds'))
    await tally.fails('too much gas', sent({ gas: 200_000_000 }), reason('exceeds block gas limit'))
  })
  await tally.group(`web3.js, ${chain.title}: signing`, async () => {
    const message = web3.utils.utf8ToHex('snow')
    const bare = new Web3(chain.rpcUrl)
    tally.same('as the node', await bare.eth.sign(message, bob.address), bare.eth.accounts.sign('snow', bob.privateKey).signature)
    tally.ok('accounts', (await bare.eth.getAccounts()).map((address) => address.toLowerCase()).includes(bob.address.toLowerCase()))
    const receipt = await bare.eth.sendTransaction({ from: bob.address, to: alice.address, value: 1 })
    tally.same('an account of the node', receipt.status, 1n)
  })
  await tally.group(`web3.js, ${chain.title}: subscriptions`, async () => {
    const socket = new Web3(chain.wsUrl)
    const heads = [], hashes = []
    const subscribed = await Promise.all([socket.eth.subscribe('newBlockHeaders'), socket.eth.subscribe('pendingTransactions')])
    subscribed[0].on('data', (head) => heads.push(head.number))
    subscribed[1].on('data', (hash) => hashes.push(hash))
    const { blockNumber, transactionHash } = await web3.eth.sendTransaction({ from, to: bob.address, value: 1, gas: 21000 })
    for (let i = 0; i < 100 && !(heads.includes(blockNumber) && hashes.includes(transactionHash)); i++) await new Promise((resolve) => setTimeout(resolve, 20))
    tally.ok('the head', heads.includes(blockNumber))
    tally.ok('the transaction', hashes.includes(transactionHash))
    await Promise.all(subscribed.map((subscription) => subscription.unsubscribe()))
    socket.provider.disconnect()
  })
}

for (const chain of world.chains) await check(chain)
tally.end()
