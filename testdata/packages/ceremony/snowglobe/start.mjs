import { start } from 'snowglobe'
await using world = await start()
console.log(await world.rpc('eth_chainId'))
