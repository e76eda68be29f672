import playwright from './playwright.cjs'

export const { expect, test } = playwright
