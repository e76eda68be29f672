import snowglobe from './index.cjs'

export const { start, connect, binaryPath, SnowglobeError } = snowglobe
