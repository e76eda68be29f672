import { test as base } from 'vitest'
import { start } from './index.js'

export const test = base.extend({
  worldOptions: [{}, { scope: 'file' }],
  world: [async ({ worldOptions }, use) => {
    const world = await start(worldOptions)
    try {
      await use(world)
    } finally {
      await world.stop()
    }
  }, { scope: 'file' }],
  snapshot: async ({ world }, use) => {
    const snapshot = await world.snapshot()
    try {
      await use(snapshot)
    } finally {
      await world.revert(snapshot)
    }
  },
})
export const it = test
export { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
