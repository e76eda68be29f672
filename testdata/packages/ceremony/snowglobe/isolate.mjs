import { start } from 'snowglobe'
await using world = await start()
await using other = await world.copy()
await other.fund('0x000000000000000000000000000000000000bEEF')
console.log(await world.rpc('eth_getBalance', ['0x000000000000000000000000000000000000bEEF', 'latest']))
