import type { PlaywrightTestArgs, PlaywrightTestOptions, PlaywrightWorkerArgs, PlaywrightWorkerOptions, TestType } from '@playwright/test'
import type { Options, World } from './index.cjs'

export interface WorkerFixtures {
  /** How each worker's world starts: `use: { worldOptions: { profile: 'default' } }` in the configuration. */
  worldOptions: Options
  /** The worker's own world. */
  world: World
}

export interface TestFixtures {
  /** Of the world before this test, which reverts to it at its end. */
  snapshot: string
}

export const test: TestType<PlaywrightTestArgs & PlaywrightTestOptions & TestFixtures, PlaywrightWorkerArgs & PlaywrightWorkerOptions & WorkerFixtures>
export { expect } from '@playwright/test'
