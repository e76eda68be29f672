// Reads every chain of a running Snowglobe with viem and checks what it says against itself.
import {
  createPublicClient, createWalletClient, decodeFunctionResult, encodeFunctionData, erc20Abi, fromRlp, getContractAddress,
  http, keccak256, parseAbiItem, recoverTransactionAddress, serializeTransaction, toEventSelector, toRlp, webSocket, zeroHash,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'

import { asynchronous, checkHeader, checkReceipts, provenBy, walk } from './block.mjs'
import { Tally } from './tally.mjs'
import { balanceAt, balances, moments, topicOf, Transfer } from './token.mjs'
import { proven, quantity, rootOf } from './trie.mjs'
import { abi, heights, mnemonic, multicall3, persona, world } from './world.mjs'

const tally = new Tally()
const codec = { encode: (value) => toRlp(value), decode: (raw) => fromRlp(raw, 'hex'), keccak: (raw) => keccak256(raw) }
const alice = persona.alice.address
const holders = ['alice', 'bob', 'whale', 'collector', 'spammed', 'nobody'].map((name) => persona[name].address)
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
const approval = parseAbiItem('event Approval(address indexed owner, address indexed spender, uint256 value)')

const place = (log) => `${log.blockNumber}:${log.logIndex}`

// network is how viem is told about a chain.
const network = (chain) => ({
  id: Number(chain.chainId), name: chain.name,
  nativeCurrency: { name: chain.networkToken, symbol: chain.networkToken, decimals: 18 },
  rpcUrls: { default: { http: [chain.rpcUrl], webSocket: [chain.wsUrl] } },
  contracts: { multicall3: { address: multicall3 } },
})

async function checkChain(chain) {
  const client = createPublicClient({ chain: network(chain), transport: http(undefined, { batch: true }) })
  const request = (method, params) => client.request({ method, params })
  const blocks = []
  const logs = []
  const group = (name, check) => tally.group(`viem, ${chain.title}: ${name}`, check)
  await group('identity', () => checkIdentity(client, chain))
  await group('blocks and transactions', async () => {
    for await (const read of walk(request, chain.height)) {
      checkHeader(tally, codec, chain, read, blocks.at(-1)?.block)
      await checkBlock(client, read)
      await checkTransactions(client, read)
      blocks.push(read)
    }
    tally.same('transactions', blocks.reduce((n, { block }) => n + block.transactions.length, 0), chain.transactions)
  })
  await group('receipts', async () => {
    for (const read of blocks) {
      checkReceipts(tally, codec, read)
      logs.push(...(await checkReceiptsRead(client, read)))
    }
  })
  await group('logs', () => checkLogs(client, chain, logs))
  await group('filters', () => checkFilters(client, chain, logs))
  await group('multicall', () => checkMulticall(client, chain))
  await group('balances through history', () => checkHistory(client, chain, logs))
  await group('nonces through history', () => checkNonces(client, chain, blocks))
  await group('proofs', () => checkProofs(client, chain, blocks))
  await group('fees and estimates', () => checkFees(client, chain))
  await group('errors', () => checkErrors(client, chain))
  await group('WebSocket', () => checkWebSocket(chain, blocks.at(-1).block))
}

async function checkIdentity(client, chain) {
  tally.same('chain id', await client.getChainId(), Number(chain.chainId))
  tally.same('height', await client.getBlockNumber(), BigInt(chain.height))
  const head = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  const settled = asynchronous(head) ? Number(head.settledHeight) : chain.height
  for (const [blockTag, number] of [['latest', chain.height], ['pending', chain.height], ['safe', settled], ['finalized', settled]]) {
    tally.same(blockTag, (await client.getBlock({ blockTag })).number, BigInt(number))
  }
  tally.same('earliest', (await client.getBlock({ blockTag: 'earliest' })).number, 0n)
}

async function checkBlock(client, { block, number }) {
  const [byNumber, byHash, count] = await Promise.all([
    client.getBlock({ blockNumber: BigInt(number) }), client.getBlock({ blockHash: block.hash }),
    client.getBlockTransactionCount({ blockHash: block.hash }),
  ])
  tally.same(`block ${number} by hash`, byHash, byNumber)
  tally.same(`block ${number} hash`, byNumber.hash, block.hash)
  tally.same(`block ${number} transactions`, byNumber.transactions, block.transactions.map((t) => t.hash))
  tally.same(`block ${number} count`, count, block.transactions.length)
}

async function checkTransactions(client, { block, number }) {
  const raws = await Promise.all(block.transactions.map((t) => checkTransaction(client, t)))
  tally.same(`block ${number} transactionsRoot`, rootOf(codec, raws), block.transactionsRoot)
}

// checkTransaction writes a transaction again from what viem read, and answers its bytes.
async function checkTransaction(client, { hash, blockHash, transactionIndex }) {
  const [tx, byIndex, raw] = await Promise.all([
    client.getTransaction({ hash }), client.getTransaction({ blockHash, index: Number(transactionIndex) }),
    client.request({ method: 'eth_getRawTransactionByHash', params: [hash] }),
  ])
  const { type, chainId, nonce, gas, to, value, input: data, accessList, r, s, v, yParity } = tx
  const prices = type === 'eip1559'
    ? { maxFeePerGas: tx.maxFeePerGas, maxPriorityFeePerGas: tx.maxPriorityFeePerGas } : { gasPrice: tx.gasPrice }
  const written = serializeTransaction({ type, chainId, nonce, gas, to, value, data, accessList, ...prices }, { r, s, v, yParity })
  tally.same(`transaction ${hash} bytes`, written, raw)
  tally.same(`transaction ${hash} hash`, keccak256(written), hash)
  tally.same(`transaction ${hash} sender`, (await recoverTransactionAddress({ serializedTransaction: written })).toLowerCase(), tx.from)
  tally.same(`transaction ${hash} by index`, byIndex, tx)
  return written
}

// checkReceiptsRead reads receipts one by one and answers their logs.
async function checkReceiptsRead(client, { block, receipts, number }) {
  const read = await Promise.all(receipts.map((r) => client.getTransactionReceipt({ hash: r.transactionHash })))
  for (const [i, r] of read.entries()) {
    const tx = block.transactions[i]
    const made = tx.to ? null : getContractAddress({ from: tx.from, nonce: BigInt(tx.nonce) })
    tally.same(`block ${number} receipt ${i} gas`, r.gasUsed, BigInt(receipts[i].gasUsed))
    tally.same(`block ${number} receipt ${i} status`, r.status, receipts[i].status === '0x1' ? 'success' : 'reverted')
    tally.same(`block ${number} receipt ${i} contract`, r.contractAddress?.toLowerCase() ?? null, made?.toLowerCase() ?? null)
  }
  return read.flatMap((r) => r.logs)
}

async function checkLogs(client, chain, logs) {
  const whole = { fromBlock: 0n, toBlock: 'latest' }
  const sameLogs = async (what, wanted, keep) =>
    tally.same(what, (await client.getLogs({ ...whole, ...wanted })).map(place), logs.filter(keep).map(place))
  tally.same('all', await client.getLogs(whole), logs)
  for (const { address, role } of chain.contracts) {
    await sameLogs(role, { address }, (log) => log.address === address.toLowerCase())
  }
  const pair = [chain.of('usdx'), chain.of('wrapped')]
  await sameLogs('two addresses', { address: pair }, (log) => pair.some((a) => a.toLowerCase() === log.address))
  const [about, bobs] = [topicOf(alice), topicOf(persona.bob.address)]
  await sameLogs('a topic', { event: transfer }, (log) => log.topics[0] === Transfer)
  await sameLogs('a null before a topic', { event: transfer, args: { to: alice } },
    (log) => log.topics[0] === Transfer && log.topics[2] === about)
  await sameLogs('alternatives', { event: transfer, args: { from: [alice, persona.bob.address] } },
    (log) => log.topics[0] === Transfer && [about, bobs].includes(log.topics[1]))
  await sameLogs('two events of a token', { address: pair[0], events: [transfer, approval] },
    (log) => log.address === pair[0].toLowerCase() && [Transfer, toEventSelector(approval)].includes(log.topics[0]))
  const { blockHash } = logs.at(-1)
  await sameLogs('a block', { blockHash, fromBlock: undefined, toBlock: undefined }, (log) => log.blockHash === blockHash)
}

async function checkFilters(client, chain, logs) {
  const address = chain.of('usdx')
  const about = await client.createEventFilter({ address, event: transfer, fromBlock: 0n })
  const own = logs.filter((log) => log.address === address.toLowerCase() && log.topics[0] === Transfer)
  tally.same('logs of a filter', (await client.getFilterLogs({ filter: about })).map(place), own.map(place))
  tally.same('no new logs', await client.getFilterChanges({ filter: about }), [])
  const news = await client.createBlockFilter()
  tally.same('no new blocks', await client.getFilterChanges({ filter: news }), [])
  const pending = await client.createPendingTransactionFilter()
  tally.same('no new transactions', await client.getFilterChanges({ filter: pending }), [])
  for (const filter of [about, news, pending]) tally.ok('uninstalled', await client.uninstallFilter({ filter }))
  await tally.fails('a filter that is gone', client.getFilterChanges({ filter: news }), (e) => /filter not found/.test(e.message))
}

async function checkMulticall(client, chain) {
  const contracts = chain.made('Token', 'WrappedNative', 'Airdrop').flatMap((address) => [
    { address, abi: erc20Abi, functionName: 'name' }, { address, abi: erc20Abi, functionName: 'symbol' },
    { address, abi: erc20Abi, functionName: 'decimals' }, { address, abi: erc20Abi, functionName: 'totalSupply' },
    ...holders.map((holder) => ({ address, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })),
  ])
  const single = await Promise.all(contracts.map((c) => client.readContract(c)))
  for (const blockNumber of [undefined, BigInt(Math.floor(chain.height / 2))]) {
    const alone = blockNumber === undefined ? single : await Promise.all(contracts.map(async (c) => {
      const { data } = await client.call({ to: c.address, data: encodeFunctionData(c), blockNumber })
      return data && decodeFunctionResult({ ...c, data })
    }))
    const together = await client.multicall({ contracts, blockNumber })
    contracts.forEach((c, i) => tally.same(`${c.address} ${c.functionName} at ${blockNumber}`, together[i].result, alone[i]))
  }
  // Where a chain lets only some deploy, a call that creates a contract must come from one of them.
  const account = persona.deployer.address
  const deployless = await client.multicall({ contracts, account, deployless: true, allowFailure: false })
  tally.same('multicall without a contract', deployless, single)
  const failing = await client.multicall({
    contracts: [contracts[0], { address: chain.of('reverter'), abi: abi('Reverter'), functionName: 'withReason', args: ['no'] }],
  })
  tally.same('one call of two fails', failing.map((r) => r.status), ['success', 'failure'])
}

async function checkHistory(client, chain, logs) {
  let changes = 0
  for (const address of chain.made('Token', 'Bytes32Token', 'WrappedNative', 'Airdrop', 'Collection')) {
    for (const holder of holders) {
      const history = balances(logs, address, holder)
      changes += history.length - 1
      await Promise.all(moments(history, heights(chain.height, 75)).map(async (n) => {
        const { data } = await client.call({
          to: address, blockNumber: BigInt(n),
          data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] }),
        })
        tally.same(`${address} of ${holder} at ${n}`, BigInt(data ?? 0), balanceAt(history, n))
      }))
    }
  }
  tally.ok('balances change', changes > 50)
}

