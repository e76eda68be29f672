// Compares what every EVM chain of a running Snowglobe answers with the OpenRPC document of Ethereum's execution-apis, as
// @metamask/api-specs has it: each answer has to be of the schema of its method, and each error has to have a code of the catalog.
// EXECUTION_APIS names another document, such as a newer one.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import Ajv from 'ajv/dist/2019.js'
import { Wallet, id } from 'ethers'

import { Tally } from '../clients/tally.mjs'
import { heights, persona, world } from '../clients/world.mjs'

const document = process.env.EXECUTION_APIS ? JSON.parse(readFileSync(process.env.EXECUTION_APIS, 'utf8')) : createRequire(import.meta.url)('@metamask/api-specs/dist/build/openrpc.json')
const tally = new Tally()

const { schemas } = document.components

// Two of the schemas contradict themselves: an empty list is of both kinds of a filter's results of which it may be of one only, and what
// is told of a transaction's place forbids the transaction's own fields.
schemas.FilterResults.anyOf = schemas.FilterResults.oneOf
delete schemas.FilterResults.oneOf
if (schemas.TransactionInfo.allOf) {
  delete schemas.TransactionInfo.allOf[0].unevaluatedProperties
  schemas.TransactionInfo.unevaluatedProperties = false
}
// A transaction of the network's nodes does not have the time of its block.
for (const part of [schemas.TransactionInfo, ...(schemas.TransactionInfo.allOf ?? []), ...(schemas.TransactionInfo.oneOf ?? [])]) part.required = part.required?.filter((name) => name !== 'blockTimestamp') ?? []

// The fields of a header that coreth and subnet-evm have and Ethereum has not.
const headerFields = { blockExtraData: 'bytes', blockGasCost: 'uint', extDataGasUsed: 'uint', extDataHash: 'hash32', minDelayExcess: 'uint', timestampMilliseconds: 'uint', totalDifficulty: 'uint',
  minPriceExponent: 'uint', settledExcess: 'uint', settledGasNumerator: 'uint', settledGasUnix: 'uint', settledHeight: 'uint', targetExponent: 'uint' }
for (const [name, kind] of Object.entries(headerFields)) schemas.Block.properties[name] = { $ref: `#/components/schemas/${kind}` }

// Methods that came after the document of the package: their results, and the schemas that these need.
const ref = (name) => ({ $ref: `#/components/schemas/${name}` })
const closed = (required, properties) => ({ type: 'object', additionalProperties: false, required, properties })
const available = closed(['disabled'], { disabled: { type: 'boolean' }, oldestBlock: ref('uint') })
const addresses = { type: 'object', additionalProperties: ref('address') }
const blobs = { type: 'integer', minimum: 0 }
const fork = closed(['activationTime', 'blobSchedule', 'chainId', 'forkId', 'precompiles', 'systemContracts'], {
  activationTime: { type: 'number' }, chainId: ref('uint'), forkId: { type: 'string', pattern: '^0x[0-9a-f]{8}$' }, precompiles: addresses, systemContracts: addresses,
  blobSchedule: closed(['baseFeeUpdateFraction', 'max', 'target'], { baseFeeUpdateFraction: blobs, max: blobs, target: blobs }),
})
const newer = {
  eth_getStorageValues: { type: 'object', additionalProperties: { type: 'array', items: ref('hash32') } },
  eth_config: closed(['current', 'next', 'last'], { current: fork, next: { oneOf: [fork, { type: 'null' }] }, last: { oneOf: [fork, { type: 'null' }] } }),
  eth_capabilities: closed(['head', 'state', 'tx', 'logs', 'receipts', 'blocks', 'stateproofs'], {
    head: closed(['number', 'hash'], { number: ref('uint'), hash: ref('hash32') }), state: available, tx: available, logs: available, receipts: available, blocks: available, stateproofs: available,
  }),
  eth_baseFee: ref('uint'), eth_maxPriorityFeePerGas: ref('uint'), net_version: { type: 'string', pattern: '^[0-9]+$' }, eth_sign: ref('bytes65'),
  debug_getRawHeader: ref('bytes'), debug_getRawBlock: ref('bytes'), debug_getRawTransaction: ref('bytes'), debug_getRawReceipts: { type: 'array', items: ref('bytes') },
}
for (const [name, schema] of Object.entries(newer)) {
  if (!document.methods.some((method) => method.name === name)) document.methods.push({ name, result: { schema } })
}

// The codes that the catalog of 2026-03-23 has for errors: of JSON-RPC, of execution, of gas and of the pool.
const catalog = (code) => [-32700, -32600, -32601, -32602, -32603].includes(code) || (code >= -32006 && code <= -32000) || (code >= 1 && code <= 4) || (code >= 800 && code <= 809) || (code >= 1000 && code <= 1199)

