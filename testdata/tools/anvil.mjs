// Makes the same JSON-RPC calls of anvil and of the C-Chain of a running Snowglobe, and compares what they answer. Every difference
// has to be in anvil.txt, under a paragraph that says why it is there, and nothing has to be there that is no difference.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { arch, platform } from 'node:process'
import { encodeDeployData, encodeFunctionData, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

import { abi, artifact, mnemonic, persona, world } from '../clients/world.mjs'

const rich = persona.alice.address
const stranger = '0x00000000000000000000000000000000005709a4'
const token = (functionName, ...args) => encodeFunctionData({ abi: abi('Token'), functionName, args })
const reverter = (functionName, ...args) => encodeFunctionData({ abi: abi('Reverter'), functionName, args })
const hex = (n) => `0x${BigInt(n).toString(16)}`
const ether = hex(10n ** 18n)

// Side is one of the two, and the differences are between what the same script finds at each.
class Side {
  #id = 0
  said = new Map()
  lacks = new Set() // calls of methods that this side does not have
  // The script's own account is a new one at both, so that its nonces and contracts' addresses are the same.
  account = privateKeyToAccount(`0x${'5e1f'.repeat(16)}`)

  constructor(url) {
    this.url = url
  }

  async send(body) {
    const answer = await fetch(this.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return answer.json()
  }

  // call answers the result, and throws what the script cannot go on without.
  async call(method, ...params) {
    const { result, error } = await this.send(JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }))
    if (error) throw new Error(`${this.url}: ${method}: ${error.message}`)
    return result
  }

  // ask notes what a call answers under a name: the kinds of what is in it.
  async ask(name, method, ...params) {
    const { result, error } = await this.send(JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }))
    this.note(name, error ? { error } : result)
    return result
  }

  // exact notes an answer as it is, where it is to be the same.
  async exact(name, method, ...params) {
    const { result, error } = await this.send(JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params }))
    if (error) this.note(name, { error })
    else this.fact(name, JSON.stringify(result))
    return result
  }

  note(name, value) {
    this.said.set(name, new Map(kinds(value)))
  }

  fact(name, text) {
    this.said.set(name, new Map([['', text]]))
  }

  // changes waits until a filter has something: anvil tells its filters of a block a moment after the receipt is there.
  async changes(filter) {
    for (const end = Date.now() + 5000; ; await new Promise((resolve) => setTimeout(resolve, 5))) {
      const all = await this.call('eth_getFilterChanges', filter)
      if (all.length > 0 || Date.now() > end) return all
    }
  }

  // mined waits for a receipt: anvil makes a block a moment after it answered what was sent.
  async mined(hash) {
    for (;;) {
      const receipt = await this.call('eth_getTransactionReceipt', hash)
      if (receipt) return receipt
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  async sign(fields) {
    return this.account.signTransaction({ chainId: Number(await this.call('eth_chainId')), gas: 21000n, to: rich, type: 'eip1559', maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n, ...fields })
  }

  nonce = async () => Number(await this.call('eth_getTransactionCount', this.account.address, 'latest'))
}

// kinds are the paths into a value with what kind of value is at each. An error is told as it is, but for what differs from one chain
// or one run to another.
function* kinds(value, path = '') {
  if (path === '.error') {
    yield [path, `${value.code} ${value.message}`.replace(/0x[0-9a-f]{64}/g, 'WORD').replace(/0x[0-9a-fA-F]{40}/g, 'ADDRESS').replace(/[0-9a-f]{128,}/g, 'WORDS').replace(/\d{8,}/g, 'NUMBER')]
    if (value.data !== undefined) yield ['.error.data', value.data.replace(/(?<=^0x.{9})[0-9a-f]+$/, 'WORDS')]
  } else if (Array.isArray(value)) {
    if (value.length === 0) yield [path, '[]']
    else yield* kinds(value[0], `${path}[]`)
  } else if (value !== null && typeof value === 'object') {
    if (Object.keys(value).length === 0) yield [path, '{}']
    for (const key of Object.keys(value).sort()) yield* kinds(value[key], `${path}.${/^0x/.test(key) ? 'address' : /^\d+$/.test(key) ? 'nonce' : key}`)
  } else yield [path, /\.[rs]$/.test(path) ? 'quantity' : kind(value)]
}

function kind(value) {
  if (typeof value !== 'string') return value === null || typeof value === 'boolean' ? String(value) : typeof value
  if (/^0x([1-9a-f][0-9a-f]{0,38}|0)$/.test(value)) return 'quantity'
  if (/^0x[0-9a-f]{40}$/.test(value)) return 'address'
  if (/^0x[0-9a-f]{64}$/.test(value)) return 'word'
  return /^0x[0-9a-f]*$/.test(value) ? 'bytes' : 'text'
}

// whole tells an answer in one word where the other side's is of another sort.
const whole = (facts) => facts.get('.error') ?? (facts.size > 1 || !facts.has('') ? 'an answer' : facts.get(''))

// differences are the lines that tell what one side says and the other does not.
function* differences(name, theirs, ours) {
  const sorts = [theirs, ours].map((facts) => (facts.has('.error') ? 'error' : facts.has('') ? 'value' : 'object'))
  if (sorts[0] !== sorts[1]) return yield `${name} | ${whole(theirs)} | ${whole(ours)}`
  for (const path of new Set([...theirs.keys(), ...ours.keys()])) {
    const [anvil, snowglobe] = [theirs, ours].map((facts) => facts.get(path) ?? 'nothing')
    if (anvil !== snowglobe) yield `${path ? `${name} ${path}` : name} | ${anvil} | ${snowglobe}`
  }
}

async function script(side) {
  const { account } = side
  const me = account.address

  await side.ask('who it is', 'web3_clientVersion')
  for (const method of ['eth_chainId', 'net_version', 'eth_accounts', 'eth_gasPrice', 'eth_maxPriorityFeePerGas', 'eth_blobBaseFee',
    'eth_coinbase', 'eth_mining', 'eth_hashrate', 'eth_syncing', 'net_listening', 'net_peerCount', 'eth_protocolVersion', 'rpc_modules']) {
    await side.ask(method, method)
  }
  await side.ask('no such method', 'eth_nothing')
  await side.ask('no parameters', 'eth_getBalance')
  await side.ask('an address that is none', 'eth_getBalance', '0x12', 'latest')
  await side.ask('a block to come', 'eth_getBlockByNumber', '0xffffff', false)
  await side.ask('a balance in a block to come', 'eth_getBalance', me, '0xffffff')
  await side.ask('an unknown transaction', 'eth_getTransactionByHash', `0x${'11'.repeat(32)}`)
  await side.ask('an unknown receipt', 'eth_getTransactionReceipt', `0x${'11'.repeat(32)}`)
  await side.ask('an unknown filter', 'eth_getFilterChanges', '0x1234')
  await side.ask('proof', 'eth_getProof', rich, [`0x${'0'.repeat(64)}`], 'latest')

  // Sending.
  await side.mined(await side.ask('send from an unlocked account', 'eth_sendTransaction', { from: rich, to: me, value: hex(10n ** 20n) }))
  await side.exact('what was sent', 'eth_getBalance', me, 'latest')
  await side.ask('send from a stranger', 'eth_sendTransaction', { from: stranger, to: me, value: '0x1' })
  const deploy = encodeDeployData({ abi: abi('Token'), bytecode: artifact('Token').bytecode, args: ['Snow', 'SNW', 18, 10n ** 24n, me] })
  const deployed = await side.ask('deploy', 'eth_sendRawTransaction', await side.sign({ nonce: 0, to: null, data: deploy, gas: 3_000_000n }))
  await side.mined(deployed)
  const at = await side.ask('receipt of a contract', 'eth_getTransactionReceipt', deployed)
  await side.exact('where the contract is', 'eth_getTransactionCount', me, 'latest')
  const target = await side.call('eth_sendRawTransaction', await side.sign({ nonce: 1, to: null, data: artifact('Reverter').bytecode, gas: 3_000_000n }))
  const { contractAddress: bad } = await side.mined(target)
  const snow = at.contractAddress
  side.fact('addresses of contracts', `${snow} ${bad}`)
  const sent = await side.ask('transfer', 'eth_sendRawTransaction', await side.sign({ nonce: 2, to: snow, data: token('transfer', stranger, 5n), gas: 100_000n }))
  await side.mined(sent)
  const receipt = await side.ask('receipt', 'eth_getTransactionReceipt', sent)
  side.fact('gas of a transfer', receipt.gasUsed)
  await side.ask('transaction', 'eth_getTransactionByHash', sent)
  await side.ask('block', 'eth_getBlockByNumber', 'latest', false)
  await side.ask('block with transactions', 'eth_getBlockByHash', receipt.blockHash, true)
  await side.ask('pending block', 'eth_getBlockByNumber', 'pending', false)
  await side.ask('receipts of a block', 'eth_getBlockReceipts', receipt.blockNumber)
  await side.ask('logs', 'eth_getLogs', { fromBlock: receipt.blockNumber, address: snow })
  await side.ask('logs of a block', 'eth_getLogs', { blockHash: receipt.blockHash })
  await side.ask('logs from a block to an earlier one', 'eth_getLogs', { fromBlock: receipt.blockNumber, toBlock: '0x0' })
  await side.exact('topics', 'eth_getLogs', { blockHash: receipt.blockHash }).then((logs) => side.fact('topics', JSON.stringify(logs[0].topics)))
  await side.exact('call', 'eth_call', { to: snow, data: token('balanceOf', stranger) }, 'latest')
  await side.exact('call a block before', 'eth_call', { to: snow, data: token('balanceOf', stranger) }, hex(BigInt(receipt.blockNumber) - 1n))
  await side.exact('call with another state', 'eth_call', { to: stranger, data: token('decimals') }, 'latest', { [stranger]: { code: await side.call('eth_getCode', snow, 'latest') } })
  await side.exact('code', 'eth_getCode', snow, 'latest')
  await side.exact('no code', 'eth_getCode', stranger, 'latest')
  await side.exact('storage', 'eth_getStorageAt', snow, '0x2', 'latest')
  await side.exact('estimate', 'eth_estimateGas', { from: rich, to: stranger, value: '0x1' })
  await side.ask('access list', 'eth_createAccessList', { from: rich, to: snow, data: token('approve', stranger, 5n) }, 'latest')
  await side.ask('fee history', 'eth_feeHistory', '0x2', 'latest', [50])
  await side.ask('trace of calls', 'debug_traceTransaction', sent, { tracer: 'callTracer' })
  await side.ask('trace of a state', 'debug_traceTransaction', sent, { tracer: 'prestateTracer' })
  for (const method of ['trace_transaction', 'ots_getTransactionError']) await side.ask(method, method, sent)
  await side.ask('trace_block', 'trace_block', receipt.blockNumber)
  await side.ask('ots_getApiLevel', 'ots_getApiLevel')
  await side.ask('simulate', 'eth_simulateV1', { blockStateCalls: [{ calls: [{ from: rich, to: stranger, value: '0x1' }] }] }, 'latest')

  // Reverts.
  for (const [name, data] of [['a reason', reverter('withReason', 'no snow')], ['a custom error', reverter('withCustomError', 7n)], ['no data', reverter('withoutData')],
    ['a panic', reverter('withPanic')], ['a division by zero', reverter('divide', 1n, 0n)], ['an invalid instruction', reverter('invalid')]]) {
    await side.ask(`call that fails with ${name}`, 'eth_call', { from: rich, to: bad, data, gas: hex(100_000) }, 'latest')
    await side.ask(`estimate that fails with ${name}`, 'eth_estimateGas', { from: rich, to: bad, data })
  }
  const unestimated = await side.ask('send what reverts without gas limit', 'eth_sendTransaction', { from: rich, to: bad, data: reverter('withReason', 'no snow') })
  if (unestimated) await side.mined(unestimated)
  const failed = await side.ask('send what reverts with one', 'eth_sendRawTransaction', await side.sign({ nonce: 3, to: bad, data: reverter('withReason', 'no snow'), gas: 100_000n }))
  await side.mined(failed)
  await side.ask('receipt of what reverted', 'eth_getTransactionReceipt', failed)

  // Refusals.
  const refused = async (name, fields) => side.ask(`refused: ${name}`, 'eth_sendRawTransaction', await side.sign({ nonce: await side.nonce(), ...fields }))
  await refused('an old nonce', { nonce: 0 })
  await refused('too much value', { value: 10n ** 30n })
  await refused('too little gas', { gas: 20_000n })
  await refused('a gas limit above that of the block', { gas: 1_000_000_000n, maxFeePerGas: 10n ** 10n })
  await refused('a tip above the fee cap', { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 10n }).catch((error) => side.note('refused: a tip above the fee cap', error.name))
  await refused('another chain', { chainId: 12345 })
  await side.ask('refused: bytes that are no transaction', 'eth_sendRawTransaction', '0x1234')
  await side.ask('refused: no bytes', 'eth_sendRawTransaction', '0x')
  await side.ask('refused: what is in a block', 'eth_sendRawTransaction', await side.sign({ nonce: 2, to: snow, data: token('transfer', stranger, 5n), gas: 100_000n }))

  // The pool.
  await side.ask('stop mining', 'evm_setAutomine', false)
  await side.ask('is it mining', 'anvil_getAutomine')
  const nonce = await side.nonce()
  const waiting = await side.call('eth_sendRawTransaction', await side.sign({ nonce }))
  await side.ask('a transaction that waits', 'eth_getTransactionByHash', waiting)
  await side.ask('receipt of one that waits', 'eth_getTransactionReceipt', waiting)
  await refused('known', { nonce })
  await refused('a cheap replacement', { nonce, value: 1n, maxPriorityFeePerGas: 10n ** 9n + 1n })
  await side.ask('a gap', 'eth_sendRawTransaction', await side.sign({ nonce: nonce + 2 }))
  await side.exact('state of the pool', 'txpool_status')
  await side.ask('content of the pool', 'txpool_content')
  await side.exact('pending nonce', 'eth_getTransactionCount', me, 'pending')
  await side.exact('nonce', 'eth_getTransactionCount', me, 'latest')
  await side.ask('drop', 'anvil_dropTransaction', waiting)
  await side.ask('drop what is not there', 'anvil_dropTransaction', waiting)
  await side.ask('drop all', 'anvil_dropAllTransactions')
  await side.exact('an empty pool', 'txpool_status')

  // Mining.
  const height = async (name, want) => side.fact(name, String(Number(await side.call('eth_blockNumber')) - want))
  let before = Number(await side.call('eth_blockNumber'))
  await side.ask('evm_mine', 'evm_mine')
  await side.ask('anvil_mine', 'anvil_mine', '0x3', '0x3c')
  await side.ask('hardhat_mine', 'hardhat_mine', '0x2')
  await height('blocks mined', before)
  const time = async (tag = 'latest') => Number((await side.call('eth_getBlockByNumber', tag, false)).timestamp)
  const then = await time()
  await side.ask('next time', 'evm_setNextBlockTimestamp', then + 1000)
  await side.ask('next fee', 'anvil_setNextBlockBaseFeePerGas', hex(10n ** 9n))
  await side.call('evm_mine')
  const asked = await side.call('eth_getBlockByNumber', 'latest', false)
  side.fact('time and fee of the next block', `${Number(asked.timestamp) - then} ${asked.baseFeePerGas}`)
  await side.ask('a time that has passed', 'evm_setNextBlockTimestamp', then)
  await side.ask('later', 'evm_increaseTime', 60)
  await side.ask('next coinbase', 'anvil_setCoinbase', stranger)
  await side.ask('next gas limit', 'evm_setBlockGasLimit', hex(9_000_000))
  await side.ask('by interval', 'anvil_setIntervalMining', 1)
  await side.ask('interval', 'anvil_getIntervalMining')
  await side.ask('by no interval', 'evm_setIntervalMining', 0)
  await side.ask('mine again', 'evm_setAutomine', true)
  await side.ask('snapshot', 'evm_snapshot')
  await side.ask('back to a snapshot that is none', 'evm_revert', '0x1234')

  // Filters.
  const blocks = await side.ask('block filter', 'eth_newBlockFilter')
  const events = await side.ask('log filter', 'eth_newFilter', { address: snow })
  const hashes = await side.ask('pending filter', 'eth_newPendingTransactionFilter')
  const last = await side.call('eth_sendRawTransaction', await side.sign({ nonce, to: snow, data: token('transfer', stranger, 5n), gas: 100_000n }))
  await side.mined(last)
  side.note('blocks of a filter', await side.changes(blocks))
  side.note('logs of a filter', await side.changes(events))
  side.fact('hashes of a filter', String((await side.changes(hashes))[0] === last))
  await side.ask('all logs of a filter', 'eth_getFilterLogs', events)
  await side.ask('uninstall', 'eth_uninstallFilter', blocks)
  await side.ask('uninstall again', 'eth_uninstallFilter', blocks)

  // Signatures.
  await side.ask('sign', 'eth_sign', rich, '0x736e6f77')
  await side.exact('sign a message', 'personal_sign', '0x736e6f77', rich)
  await side.ask('sign as a stranger', 'eth_sign', stranger, '0x736e6f77')
  await side.exact('sign data', 'eth_signTypedData_v4', rich, { types: { EIP712Domain: [{ name: 'name', type: 'string' }], Snow: [{ name: 'flakes', type: 'uint256' }] }, primaryType: 'Snow', domain: { name: 'globe' }, message: { flakes: 7 } })

  // The state.
  await side.ask('balance', 'anvil_setBalance', stranger, ether)
  await side.exact('a balance that was set', 'eth_getBalance', stranger, 'latest')
  await side.ask('more balance', 'anvil_addBalance', stranger, ether)
  await side.exact('a balance that was added to', 'eth_getBalance', stranger, 'latest')
  await side.ask('tokens', 'anvil_dealERC20', stranger, snow, hex(77))
  await side.exact('tokens that were dealt', 'eth_call', { to: snow, data: token('balanceOf', stranger) }, 'latest')
  await side.ask('nonce to come', 'anvil_setNonce', stranger, hex(9))
  await side.exact('a nonce that was set', 'eth_getTransactionCount', stranger, 'latest')
  await side.ask('code to come', 'anvil_setCode', '0x00000000000000000000000000000000000c0de0', '0x602a60005260206000f3')
  await side.exact('code that was set', 'eth_call', { to: '0x00000000000000000000000000000000000c0de0' }, 'latest')
  await side.ask('storage to come', 'anvil_setStorageAt', snow, '0x1234', `0x${'0'.repeat(63)}7`)
  await side.exact('storage that was set', 'eth_getStorageAt', snow, '0x1234', 'latest')
  await side.ask('a balance that is none', 'anvil_setBalance', stranger, 'snow')
  await side.ask('impersonate', 'anvil_impersonateAccount', stranger)
  await side.mined(await side.ask('send as the stranger', 'eth_sendTransaction', { from: stranger, to: me, value: '0x5' }))
  await side.exact('nonce of the stranger', 'eth_getTransactionCount', stranger, 'latest')
  await side.ask('stop impersonating', 'anvil_stopImpersonatingAccount', stranger)
  await side.ask('send as the stranger afterwards', 'eth_sendTransaction', { from: stranger, to: me, value: '0x5' })
  await side.ask('anvil_nodeInfo', 'anvil_nodeInfo')
  await side.ask('anvil_metadata', 'anvil_metadata')

  // What is no call.
  side.note('no JSON', await side.send('{'))
  side.note('an empty batch', await side.send('[]'))
  side.note('a batch', await side.send('[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_nothing"}]'))
}

// rest calls the methods of the table in anvil.txt that script leaves out. Those that this anvil does not have yet are not compared, but have to be here.
async function rest(side) {
  const me = side.account.address
  const ask = async (name, ...params) => {
    const { result, error } = await side.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: name.split(' ')[0], params }))
    if (error?.code === -32601) side.lacks.add(name)
    side.note(name, error ? { error } : result)
    return result
  }
  const deploy = encodeDeployData({ abi: abi('Token'), bytecode: artifact('Token').bytecode, args: ['Sleet', 'SLT', 18, 10n ** 24n, me] })
  const { contractAddress: sleet } = await side.mined(await side.call('eth_sendRawTransaction', await side.sign({ nonce: await side.nonce(), to: null, data: deploy, gas: 3_000_000n })))
  const sent = await side.call('eth_sendRawTransaction', await side.sign({ nonce: await side.nonce(), to: sleet, data: token('transfer', stranger, 5n), gas: 100_000n }))
  const { blockHash: hash, blockNumber: number } = await side.mined(sent)
  const pays = { from: rich, to: stranger, value: '0x1' }
  const reads = { from: rich, to: sleet, data: token('balanceOf', stranger) }
  const slot = `0x${'0'.repeat(64)}`

  // Blocks and transactions.
  for (const method of ['eth_baseFee', 'eth_networkId', 'eth_requestAccounts', 'eth_pendingTransactions', 'eth_config', 'txpool_inspect']) await ask(method)
  await ask('web3_sha3', '0x736e6f77')
  for (const method of ['eth_getHeaderByNumber', 'erigon_getHeaderByNumber', 'eth_getBlockTransactionCountByNumber', 'eth_getUncleCountByBlockNumber',
    'debug_getRawHeader', 'debug_getRawBlock', 'debug_getRawReceipts', 'debug_getRawTransactions', 'ots_getBlockDetails']) await ask(method, number)
  for (const method of ['eth_getHeaderByHash', 'eth_getBlockTransactionCountByHash', 'eth_getUncleCountByBlockHash', 'ots_getBlockDetailsByHash']) await ask(method, hash)
  for (const kind of ['eth_getTransactionByBlock', 'eth_getRawTransactionByBlock', 'eth_getUncleByBlock']) {
    await ask(`${kind}NumberAndIndex`, number, '0x0')
    await ask(`${kind}HashAndIndex`, hash, '0x0')
  }
  for (const method of ['eth_getRawTransactionByHash', 'debug_getRawTransaction']) await ask(method, sent)
  await ask('eth_getTransactionBySenderAndNonce', me, hex((await side.nonce()) - 1))
  await ask('ots_getTransactionBySenderAndNonce', me, (await side.nonce()) - 1)
  await ask('txpool_contentFrom', me)

  // The state.
  await ask('eth_getAccount', me, 'latest')
  await ask('eth_getAccountInfo', sleet, 'latest')
  await ask('eth_getStorageValues', { [sleet]: [slot] }, 'latest')
  await ask('debug_codeByHash', keccak256(await side.call('eth_getCode', sleet, 'latest')), 'latest')
  await ask('debug_accountInfoAt', number, 0, me)
  await ask('debug_getModifiedAccountsByNumber', Number(number), Number(number))
  await ask('debug_executionWitness', number)
  await ask('ots_hasCode', sleet, 'latest')
  await ask('ots_getContractCreator', sleet)

  // Calls and traces.
  await ask('eth_callMany', [{ transactions: [reads, pays] }], { blockNumber: 'latest' })
  await ask('eth_callBundle', { txs: [await side.sign({ nonce: await side.nonce() })], blockNumber: hex(BigInt(number) + 1n), stateBlockNumber: 'latest' })
  await ask('debug_traceCall', reads, 'latest', { tracer: 'callTracer' })
  await ask('debug_traceBlock', (await ask('debug_getRawBlock again', number)) ?? '0x', { tracer: 'callTracer' })
  await ask('debug_traceBlockByHash', hash, { tracer: 'callTracer' })
  await ask('debug_traceBlockByNumber', number, { tracer: 'callTracer' })
  await ask('trace_call', reads, ['trace'], 'latest')
  await ask('trace_callMany', [[reads, ['trace']], [pays, ['stateDiff']]], 'latest')
  await ask('trace_rawTransaction', await side.sign({ nonce: await side.nonce() }), ['trace'])
  await ask('trace_replayTransaction', sent, ['trace', 'stateDiff', 'vmTrace'])
  await ask('trace_replayBlockTransactions', number, ['trace'])
  await ask('trace_transactionOpcodeGas', sent)
  await ask('trace_blockOpcodeGas', number)
  await ask('trace_get', sent, ['0x0'])
  await ask('trace_filter', { fromBlock: number, toBlock: number, count: 1 })
  await ask('ots_getInternalOperations', sent)
  await ask('ots_traceTransaction', sent)
  await ask('ots_getBlockTransactions', Number(number), 0, 5)
  await ask('ots_searchTransactionsBefore', me, 0, 3)
  await ask('ots_searchTransactionsAfter', me, 0, 3)

  // Sending and signing.
  await ask('eth_fillTransaction', pays)
  await ask('eth_signTransaction', { ...pays, gas: '0x5208', nonce: await side.call('eth_getTransactionCount', rich, 'latest'), maxFeePerGas: hex(10n ** 11n), maxPriorityFeePerGas: '0x1' })
  const typed = { types: { EIP712Domain: [{ name: 'name', type: 'string' }], Snow: [{ name: 'flakes', type: 'uint256' }] }, primaryType: 'Snow', domain: { name: 'globe' }, message: { flakes: 7 } }
  for (const method of ['eth_signTypedData', 'eth_signTypedData_v3']) await ask(method, rich, typed)
  await ask('eth_sendRawTransactionSync', await side.sign({ nonce: await side.nonce() }))
  await ask('eth_sendTransactionSync', pays)
  await ask('eth_sendRawTransactionConditional', await side.sign({ nonce: await side.nonce() }), { blockNumberMin: '0x0' })
  await ask('eth_sendUnsignedTransaction', { ...pays, from: '0x00000000000000000000000000000000000a11ce', value: '0x0' })
  await ask('eth_resend', pays, '0x1', '0x5208')
  await side.call('evm_setAutomine', true)

  // What a client sets.
  for (const account of ['anvil', 'hardhat']) {
    await ask(`${account}_autoImpersonateAccount`, true)
    await ask(`${account}_autoImpersonateAccount off`, false)
    await ask(`${account}_setLoggingEnabled`, false)
    await ask(`${account}_setNextBlockBaseFeePerGas again`, hex(10n ** 10n))
    await ask(`${account}_dropAllTransactions again`)
    await ask(`${account}_getAutomine again`)
    await ask(`${account}_impersonateAccount again`, stranger)
    await ask(`${account}_stopImpersonatingAccount again`, stranger)
    await ask(`${account}_setBalance again`, stranger, ether)
    await ask(`${account}_addBalance again`, stranger, ether)
    await ask(`${account}_setNonce again`, stranger, hex(100))
    await ask(`${account}_setCode again`, '0x00000000000000000000000000000000000c0de1', '0x00')
    await ask(`${account}_setStorageAt again`, sleet, '0x1234', `0x${'0'.repeat(63)}8`)
    await ask(`${account}_setCoinbase again`, stranger)
    await ask(`${account}_dealERC20 again`, stranger, sleet, hex(78))
    await ask(`${account}_metadata again`)
    await ask(`${account}_dumpState`)
  }
  await ask('hardhat_dropTransaction', sent)
  await ask('tenderly_setBalance', stranger, ether)
  await ask('tenderly_addBalance', stranger, ether)
  await ask('evm_setAccountNonce', stranger, hex(101))
  await ask('anvil_setERC20Balance', stranger, sleet, hex(79))
  await ask('anvil_setERC20Allowance', stranger, me, sleet, hex(80))
  await side.exact('an allowance that was set', 'eth_call', { to: sleet, data: token('allowance', stranger, me) }, 'latest')
  await ask('anvil_impersonateSignature', `0x${'11'.repeat(64)}1b`, stranger)
  await ask('anvil_setAutomine', true)
  await ask('anvil_setBlockGasLimit', hex(9_000_000))
  await ask('anvil_removePoolTransactions', me)
  await ask('debug_clearTxpool')
  await ask('anvil_setChainId', await side.call('eth_chainId'))
  await ask('anvil_setBlockTimestampInterval', 12)
  await ask('anvil_removeBlockTimestampInterval')
  await ask('anvil_removeBlockTimestampInterval again')
  for (const method of ['evm_mine_detailed', 'anvil_mine_detailed', 'anvil_getGenesisTime', 'anvil_getLastBlockWallTime']) await ask(method)

  // Time, and the way back.
  const { timestamp } = await side.call('eth_getBlockByNumber', 'latest', false)
  await ask('anvil_setNextBlockTimestamp', Number(timestamp) + 5000)
  await ask('anvil_mine again')
  await ask('anvil_increaseTime', 60)
  await ask('anvil_setTime', Number(timestamp) + 9000)
  await ask('evm_setTime', Number(timestamp) + 10_000)
  const snapshot = await ask('anvil_snapshot')
  await side.call('anvil_mine', '0x5')
  await ask('anvil_reorg', 2, [])
  await ask('anvil_rollback', 1)
  await ask('anvil_loadState', await side.call('anvil_dumpState'))
  await ask('anvil_revert', snapshot)
  await ask('hardhat_loadState', await side.call('anvil_dumpState'))
  await ask('hardhat_reset')
  await ask('anvil_reset')
}

