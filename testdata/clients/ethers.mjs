// Reads every chain of a running Snowglobe with ethers and checks what it says against itself.
import {
  Contract, HDNodeWallet, Interface, JsonRpcProvider, Mnemonic, Transaction, WebSocketProvider, decodeRlp, encodeRlp,
  ZeroHash, getCreateAddress, keccak256, toBeHex, toQuantity, verifyMessage,
} from 'ethers'

import { asynchronous, checkHeader, checkReceipts, provenBy, walk } from './block.mjs'
import { Tally } from './tally.mjs'
import { balanceAt, balances, moments, topicOf, Transfer } from './token.mjs'
import { proven, quantity, rootOf } from './trie.mjs'
import { abi, heights, mnemonic, multicall3, persona, world } from './world.mjs'

const tally = new Tally()
const codec = { encode: encodeRlp, decode: decodeRlp, keccak: keccak256 }
const alice = persona.alice.address
const holders = ['alice', 'bob', 'whale', 'collector', 'spammed', 'nobody'].map((name) => persona[name].address)
const token = new Interface(abi('Token'))
const multicall = new Interface(abi('Multicall3'))

const place = (log) => `${log.blockNumber}:${log.index}`
const isCode = (code, test = () => true) => (error) => error.code === code && test(error)

async function checkChain(chain) {
  const provider = new JsonRpcProvider(chain.rpcUrl)
  const blocks = []
  const logs = []
  const group = (name, check) => tally.group(`ethers, ${chain.title}: ${name}`, check)
  await group('identity', () => checkIdentity(provider, chain))
  await group('blocks and transactions', async () => {
    for await (const read of walk((method, params) => provider.send(method, params), chain.height)) {
      checkHeader(tally, codec, chain, read, blocks.at(-1)?.block)
      await checkBlock(provider, read)
      blocks.push(read)
    }
    tally.same('transactions', blocks.reduce((n, { block }) => n + block.transactions.length, 0), chain.transactions)
  })
  await group('receipts', async () => {
    for (const read of blocks) {
      checkReceipts(tally, codec, read)
      logs.push(...(await checkReceiptsRead(provider, read)))
    }
  })
  await group('logs', () => checkLogs(provider, chain, logs))
  await group('filters', () => checkFilters(provider, chain, logs))
  await group('multicall', () => checkMulticall(provider, chain))
  await group('balances through history', () => checkHistory(provider, chain, logs))
  await group('proofs', () => checkProofs(provider, chain, blocks))
  await group('fees and estimates', () => checkFees(provider, chain))
  await group('errors', () => checkErrors(provider, chain))
  provider.destroy()
  await group('WebSocket', () => checkWebSocket(chain, blocks.at(-1).block))
}

async function checkIdentity(provider, chain) {
  tally.same('chain id', (await provider.getNetwork()).chainId, BigInt(chain.chainId))
  tally.same('height', await provider.getBlockNumber(), chain.height)
  const head = await provider.send('eth_getBlockByNumber', ['latest', false])
  const settled = asynchronous(head) ? Number(head.settledHeight) : chain.height
  for (const [tag, number] of [['latest', chain.height], ['pending', chain.height], ['safe', settled], ['finalized', settled], ['earliest', 0]]) {
    tally.same(tag, (await provider.getBlock(tag)).number, number)
  }
}

async function checkBlock(provider, { block, number }) {
  const [byNumber, byHash] = await Promise.all([provider.getBlock(number, true), provider.getBlock(block.hash, true)])
  tally.same(`block ${number} by hash`, byHash.toJSON(), byNumber.toJSON())
  tally.same(`block ${number} roots`, [byNumber.hash, byNumber.stateRoot, byNumber.receiptsRoot],
    [block.hash, block.stateRoot, block.receiptsRoot])
  const raws = byNumber.prefetchedTransactions.map((tx, i) => written(tx, block.transactions[i]))
  tally.same(`block ${number} transactionsRoot`, rootOf(codec, raws), block.transactionsRoot)
}

// written checks a transaction that ethers read and answers its bytes, written again.
function written(read, { hash, from }) {
  const tx = Transaction.from(read)
  tally.same(`transaction ${hash} hash`, tx.hash, hash)
  tally.same(`transaction ${hash} sender`, tx.from.toLowerCase(), from)
  return tx.serialized
}

