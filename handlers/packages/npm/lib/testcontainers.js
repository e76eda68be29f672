import testcontainers from './testcontainers.cjs'

export const { SnowglobeContainer, StartedSnowglobeContainer } = testcontainers
