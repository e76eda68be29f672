import { start } from 'snowglobe'
const world = await start()
await world.stop()
console.log(await fetch(world.url).catch(() => 'stopped'))
