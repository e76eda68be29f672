import { readFileSync } from 'node:fs'

const base = process.env.SNOWGLOBE_URL ?? 'http://127.0.0.1:9650'

// mnemonic is the well-known phrase whose first ten accounts are personas.
export const mnemonic = 'test test test test test test test test test test test junk'

// multicall3 is where every chain has the contract, as on the real networks.
export const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

// world is everything that the simulator says about itself.
export const world = await describe()

export const persona = Object.fromEntries(world.personas.map((p) => [p.name, p]))

async function describe() {
  const answer = await fetch(`${base}/sim/world`)
  if (!answer.ok) throw new Error(`${base}/sim/world: ${answer.status}`)
  const world = await answer.json()
  const cChains = new Set(world.networks.map((n) => n.cChainId))
  for (const chain of world.chains) {
    chain.isC = cChains.has(chain.blockchainId)
    chain.title = `${chain.name} ${chain.chainId}`
    chain.of = (role) => chain.contracts.find((c) => c.role === role).address
    chain.made = (...artifacts) => chain.contracts.filter((c) => artifacts.includes(c.artifact)).map((c) => c.address)
  }
  return world
}

// artifact is a compiled contract.
export function artifact(name) {
  const file = new URL(`../../fixtures/contracts/artifacts/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
}

// abi is the interface of a compiled contract.
export const abi = (name) => artifact(name).abi

// heights are the blocks of a chain at which history is asked for: all of a short chain, an even sample of a long one.
export function heights(height, most) {
  const step = Math.max(1, Math.ceil(height / most))
  const chosen = []
  for (let n = 0; n < height; n += step) chosen.push(n)
  return [...chosen, height]
}
