import { test as base } from '@playwright/test'
import { start } from './index.js'

export const test = base.extend({
  worldOptions: [{}, { option: true, scope: 'worker' }],
  world: [async ({ worldOptions }, use) => {
    const world = await start(worldOptions)
    await use(world)
    await world.stop()
  }, { scope: 'worker' }],
  snapshot: async ({ world }, use) => {
    const snapshot = await world.snapshot()
    await use(snapshot)
    await world.revert(snapshot)
  },
})
export { expect } from '@playwright/test'
