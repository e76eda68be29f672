// What the scripts here share: a client that sees what wallets did, and a way to wait.
import { createTestClient, http, publicActions } from 'viem'

export const network = (chain) => ({
  id: Number(chain.chainId), name: chain.name, nativeCurrency: { name: chain.networkToken, symbol: chain.networkToken, decimals: 18 },
  rpcUrls: { default: { http: [chain.rpcUrl] } },
})

export const observe = (chain) => createTestClient({ chain: network(chain), mode: 'anvil', transport: http(), pollingInterval: 20, cacheTime: 0 }).extend(publicActions)

// until waits up to two minutes for what a poll brings about.
export async function until(what, holds) {
  for (let i = 0; i < 4800; i++) {
    const value = await holds()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`waited in vain: ${what}`)
}
