// Checks the package's types, and that a world ends with its block.
import assert from 'node:assert/strict'
import { start, type World } from 'snowglobe'

let world: World
{
  await using own = await start({ profile: 'tiny', seed: 1 })
  world = own
  await using fault = await own.fault({ action: { status: 503 }, match: { operation: 'getChain' } })
  assert.equal(typeof fault.id, 'string')
  const key: `0x${string}` = own.personas.alice.key
  assert.equal(key.length, 66)
  const height: string = await own.rpc<string>('eth_blockNumber')
  assert.ok(BigInt(height) > 0n)
  // @ts-expect-error: a span, not a number
  await assert.rejects(own.advance(36))
}
await assert.rejects(world.now(), TypeError)