async function checkNonces(client, chain, blocks) {
  const counts = new Map()
  for (const { block, number } of blocks) {
    for (const { from } of block.transactions) counts.set(from, (counts.get(from) ?? 0) + 1)
    await Promise.all(world.personas.map(async ({ name, address }) => {
      const nonce = await client.getTransactionCount({ address, blockNumber: BigInt(number) })
      const sent = counts.get(address.toLowerCase()) ?? 0
      if (chain.isC) tally.ok(`nonce of ${name} at ${number}`, nonce >= sent) // an export takes a nonce too
      else tally.same(`nonce of ${name} at ${number}`, nonce, sent)
    }))
  }
}

async function checkProofs(client, chain, blocks) {
  const contracts = [chain.of('usdx'), chain.of('wrapped'), chain.of('key-value-store'), multicall3]
  for (const n of heights(chain.height, 4)) {
    for (const address of [...contracts, ...world.personas.map((p) => p.address)]) {
      await checkProof(client, chain, provenBy(blocks, n), n, address)
    }
  }
}

async function checkProof(client, chain, header, number, address) {
  if (!header) return // no header has the root yet
  const { stateRoot } = header
  const blockNumber = BigInt(number)
  const storageKeys = [0, 1, 2, 3].map((slot) => `0x${slot.toString(16).padStart(64, '0')}`)
  const [proof, balance, nonce, code, ...values] = await Promise.all([
    client.getProof({ address, storageKeys, blockNumber }),
    client.getBalance({ address, blockNumber }), client.getTransactionCount({ address, blockNumber }),
    client.getCode({ address, blockNumber }),
    ...storageKeys.map((slot) => client.getStorageAt({ address, slot, blockNumber })),
  ])
  const at = `${address} at ${blockNumber}`
  const leaf = proven(codec, stateRoot, address, proof.accountProof)
  if (!leaf) { // coreth's hashes of what is not there are zero
    tally.same(`nothing ${at}`, [nonce, balance, code, proof.nonce, proof.balance, proof.storageHash, proof.codeHash], [0, 0n, undefined, 0, 0n, zeroHash, zeroHash])
    tally.same(`slots of nothing ${at}`, [...values.map(BigInt), ...proof.storageProof.map((slot) => slot.value), ...proof.storageProof.flatMap((slot) => slot.proof)], Array(8).fill(0n))
    return
  }
  const account = [quantity(proof.nonce), quantity(proof.balance), proof.storageHash, proof.codeHash]
  tally.same(`account ${at}`, codec.decode(leaf), chain.isC ? [...account, '0x'] : account)
  tally.same(`balance and nonce ${at}`, [balance, nonce], [proof.balance, proof.nonce])
  tally.same(`code ${at}`, keccak256(code ?? '0x'), proof.codeHash)
  for (const [i, slot] of proof.storageProof.entries()) {
    const value = proven(codec, proof.storageHash, storageKeys[i], slot.proof)
    tally.same(`slot ${i} of ${at}`, value ? BigInt(codec.decode(value)) : 0n, slot.value)
    tally.same(`eth_getStorageAt ${i} of ${at}`, BigInt(values[i]), slot.value)
  }
}

