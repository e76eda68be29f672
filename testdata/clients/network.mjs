// Unmodified clients at their default URLs: nothing here names a simulator. Run it below exec --as-network.
import { spawnSync } from 'node:child_process'

import { avm, Context, info, pvm } from '@avalabs/avalanchejs'
import { Avalanche } from '@avalanche-sdk/chainkit'
import { JsonRpcProvider, WebSocketProvider } from 'ethers'
import { createPublicClient, http, webSocket } from 'viem'
import { avalanche, avalancheFuji } from 'viem/chains'

import { Tally } from './tally.mjs'

const tally = new Tally()
const networks = [
  { name: 'mainnet', id: 1, hrp: 'avax', host: 'api.avax.network', chain: avalanche, chainId: '43114' },
  { name: 'fuji', id: 5, hrp: 'fuji', host: 'api.avax-test.network', chain: avalancheFuji, chainId: '43113' },
]
const call = (method) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} })

// reads what a program prints, and whether it succeeded.
function program(name, ...args) {
  const { status, stdout, stderr, error } = spawnSync(name, args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${name}: ${stderr}`)
  return stdout
}

for (const { name, id, hrp, host, chain, chainId } of networks) {
  const group = (of, run) => tally.group(`${of}, ${name}`, run)
  const url = `https://${host}`
  await group('viem', async () => {
    const client = createPublicClient({ chain, transport: http() })
    tally.same('chain', await client.getChainId(), Number(chainId))
    tally.ok('block', (await client.getBlock()).number > 0n)
    const socket = createPublicClient({ chain, transport: webSocket(`wss://${host}/ext/bc/C/ws`) })
    tally.same('block over WebSocket', await socket.getBlockNumber(), await client.getBlockNumber())
    ;(await socket.transport.getRpcClient()).close()
  })
  await group('ethers', async () => {
    for (const provider of [new JsonRpcProvider(`${url}/ext/bc/C/rpc`), new WebSocketProvider(`wss://${host}/ext/bc/C/ws`)]) {
      tally.same('chain', (await provider.getNetwork()).chainId, BigInt(chainId))
      await provider.destroy()
    }
  })
  await group('avalanchejs', async () => {
    tally.same('network', (await new info.InfoApi(url).getNetworkId()).networkID, String(id))
    tally.ok('P', Number((await new pvm.PVMApi(url).getHeight()).height) > 0)
    tally.same('X', (await new avm.AVMApi(url).getAssetDescription('AVAX')).symbol, 'AVAX')
    tally.same('context', (await Context.getContextFromURI(url)).hrp, hrp)
  })
  await group('chainkit', async () => {
    const sdk = new Avalanche({})
    tally.same('Data API', (await sdk.data.evm.chains.get({ chainId })).chainId, chainId)
    tally.same('Metrics API', String((await sdk.metrics.chains.get({ chainId })).evmChainId), chainId)
    tally.ok('P', (await sdk.data.primaryNetwork.blocks.listLatest({ network: name, blockchainId: 'p-chain', pageSize: 1 })).result.blocks.length === 1)
  })
  await group('fetch', async () => {
    const answer = await fetch(`${url}/ext/info`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: call('info.getNetworkName') })
    tally.same('name', (await answer.json()).result.networkName, name)
  })
  await group('curl', async () => {
    const post = (path, method) => JSON.parse(program('curl', '-sSf', '-H', 'content-type: application/json', '-d', call(method), url + path)).result
    tally.ok('P', Number(post('/ext/bc/P', 'platform.getHeight').height) > 0)
    tally.ok('X', Number(post('/ext/bc/X', 'avm.getHeight').height) > 0)
    tally.ok('index', Number(post('/ext/index/X/block', 'index.getLastAccepted').index) > 0)
    for (const of of ['data-api', 'glacier-api']) tally.same(of, JSON.parse(program('curl', '-sSf', `https://${of}.avax.network/v1/chains/${chainId}`)).chainId, chainId)
  })
  await group("Python's urllib", async () => {
    const text = program('python3', '-c', `from urllib.request import urlopen; print(urlopen('https://metrics.avax.network/v2/chains/${chainId}').read().decode())`)
    tally.same('Metrics API', String(JSON.parse(text).evmChainId), chainId)
  })
}
tally.end()