// checkReceiptsRead reads receipts one by one and answers their logs.
async function checkReceiptsRead(provider, { block, receipts, number }) {
  const read = await Promise.all(receipts.map((r) => provider.getTransactionReceipt(r.transactionHash)))
  for (const [i, r] of read.entries()) {
    const tx = block.transactions[i]
    const made = tx.to ? null : getCreateAddress({ from: tx.from, nonce: BigInt(tx.nonce) })
    tally.same(`block ${number} receipt ${i}`, [r.gasUsed, r.status, r.index, r.blockHash],
      [BigInt(receipts[i].gasUsed), Number(receipts[i].status), i, block.hash])
    tally.same(`block ${number} receipt ${i} contract`, r.contractAddress, made)
  }
  return read.flatMap((r) => r.logs)
}

async function checkLogs(provider, chain, logs) {
  const whole = { fromBlock: 0, toBlock: 'latest' }
  const sameLogs = async (what, wanted, keep) =>
    tally.same(what, (await provider.getLogs({ ...whole, ...wanted })).map(place), logs.filter(keep).map(place))
  // a receipt's logs do not say whether they were removed, in this library
  const shape = (log) => ({ ...log.toJSON(), removed: false })
  tally.same('all', (await provider.getLogs(whole)).map(shape), logs.map(shape))
  for (const { address, role } of chain.contracts) await sameLogs(role, { address }, (log) => log.address === address)
  const pair = [chain.of('usdx'), chain.of('wrapped')]
  await sameLogs('two addresses', { address: pair }, (log) => pair.includes(log.address))
  const [alices, bobs] = [topicOf(alice), topicOf(persona.bob.address)]
  await sameLogs('a topic', { topics: [Transfer] }, (log) => log.topics[0] === Transfer)
  await sameLogs('nulls before a topic', { topics: [null, null, alices] }, (log) => log.topics[2] === alices)
  await sameLogs('alternatives', { topics: [Transfer, [alices, bobs]] },
    (log) => log.topics[0] === Transfer && [alices, bobs].includes(log.topics[1]))
  await sameLogs('four topics', { topics: [null, null, null, null] }, (log) => log.topics.length === 4)
  const { blockHash } = logs.at(-1)
  tally.same('a block', (await provider.getLogs({ blockHash })).map(place), logs.filter((l) => l.blockHash === blockHash).map(place))
  const usdx = new Contract(chain.of('usdx'), token, provider)
  const events = await usdx.queryFilter(usdx.filters.Transfer(null, alice))
  const own = logs.filter((l) => l.address === usdx.target && l.topics[0] === Transfer && l.topics[2] === alices)
  tally.same('events of a contract', events.map((e) => [place(e), e.args.value]), own.map((l) => [place(l), BigInt(l.data)]))
}

async function checkFilters(provider, chain, logs) {
  const address = chain.of('usdx')
  const about = await provider.send('eth_newFilter', [{ address, topics: [Transfer], fromBlock: '0x0' }])
  const own = logs.filter((log) => log.address === address && log.topics[0] === Transfer)
  const found = await provider.send('eth_getFilterLogs', [about])
  tally.same('logs of a filter', found.map((l) => `${Number(l.blockNumber)}:${Number(l.logIndex)}`), own.map(place))
  tally.same('no new logs', await provider.send('eth_getFilterChanges', [about]), [])
  tally.same('uninstalled', await provider.send('eth_uninstallFilter', [about]), true)
  tally.same('uninstalled once', await provider.send('eth_uninstallFilter', [about]), false)
  await tally.fails('a filter that is gone', provider.send('eth_getFilterChanges', [about]), (e) => /filter not found/.test(e.message))
}