async function checkFees(client, chain) {
  const history = await client.getFeeHistory({ blockCount: 5, rewardPercentiles: [10, 50, 90] })
  tally.same('fee history', [history.oldestBlock, history.baseFeePerGas.length, history.gasUsedRatio.length, history.reward.length],
    [BigInt(chain.height - 4), asynchronous(await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) ? 6 : 5, 5, 5])
  const head = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  tally.same('base fee of the head', history.baseFeePerGas[4], BigInt(head.baseFeePerGas))
  const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas()
  tally.ok('fees', maxFeePerGas >= maxPriorityFeePerGas && maxPriorityFeePerGas >= 0n)
  tally.ok('gas price', (await client.getGasPrice()) > 0n)
  tally.same('a transfer', await client.estimateGas({ account: alice, to: persona.fresh.address, value: 1n }), 21_000n)
  const call = { address: chain.of('usdx'), abi: abi('Token'), functionName: 'transfer', args: [persona.bob.address, 1n], account: alice }
  const gas = await client.estimateContractGas(call)
  tally.ok('a token transfer', gas > 21_000n && gas < 100_000n)
  tally.same('a simulation', (await client.simulateContract(call)).result, true)
  const { accessList } = await client.createAccessList({ account: alice, to: call.address, data: encodeFunctionData(call) })
  tally.same('an access list', [accessList.length, accessList[0].address], [1, call.address.toLowerCase()])
  const poor = await client.call({
    account: persona.nobody.address, to: alice, value: 5n, stateOverride: [{ address: persona.nobody.address, balance: 10n ** 18n }],
  })
  tally.same('a call with an overridden balance', poor.data, undefined)
}

