// Lets ponder index the ERC-20 transfers of a running Snowglobe and compares the sums with the Data API's.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Tally } from '../clients/tally.mjs'
import { world } from '../clients/world.mjs'

const tally = new Tally()
const chain = world.chains.find(({ isC }) => isC)
const data = `${process.env.SNOWGLOBE_URL}/v1/chains/${chain.chainId}`
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function get(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

// pages are all elements of a list.
async function pages(url, field) {
  const all = []
  for (let token = ''; ;) {
    const page = await get(`${url}${url.includes('?') ? '&' : '?'}pageSize=100${token && `&pageToken=${token}`}`)
    all.push(...page[field])
    token = page.nextPageToken
    if (!token) return all
  }
}

// index runs ponder over the tokens until it has read the chain, and answers what it found.
async function index(tokens) {
  const folder = mkdtempSync(join(tmpdir(), 'ponder-'))
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
  const described = { id: Number(chain.chainId), url: chain.rpcUrl, height: chain.height, tokens }
  const ponder = spawn(process.execPath, ['node_modules/ponder/dist/esm/bin/ponder.js', '--log-level', 'warn', 'start', '--schema', 'world', '--port', String(port)], {
    stdio: 'inherit', env: { ...process.env, SNOWGLOBE_CHAIN: JSON.stringify(described), PONDER_FOLDER: folder, PONDER_TELEMETRY_DISABLED: '1' },
  })
  const ended = new Promise((resolve) => ponder.on('exit', resolve))
  try {
    for (let i = 0; ; i++) {
      const ready = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null)
      if (ready?.ok) return await get(`http://127.0.0.1:${port}/totals`)
      if (i === 300 || ponder.exitCode !== null) throw new Error('ponder did not read the chain')
      await wait(200)
    }
  } finally {
    ponder.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

// ponder is ready before it has read the newest blocks, which it does not take for final, so there have to be some after those it is asked for.
await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"anvil_mine","params":["0x64"]}' })
const tokens = chain.made('Token', 'ListedToken')
const { totals, holdings } = await index(tokens)
const zero = `0x${'0'.repeat(40)}`
await tally.group(`ponder, ${chain.title}: transfers`, async () => {
  for (const token of tokens) {
    const listed = (await pages(`${data}/tokens/${token}/transfers`, 'transfers')).filter(({ erc20Token }) => erc20Token)
    const { transfers, amount } = totals.find((row) => row.token === token.toLowerCase()) ?? { transfers: '0', amount: '0' }
    tally.same(`transfers of ${token}`, String(listed.length), transfers)
    tally.same(`sum of ${token}`, String(listed.reduce((sum, { value }) => sum + BigInt(value), 0n)), amount)
  }
})
await tally.group(`ponder, ${chain.title}: balances`, async () => {
  const known = new Set(tokens.map((token) => token.toLowerCase()))
  for (const holder of new Set(holdings.map((row) => row.holder).filter((holder) => holder !== zero))) {
    const listed = await pages(`${data}/addresses/${holder}/balances:listErc20?filterSpamTokens=false`, 'erc20TokenBalances')
    const said = Object.fromEntries(listed.filter(({ address }) => known.has(address.toLowerCase())).map(({ address, balance }) => [address.toLowerCase(), balance]))
    const want = Object.fromEntries(holdings.filter((row) => row.holder === holder && row.amount !== '0').map(({ token, amount }) => [token, amount]))
    tally.same(`balances of ${holder}`, new Map(Object.entries(said).sort()), new Map(Object.entries(want).sort()))
  }
})
console.log(`ponder: ${totals.reduce((sum, { transfers }) => sum + Number(transfers), 0)} transfers of ${totals.length} tokens, ${holdings.length} holdings`)
tally.end()
