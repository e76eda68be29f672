import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { SnowglobeError, binaryPath, connect, start } from 'snowglobe'

const require = createRequire(import.meta.url)
const counter = '0x6001600c60003960016000f300' // returns the code 00

let world
before(async () => { world = await start() })
after(() => world.stop())

const balance = async (address, on = world) => BigInt(await on.rpc('eth_getBalance', [address, 'latest']))

test('has names, and URLs that answer', async () => {
  const { alice, committee } = world.personas
  assert.equal(alice.key, '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
  assert.match(alice.mainnet.P, /^P-avax1/)
  assert.match(committee.fuji.X, /^X-fuji1/)
  assert.equal(world.chains.C.id, 43114)
  assert.equal(world.chains.fujiC.network, 'fuji')
  assert.equal(world.chains.C.contracts.usdc.token.decimals, 6)
  assert.equal(await world.rpc('eth_chainId', [], 'fujiC'), '0xa869')
  assert.equal(await world.rpc('eth_chainId', [], 'Icefall'), '0x1130b')
  assert.equal((await world.ask('/v1/chains/43114')).chainId, '43114')
  assert.equal((await world.rpc('eth_getTransactionReceipt', [world.chains.C.samples.failed])).status, '0x0')
  assert.equal((await fetch(world.urls.rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })).status, 200)
})

test('funds, deploys, moves time, reverts', async () => {
  const nobody = world.personas.nobody.address
  const began = await world.now()
  const snapshot = await world.snapshot()
  await world.fund(nobody, '2.5')
  assert.equal(await balance(nobody), 25n * 10n ** 17n)
  await writeFile('Counter.json', JSON.stringify({ bytecode: { object: counter } }))
  for (const code of [counter, 'Counter.json', { bytecode: counter }]) assert.equal(await world.rpc('eth_getCode', [await world.deploy(code), 'latest']), '0x00')
  await assert.rejects(world.deploy({ bytecode: '0x60__$a$__' }), /libraries are not linked/)
  await assert.rejects(world.deploy('0x60006000fd'), /^SnowglobeError: deploy: 0x[0-9a-f]{64} failed|execution reverted/)
  const before = await world.now()
  assert.equal(await world.advance('36h') - before, 36 * 3600 * 1000)
  const height = BigInt(await world.rpc('eth_blockNumber'))
  await world.mine(3)
  assert.equal(BigInt(await world.rpc('eth_blockNumber')), height + 3n)
  await world.revert(snapshot)
  assert.equal(await balance(nobody), 0n)
  assert.deepEqual(await world.now(), began)
  await world.fund(nobody)
  await world.revert()
  assert.equal((await world.ask('/sim/health')).digest, world.digest)
})

test('copies are apart', async () => {
  const copy = await world.copy('apart')
  const nobody = world.personas.nobody.address
  await copy.fund(nobody)
  assert.equal(await balance(nobody, copy), 10n ** 18n)
  assert.equal(await balance(nobody), 0n)
  assert.ok(copy.urls.rpc.startsWith(`${world.url}/w/apart/`))
  await copy.stop()
  await assert.rejects(copy.now(), SnowglobeError)
})

test('fails on purpose, and remembers', async () => {
  await world.ask('/sim/requests', undefined, 'DELETE')
  const fault = await world.fault({ match: { operation: 'getChain' }, action: { status: 429 }, times: { first: 1 } })
  await assert.rejects(world.ask('/v1/chains/43114'), { name: 'SnowglobeError', code: 429 })
  await world.ask('/v1/chains/43114')
  await fault.remove()
  await fault[Symbol.asyncDispose]()
  assert.deepEqual((await world.journal({ operation: 'getChain' })).map((one) => one.status), [200, 429])
  assert.equal(await world.verifyRequests({ operation: 'getChain', times: { exactly: 2 } }), 2)
  await assert.rejects(world.verifyRequests({ operation: 'getChain', status: 503 }), /0 requests, expected at least 1; the closest are\n.*getChain/)
})

test('explains a failed transaction, and a refused call', async () => {
  const found = await world.inspect(world.chains.C.samples.failed)
  assert.ok(found.failure && found.trace)
  await assert.rejects(world.rpc('eth_call', [{ to: world.chains.C.contracts.usdc.address, data: '0xa9059cbb' }]), (problem) => problem instanceof SnowglobeError && typeof problem.code === 'number')
  await assert.rejects(world.rpc('eth_chainId', [], 'D'), /there is no chain D, only C, fujiC, Icefall/)
})

test('starts other worlds, and says why one does not start', async () => {
  const other = await start({ seed: 2, file: 'other.db' })
  assert.notEqual(other.digest, world.digest)
  await other.stop()
  await other.stop()
  const again = await start({ file: 'other.db', digest: other.digest })
  assert.equal(again.digest, other.digest)
  await again[Symbol.asyncDispose]()
  await assert.rejects(start({ digest: other.digest }), /run snowglobe types again/)
  await assert.rejects(start({ profile: 'enormous' }), /did not start \(exit code 2\): snowglobe: .*enormous/s)
  await assert.rejects(start({ flags: ['--no-such-flag'] }), /no-such-flag/)
})

test('connects to a server, and leaves it running', async () => {
  const same = await connect(`${world.url}/`)
  await same.stop()
  assert.equal(same.digest, (await world.ask('/sim/health')).digest)
})

test('is the same by require', () => {
  assert.equal(require('snowglobe').start, start)
})

test('finds its program', () => {
  assert.match(binaryPath(), /@snowglobe.linux-x64.bin.snowglobe$/)
  const run = (environment, ...args) => spawnSync(process.execPath, [require.resolve('snowglobe/package.json').replace('package.json', 'bin/snowglobe.cjs'), ...args],
    { env: { ...process.env, ...environment }, encoding: 'utf8' })
  assert.deepEqual([run({}, 'version').status, run({}, 'frobnicate').status], [0, 2])
  assert.equal(run({}, 'exec', '--', 'sh', '-c', 'exit 7').status, 7)
  assert.match(run({ SNOWGLOBE_BINARY: 'nowhere' }, 'version').stderr, /SNOWGLOBE_BINARY names nowhere, which does not exist/)
  assert.match(run({ SNOWGLOBE_BINARY: binaryPath() }, 'version').stdout, /^snowglobe /)
  assert.equal(run({ SNOWGLOBE_BINARY: binaryPath() }, 'exec', '--', process.execPath, '-e', '').status, 0)
})

for (const [how, more, ends] of [['forgets to stop', '', { status: 0, signal: null }], ['is killed', '; process.kill(process.pid, "SIGKILL")', { status: null, signal: 'SIGKILL' }]]) {
  test(`a script that ${how} ends, and its server with it`, async () => {
    const script = `import { start } from "snowglobe"; import { writeSync } from "node:fs"; writeSync(1, (await start()).url)${more}`
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    assert.deepEqual({ status, signal }, ends, stderr)
    await assert.rejects(async () => {
      const deadline = Date.now() + 10_000
      while (Date.now() < deadline) await fetch(`${stdout}/sim/health`)
    }, TypeError)
  })
}
