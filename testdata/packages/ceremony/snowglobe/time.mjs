import { start } from 'snowglobe'
await using world = await start()
const before = await world.now()
console.log((await world.advance('36h') - before) / 1000)
