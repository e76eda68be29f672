import type { TestAPI } from 'vitest'
import type { Options, World } from './index.js'

export interface Fixtures {
  /** How the file's world starts: `test.extend({ worldOptions: [{ profile: 'default' }, { scope: 'file' }] })`. */
  worldOptions: Options
  /** The file's own world, which starts with the first test that asks for it. */
  world: World
  /** Of the world before this test, which reverts to it at its end. */
  snapshot: string
}

export const test: TestAPI<Fixtures>
export const it: TestAPI<Fixtures>
export { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
