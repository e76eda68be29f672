// Wallets' own code for APIs in Etherscan's shape reads alice's history, which is the one that the Data API has: xchain-avax' provider and Edge's
// adapter. Both ask api.etherscan.io, for which --as-network answers.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import path from 'node:path'

import { AVAXChain, AssetAVAX } from '@xchainjs/xchain-avax'
import { EtherscanProviderV2 } from '@xchainjs/xchain-evm-providers'
import { JsonRpcProvider } from 'ethers'

const url = process.env.SNOWGLOBE_URL
const alice = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

async function list(operation) {
  const all = []
  for (let token = ''; ; ) {
    const page = await (await fetch(`${url}/v1/chains/43114/addresses/${alice}/transactions:${operation}?pageSize=100${token}`)).json()
    all.push(...page.transactions)
    if (!page.nextPageToken) return all
    token = `&pageToken=${page.nextPageToken}`
  }
}

const [natives, internals, tokens] = await Promise.all([list('listNative'), list('listInternals'), list('listErc20')])
const sorted = (rows) => rows.map((row) => row.join(' ').toLowerCase()).sort()

// What xchain shows of the chain's own token: transactions that move some.
const avax = new JsonRpcProvider('https://api.avax.network/ext/bc/C/rpc')
const xchain = new EtherscanProviderV2(avax, 'https://api.etherscan.io/v2', 'any', AVAXChain, AssetAVAX, 18, 43114)
const shown = await xchain.getTransactions({ address: alice, limit: 10_000, offset: 0 })
assert.deepEqual(
  sorted(shown.txs.map((tx) => [tx.hash, tx.from[0].from, tx.to[0].to, tx.to[0].amount.amount().toFixed()])),
  sorted(natives.filter((tx) => tx.value !== '0').map((tx) => [tx.txHash, tx.from.address, tx.to.address, tx.value])),
)
assert.ok(shown.txs.length > 20)
const [balance] = await xchain.getBalance(alice)
const held = await (await fetch(`${url}/v1/chains/43114/addresses/${alice}/balances:getNative`)).json()
assert.equal(balance.amount.amount().toFixed(), held.nativeTokenBalance.balance)
console.log(`xchain-avax: ${shown.txs.length} transactions: ok`)

// Edge's adapter without the rest of its currency plugins: what they take of it is the rate of a fee, which nothing here looks at.
const require = createRequire(import.meta.url)
const Module = require('node:module')
const lib = path.join(process.env.EDGE, 'lib')
const load = Module._load
Module._load = function (request, parent, ...rest) {
  const file = path.relative(lib, request.startsWith('.') ? path.resolve(path.dirname(parent.filename), request) : request)
  if (file === 'ethereum/EthereumNetwork') return { getFeeRateUsed: () => ({}) }
  if (file === 'ethereum/ethereumConsts') return {}
  return load.call(this, request, parent, ...rest)
}
const { EvmScanAdapter } = require(path.join(lib, 'ethereum/networkAdapters/EvmScanAdapter.js'))
const token = tokens[0].erc20Token
const errors = []
const engine = {
  allTokensMap: { token: { currencyCode: token.erc20TokenSymbol, networkLocation: { contractAddress: token.address } } },
  getTokenInfo: () => ({ networkLocation: { contractAddress: token.address } }),
  currencyInfo: { currencyCode: 'AVAX', denominations: [{ name: 'AVAX', multiplier: '1000000000000000000' }], pluginId: 'avalanche' },
  initOptions: { etherscanApiKey: 'any', evmScanApiKey: 'any' },
  networkInfo: { chainParams: { chainId: 43114 } },
  walletLocalData: { publicKey: alice },
  walletId: 'alice',
  engineFetch: fetch,
  log: Object.assign(() => {}, { warn() {}, error() {} }),
  warn() {},
  error: (...args) => errors.push(args),
}
const edge = new EvmScanAdapter(engine, { type: 'evmscan', servers: ['https://api.etherscan.io'] })
const history = async (tokenId) => {
  const { tokenTxs } = await edge.fetchTxs({ startBlock: 0, tokenId })
  assert.deepEqual(errors, [])
  return tokenTxs.get(tokenId).edgeTransactions
}

// Edge shows one transaction for each hash, with the sum of what it moved and, if alice sent it, the fee.
const hash = (rows) => [...new Set(rows.map((row) => row.txHash))]
assert.deepEqual((await history(null)).map((tx) => tx.txid).sort(), hash([...natives, ...internals]).sort())
const moved = new Map()
for (const tx of tokens.filter((tx) => tx.erc20Token.address === token.address)) {
  const sent = tx.from.address === alice // also what she sent to herself
  moved.set(tx.txHash, (moved.get(tx.txHash) ?? 0n) + BigInt(tx.value) * (sent ? -1n : 1n))
}
assert.deepEqual(sorted((await history('token')).map((tx) => [tx.txid, tx.nativeAmount])), sorted([...moved].map(([id, amount]) => [id, amount])))
assert.equal((await edge.fetchTokenBalance(null)).tokenBal.get(null), held.nativeTokenBalance.balance)
const { blocks } = await (await fetch(`${url}/v1/chains/43114/blocks?pageSize=1`)).json()
assert.equal((await edge.fetchBlockheight()).blockHeight, Number(blocks[0].blockNumber))
assert.equal(Number((await edge.fetchNonce()).newNonce), Math.max(...natives.filter((tx) => tx.from.address === alice).map((tx) => Number(tx.nonce))) + 1)
console.log(`edge-currency-accountbased: ${hash([...natives, ...internals]).length} transactions, ${moved.size} of ${token.symbol}: ok`)
process.exit(0) // xchain's connection stays open
