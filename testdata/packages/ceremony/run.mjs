// Runs each task with each tool, counts the lines, and compares them with the manual's table: node run.mjs PAGE
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const tools = ['snowglobe', 'anvil', 'hardhat']
const number = (n) => (text) => assert.equal(BigInt(text), BigInt(n))
const words = (form) => (text) => assert.match(text, form)
const tasks = {
  start: number(43114), fund: number(25n * 10n ** 17n), deploy: number(42), time: number(129_600), revert: number(0), isolate: number(0),
  inspect: words(/\bno\b/), fail: words(/^429 200$/), requests: number(1), stop: words(/^stopped$/),
}

/** Lines of code in a file. */
const lines = (file) => readFileSync(file, 'utf8').split('\n').filter((line) => line.trim() !== '').length

const page = readFileSync(process.argv[2], 'utf8')
for (const [task, check] of Object.entries(tasks)) {
  const counts = tools.map((tool) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`${task}.mjs`], { cwd: tool, encoding: 'utf8', timeout: 60_000 })
    assert.equal(status, 0, `${tool}/${task}: ${stderr}`)
    try {
      check(stdout.trim().replace(/n$/, ''))
    } catch (problem) {
      throw new Error(`${tool}/${task}: ${problem.message}`)
    }
    return lines(`${tool}/${task}.mjs`) + (tool === 'hardhat' ? lines('hardhat/hardhat.config.js') : 0)
  })
  const [ours, ...others] = counts
  for (const count of others) assert.ok(ours < count, `${task}: ${counts}`)
  const row = new RegExp(`^\\| ${task} \\| [^|]+\\| ${counts.join(' \\| ')} \\|$`, 'm')
  assert.match(page, row, `the manual has other numbers for ${task}: ${counts}`)
}
console.log(`${Object.keys(tasks).length} tasks`)
