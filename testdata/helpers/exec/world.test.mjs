import assert from 'node:assert'
import { test } from 'node:test'

test('the simulator answers', async () => {
  const { result } = await (await fetch(process.env.SNOWGLOBE_RPC_URL, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}', headers: { 'content-type': 'application/json' } })).json()
  assert.equal(result, process.env.EXPECTED_CHAIN ?? '0xa86a')
})

test('it takes long, if that is wanted', async () => {
  if (!process.env.BEGUN) return
  ;(await import('node:fs')).writeFileSync(process.env.BEGUN, '')
  await new Promise((resolve) => setTimeout(resolve, 60_000))
})
