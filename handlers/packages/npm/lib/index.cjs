'use strict'
const { spawn } = require('node:child_process')
const { readFile } = require('node:fs/promises')
const { createInterface } = require('node:readline')
const { binaryPath } = require('./binary.cjs')

// The well-known development phrase, as in fixtures.Mnemonic.
const mnemonic = 'test test test test test test test test test test test junk'

class SnowglobeError extends Error {
  constructor(message, code, data) {
    super(message)
    this.name = 'SnowglobeError'
    this.code = code
    this.data = data
  }
}

async function start({ profile = 'tiny', seed, file = ':memory:', digest, flags = [] } = {}) {
  const args = ['serve', '--quiet', '--with-stdin', '--addr', '127.0.0.1:0', '--fuji-addr', 'off', '--db', file]
  if (file === ':memory:' || profile !== 'tiny') args.push('--profile', profile) // an existing file keeps its own
  if (seed !== undefined) args.push('--seed', String(seed))
  const { SNOWGLOBE_BINARY: _, ...env } = process.env
  const server = spawn(binaryPath(), [...args, ...flags], { stdio: ['pipe', 'pipe', 'pipe'], env, windowsHide: true })
  server.stdin.on('error', () => {}) // the pipe breaks when the server ends
  let said = ''
  server.stderr.setEncoding('utf8')
  server.stderr.on('data', (text) => { said = (said + text).slice(-4096) })
  const ended = new Promise((resolve) => {
    server.once('error', (problem) => resolve(problem.message))
    server.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const lines = createInterface(server.stdout)
  const ready = await Promise.race([
    new Promise((resolve) => lines.once('line', resolve)),
    ended.then((how) => Promise.reject(new SnowglobeError(`Snowglobe did not start (${how}): ${said.trim() || 'it said nothing'}`))),
  ])
  server.stderr.pipe(process.stderr, { end: false })
  const stop = async () => {
    server.ref() // so that the process waits for it
    server.kill()
    await ended
  }
  // A script that forgets to stop the server can still exit. The server then stops too, because its stdin ends with this process.
  for (const one of [server, server.stdin, server.stdout, server.stderr]) one.unref?.()
  const found = JSON.parse(ready)
  try {
    if (digest !== undefined && digest !== found.digest) {
      throw new SnowglobeError(`the world has the digest ${found.digest}, not ${digest} as expected: run snowglobe types again`)
    }
    return await connect(found.url, stop)
  } catch (problem) {
    await stop()
    throw problem
  }
}

async function connect(url, stop = async () => {}) {
  const base = url.replace(/\/+$/, '')
  const described = await ask(base, '/sim/world?expected=false&abis=false')
  return new World(base, described, stop)
}

async function ask(base, path, body, method = body === undefined ? 'GET' : 'POST') {
  const init = { method, headers: { 'content-type': 'application/json' } }
  if (body !== undefined) init.body = JSON.stringify(body, (_, value) => typeof value === 'bigint' ? String(value) : value)
  const answer = await fetch(path.includes('://') ? path : base + path, init)
  const text = await answer.text()
  let value
  try {
    value = text === '' ? undefined : JSON.parse(text)
  } catch {
    value = text
  }
  if (answer.ok) return value
  const message = [value?.message ?? value?.error?.message ?? value ?? answer.statusText].flat().join('; ')
  throw new SnowglobeError(`${method} ${path}: ${answer.status} ${message}`, answer.status)
}

class World {
  #stop
  #stopped

  constructor(url, described, stop) {
    this.url = url
    this.urls = { rpc: `${url}/ext/bc/C/rpc`, ws: `ws${url.slice(4)}/ext/bc/C/ws`, data: url, metrics: url }
    this.digest = described.digest
    this.mnemonic = mnemonic
    this.personas = Object.fromEntries(described.personas.map((p) => [p.name, {
      name: p.name, purpose: p.purpose, key: p.privateKey, address: p.address, ...p.chainAddresses,
    }]))
    const cChains = Object.fromEntries(described.networks.map((n) => [n.cChainId, n.name === 'mainnet' ? 'C' : `${n.name}C`]))
    this.chains = Object.fromEntries(described.chains.map((c) => [cChains[c.blockchainId] ?? c.name, {
      id: Number(c.chainId), name: c.name, nativeCurrency: { name: c.networkToken, symbol: c.networkToken, decimals: 18 },
      rpcUrls: { default: { http: [c.rpcUrl], webSocket: [c.wsUrl] } },
      network: c.network, blockchainId: c.blockchainId, subnetId: c.subnetId, samples: c.samples,
      contracts: Object.fromEntries(c.contracts.map(({ role, address, token }) => [role, token ? { address, token } : { address }])),
    }]))
    this.#stop = stop
  }

  async rpc(method, params = [], chain = 'C') {
    const on = this.chains[chain]
    if (!on) throw new SnowglobeError(`there is no chain ${chain}, only ${Object.keys(this.chains).join(', ')}`)
    const { result, error } = await ask(this.url, on.rpcUrls.default.http[0], {
      jsonrpc: '2.0', id: 1, method, params: params.map((p) => typeof p === 'bigint' ? quantity(p) : p),
    })
    if (error) throw new SnowglobeError(`${method}: ${error.message}`, error.code, error.data)
    return result
  }

  ask(path, body, method) {
    return ask(this.url, path, body, method)
  }

  fund(address, amount = '1', { chain, token } = {}) {
    return this.ask('/sim/faucet', { address, amount: String(amount), chain, token })
  }

  async deploy(code, { args = '0x', from = this.personas.alice.address, value = 0n, chain } = {}) {
    let artifact = code
    if (typeof code === 'string' && !code.startsWith('0x')) artifact = JSON.parse(await readFile(code, 'utf8'))
    let bytecode = artifact.bytecode?.object ?? artifact.bytecode ?? artifact
    if (typeof bytecode !== 'string' || !/^(0x)?([0-9a-f]{2})+$/i.test(bytecode)) throw new SnowglobeError('deploy: no bytecode, or one whose libraries are not linked')
    if (!bytecode.startsWith('0x')) bytecode = `0x${bytecode}`
    const hash = await this.rpc('eth_sendTransaction', [{ from, data: bytecode + args.slice(2), value: quantity(value) }], chain)
    const receipt = await this.rpc('eth_getTransactionReceipt', [hash], chain)
    if (receipt === null) throw new SnowglobeError(`deploy: ${hash} waits in the pool: mine makes a block`)
    if (receipt.status !== '0x1') throw new SnowglobeError(`deploy: ${hash} failed: ${(await this.inspect(hash)).trace ?? 'it gives no reason'}`)
    return receipt.contractAddress
  }

  async advance(span) {
    return new Date((await this.ask('/sim/clock', { advance: span })).time)
  }

  async now() {
    return new Date((await this.ask('/sim/clock')).time)
  }

  async mine(blocks = 1, chain) {
    await this.rpc('anvil_mine', [quantity(BigInt(blocks))], chain)
  }

  async snapshot() {
    return (await this.ask('/sim/snapshots', undefined, 'POST')).id
  }

  async revert(snapshot) {
    await this.ask(snapshot === undefined ? '/sim/reset' : `/sim/snapshots/${encodeURIComponent(snapshot)}:revert`, undefined, 'POST')
  }

  async copy(name) {
    const made = await this.ask('/sim/worlds', name === undefined ? {} : { name })
    const path = `/sim/worlds/${encodeURIComponent(made.name)}`
    return connect(made.url, () => this.ask(path, undefined, 'DELETE'))
  }

  async fault(rule) {
    const { id } = await this.ask('/sim/faults', rule)
    const remove = async () => {
      await this.ask(`/sim/faults/${encodeURIComponent(id)}`, undefined, 'DELETE').catch((problem) => {
        if (problem.code !== 404) throw problem // removing a rule twice is fine
      })
    }
    return { id, remove, [Symbol.asyncDispose]: remove }
  }

  async journal(filter = {}) {
    return (await this.ask(`/sim/requests?${new URLSearchParams({ pageSize: 500, ...filter })}`)).requests
  }

  async verifyRequests(expected) {
    const { verified, count, expected: wanted, nearMisses = [] } = await this.ask('/sim/requests:verify', expected)
    if (verified) return count
    const near = nearMisses.map((miss) => `\n  ${JSON.stringify(miss)}`).join('')
    throw new SnowglobeError(`${JSON.stringify(expected)}: ${count} requests, expected ${wanted}${near && `; the closest are${near}`}`)
  }

  inspect(hash) {
    return this.ask(`/sim/transactions/${hash}/trace`)
  }

  stop() {
    return this.#stopped ??= Promise.resolve(this.#stop())
  }

  async [Symbol.asyncDispose]() {
    await this.stop()
  }
}

function quantity(n) {
  return `0x${n.toString(16)}`
}

module.exports = { start, connect, binaryPath, SnowglobeError }