async function checkMulticall(provider, chain) {
  const calls = chain.made('Token', 'WrappedNative', 'Airdrop').flatMap((target) => [
    ...['name', 'symbol', 'decimals', 'totalSupply'].map((name) => [target, token.encodeFunctionData(name)]),
    ...holders.map((holder) => [target, token.encodeFunctionData('balanceOf', [holder])]),
  ])
  const all = calls.map(([target, callData]) => ({ target, allowFailure: true, callData }))
  for (const blockTag of ['latest', Math.floor(chain.height / 2)]) {
    const answer = await provider.call({ to: multicall3, data: multicall.encodeFunctionData('aggregate3', [all]), blockTag })
    const [together] = multicall.decodeFunctionResult('aggregate3', answer)
    const alone = await Promise.all(calls.map(([to, data]) => provider.call({ to, data, blockTag })))
    alone.forEach((one, i) => tally.same(`${calls[i]} at ${blockTag}`, [...together[i]], [true, one]))
  }
  const data = multicall.encodeFunctionData('getBlockNumber')
  for (const blockTag of heights(chain.height, 10)) {
    tally.same(`block.number at ${blockTag}`, BigInt(await provider.call({ to: multicall3, data, blockTag })), BigInt(blockTag))
  }
}

async function checkHistory(provider, chain, logs) {
  let changes = 0
  for (const address of chain.made('Token', 'WrappedNative', 'Airdrop', 'Collection')) {
    for (const holder of holders.slice(0, 3)) {
      const history = balances(logs, address, holder)
      const data = token.encodeFunctionData('balanceOf', [holder])
      changes += history.length - 1
      await Promise.all(moments(history, heights(chain.height, 75)).map(async (blockTag) => {
        const answer = await provider.call({ to: address, data, blockTag })
        const have = answer === '0x' ? 0n : BigInt(answer)
        tally.same(`${address} of ${holder} at ${blockTag}`, have, balanceAt(history, blockTag))
      }))
    }
  }
  tally.ok('balances change', changes > 30)
}

async function checkProofs(provider, chain, blocks) {
  for (const n of heights(chain.height, 4)) {
    for (const address of [chain.of('usdx'), chain.of('wrapped'), multicall3, ...holders]) {
      await checkProof(provider, chain, provenBy(blocks, n), n, address)
    }
  }
}

async function checkProof(provider, chain, header, number, address) {
  if (!header) return // no header has the root yet
  const { stateRoot } = header
  const keys = [0, 1, 2, 3].map((slot) => toBeHex(slot, 32))
  const proof = await provider.send('eth_getProof', [address, keys, toQuantity(number)])
  const at = `${address} at ${Number(number)}`
  const leaf = proven(codec, stateRoot, address, proof.accountProof)
  const account = [quantity(proof.nonce), quantity(proof.balance), proof.storageHash, proof.codeHash]
  if (!leaf) { // coreth's hashes of what is not there are zero
    tally.same(`nothing ${at}`, [await provider.getBalance(address, Number(number)), proof.storageHash, proof.codeHash], [0n, ZeroHash, ZeroHash])
    tally.same(`slots of nothing ${at}`, proof.storageProof.map((slot) => [BigInt(slot.value), slot.proof.length]), keys.map(() => [0n, 0]))
    return
  }
  tally.same(`account ${at}`, codec.decode(leaf), chain.isC ? [...account, '0x'] : account)
  tally.same(`code ${at}`, keccak256(await provider.getCode(address, Number(number))), proof.codeHash)
  for (const [i, slot] of proof.storageProof.entries()) {
    const value = proven(codec, proof.storageHash, keys[i], slot.proof)
    tally.same(`slot ${i} of ${at}`, value ? BigInt(codec.decode(value)) : 0n, BigInt(slot.value))
    tally.same(`eth_getStorageAt ${i} of ${at}`, BigInt(await provider.getStorage(address, i, Number(number))), BigInt(slot.value))
  }
}

async function checkFees(provider, chain) {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = await provider.getFeeData()
  tally.ok('fees', gasPrice > 0n && maxFeePerGas > maxPriorityFeePerGas)
  const history = await provider.send('eth_feeHistory', ['0x5', 'latest', [25, 75]])
  tally.same('fee history', [Number(history.oldestBlock), history.baseFeePerGas.length, history.reward.length],
    [chain.height - 4, asynchronous(await provider.send('eth_getBlockByNumber', ['latest', false])) ? 6 : 5, 5])
  tally.same('a transfer', await provider.estimateGas({ from: alice, to: persona.fresh.address, value: 1n }), 21_000n)
  const usdx = new Contract(chain.of('usdx'), token, provider)
  const gas = await usdx.transfer.estimateGas(persona.bob.address, 1n, { from: alice })
  tally.ok('a token transfer', gas > 21_000n && gas < 100_000n)
  tally.same('a static call', await usdx.transfer.staticCall(persona.bob.address, 1n, { from: alice }), true)
  const call = { from: alice, to: usdx.target, data: token.encodeFunctionData('transfer', [persona.bob.address, 1n]) }
  const { accessList } = await provider.send('eth_createAccessList', [call, 'latest'])
  tally.same('an access list', accessList.map((entry) => entry.address), [usdx.target.toLowerCase()])
}