const revert = (test) => (error) => test(error.walk((e) => e.name === 'ContractFunctionRevertedError') ?? {}, error)

async function checkErrors(client, chain) {
  const unlucky = (functionName, ...args) =>
    client.simulateContract({ address: chain.of('reverter'), abi: abi('Reverter'), functionName, args, account: alice })
  await tally.fails('a reason', unlucky('withReason', 'no snow today'), revert((e) => e.reason === 'no snow today'))
  await tally.fails('a custom error', unlucky('withCustomError', 7n),
    revert(({ data }) => data?.errorName === 'Unlucky' && data.args[0] === 7n && data.args[1] === alice))
  await tally.fails('a nested one', unlucky('nestedRevert'), revert(({ data }) => data?.errorName === 'Unlucky'))
  await tally.fails('a panic', unlucky('withPanic'), revert(({ data }) => data?.errorName === 'Panic' && data.args[0] === 1n))
  await tally.fails('a division by zero', unlucky('divide', 1n, 0n), revert(({ data }) => data?.args?.[0] === 0x12n))
  await tally.fails('a revert without data', unlucky('withoutData'), revert((_, e) => /reverted/.test(e.message)))
  await tally.fails('all gas', unlucky('burnGas'), (e) => /out of gas/.test(e.message))
  await tally.fails('an invalid instruction', unlucky('invalid'), (e) => /invalid opcode/.test(e.message))
  const beyond = BigInt(chain.height + 1000)
  const unfinalized = (e) => /cannot query unfinalized data/.test(e.message)
  await tally.fails('a balance to come', client.getBalance({ address: alice, blockNumber: beyond }), unfinalized)
  await tally.fails('a block to come', client.getBlock({ blockNumber: beyond }), unfinalized)
  const unknown = `0x${'ab'.repeat(32)}`
  await tally.fails('no such block', client.getBlock({ blockHash: unknown }), (e) => e.name === 'BlockNotFoundError')
  await tally.fails('no such transaction', client.getTransaction({ hash: unknown }), (e) => e.name === 'TransactionNotFoundError')
  await tally.fails('no such receipt', client.getTransactionReceipt({ hash: unknown }),
    (e) => e.name === 'TransactionReceiptNotFoundError')
  await tally.fails('no such method', client.request({ method: 'eth_snow' }), (e) => e.name === 'MethodNotFoundRpcError')
  const wallet = createWalletClient({ account: mnemonicToAccount(mnemonic), chain: client.chain, transport: http() })
  await tally.fails('an old nonce', wallet.sendTransaction({ to: persona.bob.address, value: 1n, nonce: 0 }),
    (e) => e.cause.name === 'NonceTooLowError')
  await tally.fails('a name', client.getEnsAddress({ name: 'alice.eth' }), (e) => e.name === 'ChainDoesNotSupportContract')
}

