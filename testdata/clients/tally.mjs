import { isDeepStrictEqual, inspect } from 'node:util'

// shown is how many differences of a group are printed; the others are only counted.
const shown = 5

// Tally counts the checks that hold and those that do not. It prints one line for each group of checks, and ends the
// program with exit code 1 when one failed.
export class Tally {
  passed = 0
  failed = 0
  #differences = []

  ok(what, holds) {
    if (holds) this.passed++
    else this.#miss(what)
  }

  same(what, have, want) {
    if (isDeepStrictEqual(have, want)) this.passed++
    else this.#miss(`${what}: have ${brief(have)}, want ${brief(want)}`)
  }

  // fails expects the promise to be rejected with an error that the test accepts.
  async fails(what, promise, test) {
    try {
      this.#miss(`${what}: succeeded with ${brief(await promise)}`)
    } catch (error) {
      if (test(error)) this.passed++
      else this.#miss(`${what}: ${error.stack}`)
    }
  }

  async group(name, check) {
    const before = this.passed
    this.#differences = []
    try {
      await check()
    } catch (error) {
      this.#miss(error.stack)
    }
    const missed = this.#differences.length
    console.log(`${missed ? 'FAIL' : 'ok  '} ${name}: ${this.passed - before} checks${missed ? `, ${missed} failed` : ''}`)
    for (const difference of this.#differences.slice(0, shown)) console.log(`     ${difference}`)
  }

  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`)
    process.exit(this.failed ? 1 : 0)
  }

  #miss(difference) {
    this.failed++
    this.#differences.push(difference)
  }
}

function brief(value) {
  const text = inspect(value, { depth: 4 }).replace(/\s+/g, ' ')
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
