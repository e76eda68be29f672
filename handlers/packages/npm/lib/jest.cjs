'use strict'
const { start } = require('./index.cjs')

/** A hook of Jest: a global, unless the project sets injectGlobals: false. */
function hook(name) {
  return globalThis[name] ?? require('@jest/globals')[name]
}

function useWorld({ revert = false, ...options } = {}) {
  let world
  let snapshot
  hook('beforeAll')(async () => { world = await start(options) }, 30_000)
  hook('afterAll')(() => world?.stop())
  if (revert) {
    hook('beforeEach')(async () => { snapshot = await world.snapshot() })
    hook('afterEach')(() => world.revert(snapshot))
  }
  return new Proxy({}, {
    get(_, name) {
      if (!world) throw new Error('useWorld starts its world before the first test: use it only in tests and hooks')
      const member = world[name]
      return typeof member === 'function' ? member.bind(world) : member
    },
  })
}

module.exports = { useWorld }
