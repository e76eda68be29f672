import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SnowglobeContainer } from 'snowglobe/testcontainers'

test('a container has a world', async () => {
  const container = await new SnowglobeContainer('snowglobe', { seed: 7 }).start()
  const { world } = container
  assert.equal(world.url, `http://${container.getHost()}:${container.getMappedPort(9650)}`)
  assert.equal((await world.ask('/sim/world')).seed, 7)
  await world.fund(world.personas.nobody.address, '2.5')
  assert.equal(BigInt(await world.rpc('eth_getBalance', [world.personas.nobody.address, 'latest'])), 25n * 10n ** 17n)
  assert.equal(new URL(world.chains.C.rpcUrls.default.http[0]).origin, world.url)
  await world.stop()
  await assert.rejects(world.now())
})
