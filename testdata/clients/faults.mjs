// Makes a running Snowglobe fail, and counts what clients ask again: viem, ethers, chainkit and fetch. Each part runs twice: the second
// time is as the first.
import assert from 'node:assert/strict'
import { Avalanche } from '@avalanche-sdk/chainkit'
import { ethers } from 'ethers'
import { createPublicClient, http } from 'viem'

const url = process.env.SNOWGLOBE_URL ?? 'http://127.0.0.1:9650'
const rpc = `${url}/ext/bc/C/rpc`

async function sim(method, path, body) {
  const answer = await fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
  assert.equal(answer.status, 200, await answer.clone().text())
  return answer.json()
}

// failing gives the rules to the server, and what was asked of an operation to the check, in the order in which it was asked.
async function failing(what, operation, rules, act, check) {
  const before = (await sim('GET', '/sim/health')).digest
  for (let run = 1; run <= 2; run++) {
    await sim('DELETE', '/sim/requests')
    for (const rule of rules) await sim('POST', '/sim/faults', rule)
    let outcome
    try {
      outcome = { value: await act() }
    } catch (error) {
      outcome = { error }
    }
    await sim('DELETE', '/sim/faults')
    const { requests } = await sim('GET', `/sim/requests?pageSize=500&operation=${operation}`)
    check(outcome, requests.reverse(), `${what}, run ${run}: ${outcome.error ?? ''} ${JSON.stringify(requests.map((r) => [r.status, r.cause, r.fault]))}`)
  }
  assert.equal((await sim('GET', '/sim/health')).digest, before, `${what}: the world changed`)
  console.log(`faults: ${what}`)
}

const statuses = (requests) => requests.map((r) => r.status)
const twice = { first: 2 }

// viem asks three times more, and heeds Retry-After.
const viem = createPublicClient({ transport: http(rpc, { retryCount: 3, retryDelay: 10, timeout: 300 }) })
for (const [action, seen] of [
  [{ status: 429, retryAfter: 1 }, [429, 429, 200]], [{ status: 500 }, [500, 500, 200]], [{ status: 502 }, [502, 502, 200]],
  [{ status: 503 }, [503, 503, 200]], [{ status: 504 }, [504, 504, 200]], [{ drop: 'before' }, [0, 0, 200]],
  [{ rpcError: { code: -32005, message: 'limit exceeded' } }, [200, 200, 200]],
]) {
  await failing(`viem, ${JSON.stringify(action)}`, 'eth_chainId', [{ match: { rpcMethod: 'eth_chainId' }, action, times: twice }],
    () => viem.request({ method: 'eth_chainId' }),
    (outcome, requests, text) => {
      assert.equal(outcome.value, '0xa86a', text)
      assert.deepEqual(statuses(requests), seen, text)
    })
}
await failing('viem, an error of JSON-RPC that is no reason to ask again', 'eth_chainId',
  [{ match: { rpcMethod: 'eth_chainId' }, action: { rpcError: { code: 3, message: 'execution reverted', data: '0x' } } }],
  () => viem.request({ method: 'eth_chainId' }),
  (outcome, requests, text) => {
    assert.match(String(outcome.error), /execution reverted/, text)
    assert.equal(requests.length, 1, text)
  })
await failing('viem, a receipt that is late', 'eth_getTransactionReceipt',
  [{ match: { rpcMethod: 'eth_getTransactionReceipt' }, action: { rpcResult: null }, times: { first: 3 } }],
  async () => {
    const block = await viem.getBlock({ blockNumber: 79n })
    for (;;) {
      try {
        return await viem.getTransactionReceipt({ hash: block.transactions[0] })
      } catch (error) {
        if (error.name !== 'TransactionReceiptNotFoundError') throw error
      }
    }
  },
  (outcome, requests, text) => {
    assert.equal(outcome.value?.status, 'success', text)
    assert.equal(requests.length, 4, text)
  })