const ajv = new Ajv({ strict: false, allErrors: true })
ajv.addSchema({ $id: 'execution-apis', components: document.components })
const absolute = (schema) => JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"execution-apis#/components'))
const valid = new Map(document.methods.filter((method) => method.result?.schema).map((method) => [method.name, ajv.compile(absolute(method.result.schema))]))
const used = new Set()

const post = async (chain, body) => (await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()
const call = (chain, method, ...params) => post(chain, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))

// on asks a chain and answers what it said, once the schema of the method held.
const on = (chain) => async (method, ...params) => {
  const { result, error } = await call(chain, method, ...params)
  const check = valid.get(method) ?? (() => true) // of a method that only the other document has
  used.add(method)
  if (error) tally.same(`${method} ${JSON.stringify(params)}`, error, undefined)
  else tally.same(`${method} ${JSON.stringify(params)}`, check(result) ? [] : check.errors.map((wrong) => `${wrong.instancePath} ${wrong.message} ${JSON.stringify(wrong.params)}`), [])
  return result
}

const hex = (n) => `0x${n.toString(16)}`

async function check(chain) {
  const ask = on(chain)
  const unknown = `0x${'11'.repeat(32)}`
  const reverter = chain.of('reverter')
  for (const method of ['eth_blockNumber', 'eth_chainId', 'eth_gasPrice', 'eth_accounts', 'eth_coinbase', 'eth_syncing', 'web3_clientVersion']) await ask(method)
  await tally.group(`execution-apis, ${chain.title}: blocks`, async () => {
    for (const height of heights(chain.height, 150)) {
      const block = await ask('eth_getBlockByNumber', hex(height), true)
      await ask('eth_getBlockByHash', block.hash, false)
      await ask('eth_getBlockTransactionCountByHash', block.hash)
      await ask('eth_getBlockTransactionCountByNumber', hex(height))
      await ask('eth_getUncleCountByBlockNumber', hex(height))
      await ask('eth_getUncleCountByBlockHash', block.hash)
      await ask('eth_getLogs', { blockHash: block.hash })
      await ask('eth_feeHistory', '0x2', hex(height), [10, 90])
      for (const [index, { hash }] of block.transactions.entries()) {
        await ask('eth_getTransactionByHash', hash)
        await ask('eth_getTransactionReceipt', hash)
        await ask('eth_getTransactionByBlockHashAndIndex', block.hash, hex(index))
        await ask('eth_getTransactionByBlockNumberAndIndex', hex(height), hex(index))
      }
    }
    for (const tag of ['latest', 'pending', 'safe', 'finalized', 'earliest']) await ask('eth_getBlockByNumber', tag, true)
  })
  await tally.group(`execution-apis, ${chain.title}: what is not there`, async () => {
    for (const method of ['eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockTransactionCountByHash', 'eth_getUncleCountByBlockHash']) {
      await ask(method, unknown, ...(method === 'eth_getBlockByHash' ? [false] : []))
    }
    await ask('eth_getTransactionByBlockHashAndIndex', unknown, '0x0')
    await ask('eth_getTransactionByBlockNumberAndIndex', 'latest', '0xffff')
  })
  await tally.group(`execution-apis, ${chain.title}: accounts`, async () => {
    for (const address of [...world.personas.map((p) => p.address).filter(Boolean), reverter]) {
      for (const tag of ['latest', 'earliest', 'pending']) {
        await ask('eth_getBalance', address, tag)
        await ask('eth_getTransactionCount', address, tag)
      }
      await ask('eth_getCode', address, 'latest')
      await ask('eth_getStorageAt', address, '0x0', 'latest')
      await ask('eth_getProof', address, ['0x0', `0x${'0'.repeat(63)}1`], 'latest')
    }
  })
  await tally.group(`execution-apis, ${chain.title}: sending and filters`, async () => {
    const filters = [await ask('eth_newBlockFilter'), await ask('eth_newFilter', { address: chain.made('Token') }), await ask('eth_newPendingTransactionFilter')]
    const hash = await ask('eth_sendTransaction', { from: persona.alice.address, to: persona.bob.address, value: '0x1' })
    await ask('eth_getTransactionReceipt', hash)
    for (const filter of filters) await ask('eth_getFilterChanges', filter)
    await ask('eth_getFilterLogs', filters[1])
    for (const filter of filters) await ask('eth_uninstallFilter', filter)
    await ask('eth_call', { from: persona.alice.address, to: persona.bob.address, value: '0x1' }, 'latest')
    await ask('eth_estimateGas', { from: persona.alice.address, to: persona.bob.address, value: '0x1' })
    await ask('personal_sign', '0x736e6f77', persona.alice.address)
    await ask('eth_requestAccounts')
  })
}

