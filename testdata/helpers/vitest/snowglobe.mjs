// globalSetup of Vitest: starts one simulator for the run and puts its URLs, addresses and keys into the environment of the tests.
//   export default defineConfig({ test: { globalSetup: './snowglobe.mjs' } })
// SNOWGLOBE is the program, snowglobe of the PATH unless it is set.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const program = process.env.SNOWGLOBE ?? 'snowglobe'
const flags = ['--db', ':memory:', '--profile', 'tiny', '--addr', '127.0.0.1:0', '--fuji-addr', 'off', '--quiet']

export default async function setup() {
  const server = spawn(program, ['serve', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(server, 'exit') // fails when there is no such program
  const line = await Promise.race([once(createInterface(server.stdout), 'line'), exit])
  if (server.exitCode !== null) throw new Error(`${program} ended with code ${server.exitCode}`)
  const { url } = JSON.parse(line[0])
  const exported = execFileSync(program, ['env', '--addr', new URL(url).host], { encoding: 'utf8' })
  for (const [, name, value] of exported.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[name] = value
  return async () => {
    server.kill()
    await exit
  }
}
