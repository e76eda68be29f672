'use strict'
const { expect, test: base } = require('@playwright/test')
const { start } = require('./index.cjs')

const test = base.extend({
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

module.exports = { expect, test }
