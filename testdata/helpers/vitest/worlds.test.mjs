import { afterAll, expect, test } from 'vitest'

// A hundred tests at the same time, each in a world of its own.
const { SNOWGLOBE_URL: url, SNOWGLOBE_ALICE_ADDRESS: alice } = process.env
const count = 100

async function ask(method, path, body) {
  const answer = await fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.status === 204 ? undefined : answer.json()
}

async function call(world, method, ...params) {
  const { result, error } = await ask('POST', `${world}/ext/bc/C/rpc`, { jsonrpc: '2.0', id: 1, method, params })
  if (error) throw new Error(error.message)
  return result
}

const address = i => '0x' + (0xabcdef0000 + i).toString(16).padStart(40, '0')
const residents = async () => Number(/^process_resident_memory_bytes (\S+)$/m.exec(await (await fetch(`${url}/ext/metrics`)).text())[1])
let most = 0

test.concurrent.for([...Array(count).keys()])('world %i is nobody else\'s', { timeout: 120_000 }, async (i, { expect }) => {
  const { name } = await ask('POST', '/sim/worlds', { name: `test-${i}`, ttl: '10m' })
  const world = `/w/${name}`
  for (let n = 0; n < 3; n++) await call(world, 'eth_sendTransaction', { from: alice, to: address(i), value: '0x' + (i + 1).toString(16) })
  expect(BigInt(await call(world, 'eth_getBalance', address(i), 'latest'))).toBe(BigInt(3 * (i + 1)))
  expect(await call(world, 'eth_getBalance', address((i + 1) % count), 'latest')).toBe('0x0')
  const { transactions } = await ask('GET', `${world}/v1/chains/43114/addresses/${address(i)}/transactions?pageSize=10`)
  expect(transactions).toHaveLength(3)
  most = Math.max(most, await residents())
})

afterAll(async () => {
  const { worlds } = await ask('GET', '/sim/worlds')
  expect(worlds).toHaveLength(count + 1)
  expect(await call('', 'eth_getBalance', address(0), 'latest')).toBe('0x0')
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(2 ** 30)
  for (let i = 0; i < count; i++) await ask('DELETE', `/sim/worlds/test-${i}`)
  expect((await ask('GET', '/sim/worlds')).worlds).toHaveLength(1)
  console.log(`${count} worlds: ${Math.round(most / 2 ** 20)} MiB at most`)
})