// anvil starts the program that npm has for this machine and answers where it is, and how to end it.
async function anvil() {
  const name = `@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}`
  const folder = createRequire(import.meta.url).resolve(`${name}/package.json`).replace('package.json', 'bin/anvil')
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
  const process = spawn(folder, ['--silent', '--port', String(port), '--mnemonic', mnemonic], { stdio: 'inherit' })
  const side = new Side(`http://127.0.0.1:${port}`)
  for (let i = 0; ; i++) {
    try {
      await side.call('eth_chainId')
      return { side, process }
    } catch (error) {
      if (i === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

// told are the differences that anvil.txt explains: its indented lines, each under the paragraph that says why.
function told() {
  const lines = readFileSync(new URL('anvil.txt', import.meta.url), 'utf8').split('# Differences\n')[1].split('\n')
  const differences = new Set()
  let why = ''
  for (const line of lines) {
    if (!line.startsWith('    ')) why = line
    else if (why === '') throw new Error(`anvil.txt: no reason is given for: ${line.trim()}`)
    else differences.add(line.trim())
  }
  return differences
}

const { side: theirs, process: program } = await anvil()
const ours = new Side(world.chains.find((chain) => chain.isC).rpcUrl)
try {
  for (const side of [theirs, ours]) {
    await script(side)
    await rest(side)
  }
} finally {
  program.kill()
}
const found = new Set()
let facts = 0
for (const [name, answer] of theirs.said) {
  if (theirs.lacks.has(name) && !ours.lacks.has(name)) continue
  facts += answer.size
  for (const line of differences(name, answer, ours.said.get(name))) found.add(line)
}
// A line that begins with * is about the end of a path, whatever was called.
const explained = [...told()].map((line) => ({ line, is: line.startsWith('* ') ? (other) => other.split(' | ')[0].endsWith(line.slice(2).split(' | ')[0]) && other.endsWith(line.slice(line.indexOf(' | '))) : (other) => other === line }))
const surprises = [...found].filter((line) => !explained.some(({ is }) => is(line)))
const gone = explained.filter(({ is }) => ![...found].some(is)).map(({ line }) => line)
for (const line of surprises) console.log(`not explained: ${line}`)
for (const line of gone) console.log(`no difference any more: ${line}`)
console.log(`anvil: ${theirs.said.size} answers of ${facts} facts, ${found.size} differences, ${surprises.length} of them without a reason`)
process.exit(surprises.length + gone.length === 0 ? 0 : 1)
