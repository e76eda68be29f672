import { start } from 'snowglobe'
await using world = await start()
const hash = await world.rpc('eth_sendTransaction', [{ from: world.personas.alice.address, to: await world.deploy('Refusal.json'), gas: '0x100000' }])
console.log((await world.inspect(hash)).trace)
