export * from './playwright.cjs'
