export * from './testcontainers.cjs'