async function checkWebSocket(chain, head) {
  const client = createPublicClient({ chain: network(chain), transport: webSocket(undefined, { retryCount: 0, reconnect: false }) })
  tally.same('chain id', await client.getChainId(), Number(chain.chainId))
  tally.same('head', (await client.getBlock()).hash, head.hash)
  const { subscriptionId, unsubscribe } = await client.transport.subscribe({ params: ['newHeads'], onData() {}, onError() {} })
  tally.ok('subscription', /^0x[0-9a-f]+$/.test(subscriptionId))
  tally.same('unsubscribed', (await unsubscribe()).result, true)
  const errors = []
  const stop = client.watchBlockNumber({ onBlockNumber() {}, onError: (e) => errors.push(e) })
  tally.same('still answers', await client.getBlockNumber(), BigInt(chain.height))
  stop()
  tally.same('errors', errors, [])
  const socket = await client.transport.getRpcClient()
  socket.close()
}

await tally.group('viem: accounts', async () => {
  for (const [addressIndex, p] of world.personas.slice(0, 10).entries()) {
    const account = mnemonicToAccount(mnemonic, { addressIndex })
    tally.same(p.name, account.address, p.address)
    tally.same(`${p.name}'s key`, `0x${Buffer.from(account.getHdKey().privateKey).toString('hex')}`, p.privateKey)
  }
})
for (const chain of world.chains) await checkChain(chain)
tally.end()
