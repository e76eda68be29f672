import { start } from 'snowglobe'
await using world = await start()
await world.fund('0x000000000000000000000000000000000000bEEF')
await world.revert()
console.log(await world.rpc('eth_getBalance', ['0x000000000000000000000000000000000000bEEF', 'latest']))
