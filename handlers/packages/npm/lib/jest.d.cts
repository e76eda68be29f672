import type { Options, World } from './index.cjs'

/** A world for the tests of a file, or of a describe block: it starts before the first and stops after the last. With revert, each test begins in the same state. */
export function useWorld(options?: Options & { revert?: boolean }): World
