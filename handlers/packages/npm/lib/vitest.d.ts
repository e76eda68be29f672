import type { TestAPI } from 'vitest'
import type { Options, World } from './index.js'

export interface Fixtures {
  /** Options of the file's world: `test.extend({ worldOptions: [{ profile: 'default' }, { scope: 'file' }] })`. */
  worldOptions: Options
  /** The file's own world, which starts with the first test that asks for it. */
  world: World
  /** Snapshot of the world before this test. The world is reverted to it after the test. */
  snapshot: string
}

export const test: TestAPI<Fixtures>
export const it: TestAPI<Fixtures>
export { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