async function checkNewer(chain) {
  const ask = on(chain)
  const { hash, transactions } = await ask('eth_getBlockByNumber', hex(Math.floor(chain.height / 2)), false)
  await tally.group(`execution-apis, ${chain.title}: newer methods`, async () => {
    for (const method of ['eth_config', 'eth_capabilities', 'eth_baseFee', 'eth_maxPriorityFeePerGas', 'net_version', 'txpool_status', 'txpool_content', 'debug_getBadBlocks']) await ask(method)
    await ask('txpool_contentFrom', persona.alice.address)
    await ask('eth_getStorageValues', { [chain.of('reverter')]: ['0x0', `0x${'0'.repeat(64)}`], [persona.alice.address]: ['0x1'] }, 'latest')
    await ask('eth_getStorageValues', { [chain.of('reverter')]: ['0x0'] })
    await ask('eth_getBlockReceipts', hash)
    for (const method of ['debug_getRawHeader', 'debug_getRawBlock', 'debug_getRawReceipts']) await ask(method, hash)
    for (const transaction of transactions) {
      await ask('debug_getRawTransaction', transaction)
      await ask('debug_traceTransaction', transaction)
    }
    await ask('debug_traceBlockByHash', hash)
    await ask('debug_traceBlockByNumber', 'latest', { tracer: 'callTracer' })
    await ask('eth_createAccessList', { from: persona.alice.address, to: chain.of('reverter') }, 'latest')
    await ask('eth_sign', persona.alice.address, '0x736e6f77')
    await ask('eth_simulateV1', { blockStateCalls: [{ calls: [{ from: persona.alice.address, to: persona.bob.address, value: '0x1' }, { to: chain.of('reverter') }] }], returnFullTransactions: true, traceTransfers: true }, 'latest')
  })
}

// Errors have the catalog's codes. Where a node of the network has one of its own for what the catalog has several for, it is the node's: -32000.
async function checkErrors(chain) {
  const wallet = new Wallet(persona.alice.privateKey)
  const panic = id('withPanic()').slice(0, 10)
  const { result: nonce } = await call(chain, 'eth_getTransactionCount', persona.alice.address, 'pending')
  const tx = { chainId: chain.chainId, nonce: Number(nonce) + 1, to: persona.bob.address, gasLimit: 21000, maxFeePerGas: 2000000000000n, maxPriorityFeePerGas: 1n, type: 2 }
  const send = async (changes) => ['eth_sendRawTransaction', await wallet.signTransaction({ ...tx, ...changes })]
  const known = await send({ nonce: Number(nonce) })
  await on(chain)(...known)
  await tally.group(`execution-apis, ${chain.title}: codes of errors`, async () => {
    for (const [what, code, answer] of [
      ['no JSON', -32700, post(chain, '{')], ['no call', -32600, post(chain, '{"jsonrpc":"2.0","id":1}')], ['no method', -32601, call(chain, 'eth_snow')],
      ['no parameter', -32602, call(chain, 'eth_getBlockByHash')], ['a wrong parameter', -32602, call(chain, 'eth_getBlockByNumber', 'newest', false)], ['no slots', -32602, call(chain, 'eth_getStorageValues', {})],
      ['a revert', 3, call(chain, 'eth_call', { to: chain.of('reverter'), data: panic }, 'latest')], ['an estimated revert', 3, call(chain, 'eth_estimateGas', { to: chain.of('reverter'), data: panic })],
      ['a nonce too low', undefined, call(chain, ...await send({ nonce: 0 }))], ['too little gas', undefined, call(chain, ...await send({ gasLimit: 20000 }))],
      ['a tip above the fee', undefined, call(chain, 'eth_sendTransaction', { from: persona.alice.address, to: persona.bob.address, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' })], ['no fee', undefined, call(chain, ...await send({ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }))],
      ['too much gas', undefined, call(chain, ...await send({ gasLimit: 400000000, maxFeePerGas: 100000000n, maxPriorityFeePerGas: 0n }))], ['no funds', undefined, call(chain, ...await send({ value: 1n << 120n }))],
      ['another chain', undefined, call(chain, ...await send({ chainId: 1 }))], ['what is known', undefined, call(chain, ...known)], ['no transaction', undefined, call(chain, 'eth_sendRawTransaction', '0x00')],
      ['an unknown account', undefined, call(chain, 'eth_sendTransaction', { from: `0x${'77'.repeat(20)}`, to: persona.bob.address })],
    ]) {
      const { error } = await answer
      tally.ok(`${what}: ${JSON.stringify(error)}`, error && catalog(error.code) && (code === undefined || error.code === code))
    }
  })
}

for (const chain of world.chains) {
  await check(chain)
  await checkNewer(chain)
  await checkErrors(chain)
}
const rest = [...valid.keys()].filter((name) => !used.has(name) && !name.startsWith('wallet_'))
console.log(`execution-apis: ${used.size} methods; not asked: ${rest.join(', ')}`)
tally.end()