// ethers asks again after 429, with a delay of its own.
await failing('ethers, 429', 'eth_chainId', [{ match: { rpcMethod: 'eth_chainId' }, action: { status: 429, retryAfter: 1 }, times: twice }],
  async () => {
    const request = new ethers.FetchRequest(rpc)
    request.setThrottleParams({ slotInterval: 10, maxAttempts: 5 })
    const provider = new ethers.JsonRpcProvider(request, 43114, { staticNetwork: true, batchMaxCount: 1 })
    try {
      return await provider.send('eth_chainId', [])
    } finally {
      provider.destroy()
    }
  },
  (outcome, requests, text) => {
    assert.equal(outcome.value, '0xa86a', text)
    assert.deepEqual(statuses(requests), [429, 429, 200], text)
  })

// chainkit asks again after the statuses that it is told.
const sdk = new Avalanche({ enableTelemetry: false })
const retries = { strategy: 'backoff', backoff: { initialInterval: 10, maxInterval: 50, exponent: 1.5, maxElapsedTime: 20_000 }, retryConnectionErrors: true }
const getChain = (config) => sdk.data.evm.chains.get({ chainId: '43114' }, { serverURL: url, retries: config, retryCodes: ['429', '5XX'] })
for (const [action, seen] of [[{ status: 429 }, [429, 429, 200]], [{ status: 503 }, [503, 503, 200]], [{ drop: 'before' }, [0, 0, 200]]]) {
  await failing(`chainkit, ${JSON.stringify(action)}`, 'getChain', [{ match: { operation: 'getChain' }, action, times: twice }], () => getChain(retries),
    (outcome, requests, text) => {
      assert.equal(outcome.error, undefined, text)
      assert.deepEqual(statuses(requests), seen, text)
    })
}
await failing('chainkit without retries', 'getChain', [{ match: { operation: 'getChain' }, action: { status: 503 } }], () => getChain({ strategy: 'none' }),
  (outcome, requests, text) => {
    assert.equal(outcome.error?.statusCode ?? outcome.error?.httpMeta?.response?.status, 503, text)
    assert.equal(requests.length, 1, text)
  })

