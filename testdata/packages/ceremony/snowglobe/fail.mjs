import { start } from 'snowglobe'
await using world = await start()
await world.fault({ match: { rpcMethod: 'eth_chainId' }, action: { status: 429 }, times: { first: 1 } })
const ask = () => fetch(world.urls.rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })
console.log((await ask()).status, (await ask()).status)
