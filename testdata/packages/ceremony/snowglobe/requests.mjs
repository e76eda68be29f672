import { start } from 'snowglobe'
await using world = await start()
await fetch(world.urls.rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })
console.log(await world.verifyRequests({ operation: 'eth_chainId', times: { exactly: 1 } }))
