// A Safe of three owners: protocol-kit deploys it through its authors' factory, and executes what two of them have signed, each in another way.
import { createRequire } from 'node:module'

import { encodeFunctionData, getAddress, hashMessage, parseAbi, parseEther, parseEventLogs } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'

import { Tally } from '../clients/tally.mjs'
import { abi, mnemonic, persona, world } from '../clients/world.mjs'
import { observe } from './client.mjs'

// Its module for import has no named exports in Node.
const { default: Safe, hashSafeMessage } = createRequire(import.meta.url)('@safe-global/protocol-kit')
const tally = new Tally()
const events = parseAbi(['event ExecutionSuccess(bytes32 indexed txHash, uint256 payment)', 'event ExecutionFailure(bytes32 indexed txHash, uint256 payment)',
  'event SafeSetup(address indexed initiator, address[] owners, uint256 threshold, address initializer, address fallbackHandler)'])
const calls = parseAbi(['function getOwners() view returns (address[])', 'function getThreshold() view returns (uint256)', 'function nonce() view returns (uint256)',
  'function isValidSignature(bytes32, bytes) view returns (bytes4)'])
const [alice, bob, whale] = ['alice', 'bob', 'whale'].map((name) => persona[name].address)
const receiver = mnemonicToAccount(mnemonic, { accountIndex: 45 }).address

async function onChain(chain) {
  const client = observe(chain)
  const usdx = { address: chain.of('usdx'), abi: abi('Token') }
  const send = async (from, transaction) => client.waitForTransactionReceipt({ hash: await client.request({ method: 'eth_sendTransaction', params: [{ from, ...transaction }] }) })
  const balances = async (address) => [await client.getBalance({ address }), await client.readContract({ ...usdx, functionName: 'balanceOf', args: [address] })]

  // Alice has her key in the program, bob and whale are unlocked accounts behind an EIP-1193 provider.
  const behind = (signer) => ({ provider: { request: (call) => client.request(call) }, signer })
  const deployer = await Safe.init({
    provider: chain.rpcUrl, signer: persona.alice.privateKey,
    predictedSafe: { safeAccountConfig: { owners: [alice, bob, whale], threshold: 2 }, safeDeploymentConfig: { safeVersion: '1.4.1', saltNonce: '45' } },
  })
  const address = await deployer.getAddress()
  tally.same('what is there before', [await deployer.isSafeDeployed(), await client.getCode({ address })], [false, undefined])
  const deployment = await deployer.createSafeDeploymentTransaction()
  const wallet = await deployer.getSafeProvider().getExternalSigner()
  const setup = await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to: deployment.to, data: deployment.data, value: BigInt(deployment.value) }) })
  tally.same('how it was set up', parseEventLogs({ abi: events, logs: setup.logs }).map(({ address, args }) => [getAddress(address), args.owners, args.threshold]),
    [[address, [alice, bob, whale], 2n]])
  const read = (functionName) => client.readContract({ address, abi: calls, functionName })
  tally.same('whom it obeys', [await read('getOwners'), await read('getThreshold'), await read('nonce')], [[alice, bob, whale], 2n, 0n])
  const ofAlice = await deployer.connect({ safeAddress: address })
  const ofBob = await Safe.init({ ...behind(bob), safeAddress: address })
  const ofWhale = await Safe.init({ ...behind(whale), safeAddress: address })

  // Money comes in, and goes out in one transaction of two calls. Alice signs typed data, bob a message; whale, who pays the gas, executes.
  await send(alice, { to: address, value: '0x1bc16d674ec80000' })
  await send(alice, { to: usdx.address, data: encodeFunctionData({ ...usdx, functionName: 'transfer', args: [address, 1000n] }) })
  tally.same('what the Safe has', await balances(address), [parseEther('2'), 1000n])
  const had = await balances(receiver)
  const token = (amount) => ({ to: usdx.address, value: '0', data: encodeFunctionData({ ...usdx, functionName: 'transfer', args: [receiver, amount] }) })
  const payment = await ofAlice.createTransaction({ transactions: [{ to: receiver, value: parseEther('0.5').toString(), data: '0x' }, token(250n)] })
  let signed = await ofAlice.signTransaction(payment)
  await tally.fails('with one signature', ofAlice.executeTransaction(await ofAlice.copyTransaction(signed)), (e) => /1 signature missing/.test(e.message))
  signed = await ofBob.signTransaction(signed, 'eth_sign')
  const hash = await ofAlice.getTransactionHash(payment)
  const execute = async (kit, transaction) => {
    const { hash } = await kit.executeTransaction(transaction)
    const receipt = await client.waitForTransactionReceipt({ hash })
    return { receipt, told: parseEventLogs({ abi: events, logs: receipt.logs }).map((log) => [log.eventName, getAddress(log.address), log.args.txHash]) }
  }
  const paid = await execute(ofWhale, signed)
  tally.same('what it said', [paid.receipt.status, paid.receipt.from, paid.told], ['success', whale.toLowerCase(), [['ExecutionSuccess', address, hash]]])
  const has = await balances(receiver)
  tally.same('what was paid', [has[0] - had[0], has[1] - had[1], await balances(address)], [parseEther('0.5'), 250n, [parseEther('1.5'), 750n]])
  await tally.fails('the same signatures again', ofWhale.executeTransaction(signed), (e) => /GS026/.test(e.message + e.cause))

  // The indexed API has the payment among the internal transactions.
  const indexed = await fetch(new URL(`/v1/chains/${chain.chainId}/transactions/${paid.receipt.transactionHash}`, chain.rpcUrl)).then((r) => r.json())
  tally.same('the payment in the Data API', indexed.internalTransactions.filter((t) => t.value !== '0').map((t) => [t.from.address, t.to.address, t.value]), [[address, receiver, parseEther('0.5').toString()]])

  // Bob approves on chain, then alice executes, who needs not sign.
  const threshold = await ofAlice.createChangeThresholdTx(1)
  await client.waitForTransactionReceipt({ hash: (await ofBob.approveTransactionHash(await ofBob.getTransactionHash(threshold))).hash })
  tally.same('who approved', await ofAlice.getOwnersWhoApprovedTx(await ofAlice.getTransactionHash(threshold)), [bob])
  await execute(ofAlice, threshold)
  tally.same('how many must sign', [await read('getThreshold'), await read('nonce')], [1n, 2n])

  // A call that fails inside takes the Safe's nonce, where it has gas of its own.
  const failing = await ofWhale.createTransaction({ transactions: [token(10n ** 30n)], options: { safeTxGas: '100000' } })
  const failed = await execute(ofWhale, await ofWhale.signTransaction(failing))
  tally.same('a call that fails', [failed.receipt.status, failed.told[0][0], await read('nonce'), (await balances(address))[1]], ['success', 'ExecutionFailure', 3n, 750n])

  // The Safe signs a message, as EIP-1271 has contracts do.
  const message = await ofBob.signMessage(ofBob.createMessage('Let it snow.'))
  const valid = (text) => client.readContract({ address, abi: calls, functionName: 'isValidSignature', args: [hashMessage(text), message.encodedSignatures()] })
  tally.same('the hash of a message', hashSafeMessage('Let it snow.'), hashMessage('Let it snow.'))
  tally.same('its signature', await valid('Let it snow.'), '0x1626ba7e')
  await tally.fails('its signature for another', valid('Let it rain.'), (e) => /GS026/.test(e.message))
}

for (const chain of world.chains.filter((c) => c.isC)) await tally.group(`Safe, ${chain.title}`, () => onChain(chain))
tally.end()