async function checkErrors(provider, chain) {
  const { withReason, withCustomError, withoutData, withPanic, nestedRevert, burnGas } =
    new Contract(chain.of('reverter'), abi('Reverter'), provider)
  const called = isCode.bind(null, 'CALL_EXCEPTION')
  await tally.fails('a reason', withReason.staticCall('no snow today'), called((e) => e.reason === 'no snow today'))
  await tally.fails('a reason when estimating', withReason.estimateGas('no snow today'), called((e) => e.reason === 'no snow today'))
  await tally.fails('a custom error', withCustomError.staticCall(7, { from: alice }),
    called((e) => e.revert.name === 'Unlucky' && e.revert.args.code === 7n && e.revert.args.who === alice))
  await tally.fails('a nested one', nestedRevert.staticCall(), called((e) => e.revert.name === 'Unlucky'))
  await tally.fails('a panic', withPanic.staticCall(), called((e) => e.revert.name === 'Panic'))
  await tally.fails('a revert without data', withoutData.staticCall(), called())
  await tally.fails('all gas', burnGas.staticCall(), (e) => e.code === 'CALL_EXCEPTION' || /out of gas/.test(e.message))
  const unfinalized = (e) => /cannot query unfinalized data/.test(e.message)
  await tally.fails('a balance to come', provider.getBalance(alice, chain.height + 1000), unfinalized)
  await tally.fails('a block to come', provider.getBlock(chain.height + 1000), unfinalized)
  const unknown = `0x${'ab'.repeat(32)}`
  tally.same('no such block', await provider.getBlock(unknown), null)
  tally.same('no such transaction', await provider.getTransaction(unknown), null)
  tally.same('no such receipt', await provider.getTransactionReceipt(unknown), null)
  await tally.fails('no such method', provider.send('eth_snow', []), (e) => /does not exist/.test(e.message))
  const wallet = HDNodeWallet.fromPhrase(mnemonic).connect(provider)
  await tally.fails('an old nonce', wallet.sendTransaction({ to: persona.bob.address, value: 1n, nonce: 0 }), (e) => e.code === 'NONCE_EXPIRED')
  tally.same('an account of the node', (await provider.getSigner()).address, alice)
  await tally.fails('not an account of the node', provider.getSigner(multicall3), (e) => /invalid account/.test(e.message))
  const withoutNames = isCode('UNSUPPORTED_OPERATION', () => true)
  await tally.fails('a name', provider.resolveName('alice.eth'), withoutNames)
}

async function checkWebSocket(chain, head) {
  const provider = new WebSocketProvider(chain.wsUrl)
  tally.same('head', (await provider.getBlock('latest')).hash, head.hash)
  tally.same('chain id', (await provider.getNetwork()).chainId, BigInt(chain.chainId))
  await provider.on('block', () => {})
  await provider.on({ address: chain.of('usdx') }, () => {})
  tally.same('still answers', await provider.getBlockNumber(), chain.height)
  await provider.removeAllListeners()
  const id = await provider.send('eth_subscribe', ['logs', {}])
  tally.ok('subscription', /^0x[0-9a-f]+$/.test(id))
  tally.same('unsubscribed', await provider.send('eth_unsubscribe', [id]), true)
  await provider.destroy()
}

await tally.group('ethers: accounts', async () => {
  for (const [i, p] of world.personas.slice(0, 10).entries()) {
    const wallet = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(mnemonic), `m/44'/60'/0'/0/${i}`)
    tally.same(p.name, [wallet.address, wallet.privateKey], [p.address, p.privateKey])
    tally.same(`${p.name}'s signature`, verifyMessage(p.name, await wallet.signMessage(p.name)), p.address)
  }
})
for (const chain of world.chains) await checkChain(chain)
tally.end()
