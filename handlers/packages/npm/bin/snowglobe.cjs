#!/usr/bin/env node
'use strict'
const { spawn } = require('node:child_process')
const { binaryPath } = require('../lib/binary.cjs')

let program
try {
  program = binaryPath()
} catch (problem) {
  console.error(`snowglobe: ${problem.message}`)
  process.exit(1)
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', windowsHide: true })
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
for (const signal of signals) process.on(signal, () => child.kill(signal))
child.on('error', (problem) => {
  console.error(`snowglobe: ${program} cannot be run: ${problem.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  for (const name of signals) process.removeAllListeners(name)
  process.kill(process.pid, signal) // die of the same signal as the program
})
