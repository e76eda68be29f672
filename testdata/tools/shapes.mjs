// Compares what every EVM chain of a running Snowglobe answers with the OpenRPC document of Ethereum's execution-apis, as
// @metamask/api-specs has it: each answer has to be of the schema of its method.
import { createRequire } from 'node:module'
import Ajv from 'ajv/dist/2019.js'

import { Tally } from '../clients/tally.mjs'
import { heights, persona, world } from '../clients/world.mjs'

const document = createRequire(import.meta.url)('@metamask/api-specs/dist/build/openrpc.json')
const tally = new Tally()

const { schemas } = document.components

// Two of the schemas contradict themselves: an empty list is of both kinds of a filter's results of which it may be of one only, and what
// is told of a transaction's place forbids the transaction's own fields.
schemas.FilterResults.anyOf = schemas.FilterResults.oneOf
delete schemas.FilterResults.oneOf
delete schemas.TransactionInfo.allOf[0].unevaluatedProperties
schemas.TransactionInfo.unevaluatedProperties = false

// The fields of a header that coreth and subnet-evm have and Ethereum has not.
const headerFields = { blockExtraData: 'bytes', blockGasCost: 'uint', extDataGasUsed: 'uint', extDataHash: 'hash32', minDelayExcess: 'uint', timestampMilliseconds: 'uint', totalDifficulty: 'uint',
  minPriceExponent: 'uint', settledExcess: 'uint', settledGasNumerator: 'uint', settledGasUnix: 'uint', settledHeight: 'uint', targetExponent: 'uint' }
for (const [name, kind] of Object.entries(headerFields)) schemas.Block.properties[name] = { $ref: `#/components/schemas/${kind}` }

const ajv = new Ajv({ strict: false, allErrors: true })
ajv.addSchema({ $id: 'execution-apis', components: document.components })
const absolute = (schema) => JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"execution-apis#/components'))
const valid = new Map(document.methods.filter((method) => method.result?.schema).map((method) => [method.name, ajv.compile(absolute(method.result.schema))]))
const used = new Set()

// on asks a chain and answers what it said, once the schema of the method held.
const on = (chain) => async (method, ...params) => {
  const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  const { result, error } = await answer.json()
  const check = valid.get(method)
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

for (const chain of world.chains) await check(chain)
const rest = [...valid.keys()].filter((name) => !used.has(name) && !name.startsWith('wallet_'))
console.log(`execution-apis: ${used.size} methods; not asked: ${rest.join(', ')}`)
tally.end()