// fetch gives up by an AbortSignal, and sees what is wrong with a body.
const chain = `${url}/v1/chains/43114`
await failing('fetch, AbortSignal', 'getChain', [{ match: { operation: 'getChain' }, action: { delay: '1s' } }],
  async () => {
    try {
      await fetch(chain, { signal: AbortSignal.timeout(200) })
    } finally { // the server learns of it when it answers
      while ((await sim('GET', '/sim/requests?operation=getChain')).requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    }
  },
  (outcome, requests, text) => {
    assert.equal(outcome.error?.name, 'TimeoutError', text)
    assert.equal(requests.length, 1, text)
  })
for (const [action, as] of [
  [{ truncate: 20 }, (o) => assert.match(String(o.error), /terminated/)],
  [{ drop: 'during' }, (o) => assert.match(String(o.error), /terminated|fetch failed/)],
  [{ invalidJson: true }, (o) => assert.equal(o.error?.name, 'SyntaxError')],
  [{ slow: '100ms' }, (o) => assert.equal(o.value.chainId, '43114')],
]) {
  await failing(`fetch, ${JSON.stringify(action)}`, 'getChain', [{ match: { operation: 'getChain' }, action }], async () => (await fetch(chain)).json(),
    (outcome, requests) => {
      as(outcome)
      assert.equal(requests.length, 1)
    })
}

// Each way of applying, by exact counts and in exact order: what a client sees is what the rule says, and the same when it is said again.
const at = (...nth) => (n) => nth.includes(n)
const asked = async (ask, times) => {
  const seen = []
  for (let n = 1; n <= times; n++) {
    seen.push(await ask().then(() => 200, (error) => error.status ?? error.statusCode ?? error.info?.responseStatus?.slice(0, 3) ?? String(error)))
  }
  return seen
}
const clients = {
  viem: ['eth_chainId', () => createPublicClient({ transport: http(rpc, { retryCount: 0 }) }).request({ method: 'eth_chainId' })],
  ethers: ['eth_chainId', async () => {
    const request = new ethers.FetchRequest(rpc)
    request.setThrottleParams({ maxAttempts: 1 })
    const provider = new ethers.JsonRpcProvider(request, 43114, { staticNetwork: true, batchMaxCount: 1 })
    try {
      return await provider.send('eth_chainId', [])
    } finally {
      provider.destroy()
    }
  }],
  chainkit: ['getChain', () => getChain({ strategy: 'none' })],
  fetch: ['getChain', async () => {
    const answer = await fetch(chain, { signal: AbortSignal.timeout(20_000) })
    if (!answer.ok) throw Object.assign(new Error(), { status: answer.status })
  }],
}
const ways = [
  [undefined, () => true], [{ first: 3 }, at(1, 2, 3)], [{ every: 3 }, at(3, 6, 9)], [{ after: 7 }, (n) => n > 7], [{ after: 2, every: 2, first: 2 }, at(4, 6)],
]
for (const [client, [operation, ask]] of Object.entries(clients)) {
  const match = operation.startsWith('eth_') ? { rpcMethod: operation } : { operation }
  for (const [times, fails] of ways) {
    const want = Array.from({ length: 10 }, (_, i) => (fails(i + 1) ? 503 : 200))
    await failing(`${client}, ${JSON.stringify(times) ?? 'always'}`, operation, [{ match, action: { status: 503 }, times }], () => asked(ask, 10),
      (outcome, requests, text) => {
        assert.deepEqual(statuses(requests), want, text)
        assert.deepEqual(outcome.value.map((s) => (s === 200 ? 200 : 503)), want, text)
      })
  }

  // Which requests a probability means follows from the seed, the rule and the request's ordinal: always the same ones.
  let chosen
  await failing(`${client}, probability`, operation, [{ id: 'coin', match, action: { status: 503 }, times: { probability: 0.4 } }], () => asked(ask, 40),
    (_, requests, text) => {
      const hit = statuses(requests)
      assert.equal(hit.length, 40, text)
      const count = hit.filter((s) => s === 503).length
      assert.ok(count > 4 && count < 30, text)
      assert.deepEqual(hit, chosen ?? hit, text)
      chosen = hit
    })

  // Delays of a distribution: the journal tells how long each request had to wait, which took that long and waits as long again.
  for (const [name, delay, fits] of [
    ['a range', { min: '5ms', max: '40ms' }, (ms) => ms.every((n) => n >= 5 && n <= 40)],
    ['a log-normal distribution', { median: '10ms', sigma: 0.6 }, (ms) => ms.some((n) => n < 10) && ms.some((n) => n > 10) && ms.every((n) => n > 10 / 12 && n < 10 * 12)], // 4 sigma
  ]) {
    let waited
    await failing(`${client}, delays of ${name}`, operation, [{ id: 'slow', match, action: { delay } }], () => asked(ask, 12),
      (outcome, requests, text) => {
        assert.deepEqual(outcome.value, Array(12).fill(200), text)
        const waits = requests.map((r) => /, waits ([0-9.]+)ms$/.exec(r.fault)?.[1])
        assert.ok(fits(waits.map(Number)) && new Set(waits).size > 8, text)
        assert.ok(requests.every((r, i) => r.durationMs >= waits[i] - 0.001), text)
        assert.deepEqual(waits, waited ?? waits, text)
        waited = waits
      })
  }

  // For a time of the world's clock, which moves only when it is moved.
  const clock = await sim('GET', '/sim/clock')
  await sim('DELETE', '/sim/requests')
  await sim('POST', '/sim/faults', { match, action: { status: 503 }, times: { for: '1m', clock: 'world' } })
  const during = await asked(ask, 3)
  assert.deepEqual(during.map((s) => s !== 200), [true, true, true], `${client}: ${during}`)
  const { id } = await (await fetch(`${url}/sim/snapshots`, { method: 'POST' })).json()
  await sim('POST', '/sim/clock', { advance: '61s' })
  assert.deepEqual(await asked(ask, 2), [200, 200], `${client}: after a minute of the world's clock`)
  await sim('DELETE', '/sim/faults')
  await sim('POST', `/sim/snapshots/${id}:revert`)
  assert.equal((await sim('GET', '/sim/clock')).unix, clock.unix)

  // And of the wall's.
  await sim('POST', '/sim/faults', { match, action: { status: 503 }, times: { for: '700ms' } })
  const soon = await asked(ask, 1)
  assert.notEqual(soon[0], 200, client)
  await new Promise((resolve) => setTimeout(resolve, 800))
  assert.deepEqual(await asked(ask, 2), [200, 200], `${client}: after the time`)
  await sim('DELETE', '/sim/faults')
  console.log(`faults: ${client}, for a time`)
}
