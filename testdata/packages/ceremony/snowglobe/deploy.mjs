import { start } from 'snowglobe'
await using world = await start()
const address = await world.deploy('Answer.json')
console.log(await world.rpc('eth_call', [{ to: address }, 'latest']))
