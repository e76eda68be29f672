import type { PlaywrightTestArgs, PlaywrightTestOptions, PlaywrightWorkerArgs, PlaywrightWorkerOptions, TestType } from '@playwright/test'
import type { Options, World } from './index.cjs'

export interface WorkerFixtures {
  /** Options of each worker's world: `use: { worldOptions: { profile: 'default' } }` in the configuration. */
  worldOptions: Options
  /** The worker's own world. */
  world: World
}

export interface TestFixtures {
  /** Snapshot of the world before this test. The world is reverted to it after the test. */
  snapshot: string
}

export const test: TestType<PlaywrightTestArgs & PlaywrightTestOptions & TestFixtures, PlaywrightWorkerArgs & PlaywrightWorkerOptions & WorkerFixtures>
export { expect } from '@playwright/test'
