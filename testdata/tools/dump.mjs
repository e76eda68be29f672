// Moves state between anvil and the C-Chain of a running Snowglobe, both ways: what anvil_dumpState of one returns, anvil_loadState of the
// other reads, and then every account of the dump has the same balance, nonce, code and storage there.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arch, platform } from 'node:process'
import { gunzipSync } from 'node:zlib'

import { artifact, mnemonic, world } from '../clients/world.mjs'

const node = (url) => async (method, ...params) => {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  const { result, error } = await answer.json()
  if (error) throw new Error(`${url}: ${method}: ${error.message}`)
  return result
}

const running = []

// anvil starts the program that npm has for this machine.
async function anvil(...args) {
  const program = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}/package.json`).replace('package.json', 'bin/anvil')
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
  running.push(spawn(program, ['--silent', '--port', String(port), '--mnemonic', mnemonic, ...args], { stdio: 'inherit' }))
  const call = node(`http://127.0.0.1:${port}`)
  for (let i = 0; ; i++) {
    try {
      await call('eth_chainId')
      return call
    } catch (error) {
      if (i === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function mined(call, transaction) {
  const hash = await call('eth_sendTransaction', transaction)
  for (;;) {
    const receipt = await call('eth_getTransactionReceipt', hash)
    if (receipt?.status === '0x1') return receipt
    if (receipt) throw new Error(`${JSON.stringify(transaction)} failed`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const unpacked = (dump) => gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()

// compare counts the values of a dump, each of which a node has to have. A nonce may be larger: a load never lowers it.
async function compare(what, dump, call) {
  let values = 0
  const same = (name, have, want) => {
    values++
    if (have !== want) throw new Error(`${what}: ${name} is ${have}, in the dump ${want}`)
  }
  for (const [address, account] of Object.entries(JSON.parse(unpacked(dump)).accounts)) {
    same(`balance of ${address}`, BigInt(await call('eth_getBalance', address, 'latest')), BigInt(account.balance))
    same(`code of ${address}`, await call('eth_getCode', address, 'latest'), account.code)
    const nonce = Number(await call('eth_getTransactionCount', address, 'latest'))
    same(`nonce of ${address}`, Math.max(nonce, account.nonce), nonce)
    for (const [slot, value] of Object.entries(account.storage)) same(`slot ${slot} of ${address}`, await call('eth_getStorageAt', address, slot, 'latest'), value)
  }
  console.log(`${what}: ${values} values`)
}

const ours = node(world.chains.find((chain) => chain.isC).rpcUrl)
const folder = mkdtempSync(join(tmpdir(), 'dump-'))
const snapshot = await ours('evm_snapshot')
try {
  const first = await anvil()
  const [from] = await first('eth_accounts')
  await mined(first, { from, data: artifact('Multicall3').bytecode })
  await mined(first, { from, to: '0x000000000000000000000000000000000000c0de', value: '0x1234' })
  await first('anvil_setStorageAt', '0x00000000000000000000000000000000000c0de5', '0x1', `0x${'f'.repeat(64)}`)
  const theirDump = await first('anvil_dumpState', true)
  await ours('anvil_loadState', theirDump)
  await compare('what anvil dumped', theirDump, ours)

  const ourDump = await ours('anvil_dumpState')
  const file = join(folder, 'state.json')
  writeFileSync(file, unpacked(ourDump))
  const id = String(Number(await ours('eth_chainId')))
  for (const [how, call] of [['anvil_loadState', await anvil('--chain-id', id)], ['--load-state', await anvil('--chain-id', id, '--load-state', file)]]) {
    if (how === 'anvil_loadState') await call('anvil_loadState', ourDump)
    await compare(`what Snowglobe dumped, by ${how}`, ourDump, call)
    const head = await call('eth_blockNumber')
    if (head !== (await ours('eth_blockNumber'))) throw new Error(`anvil goes on from block ${head}`)
    const { blockNumber } = await mined(call, { from, to: '0x000000000000000000000000000000000000c0de', value: '0x1' })
    if (Number(blockNumber) !== Number(head) + 1) throw new Error(`the block after ${head} is ${blockNumber}`)
  }
} finally {
  for (const program of running) program.kill()
  rmSync(folder, { recursive: true })
  await ours('evm_revert', snapshot)
}
