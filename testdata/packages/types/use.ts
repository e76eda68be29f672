// Uses a world's names with viem's types. It compiles only if the names are literals, and runs only against the world that has them.
import assert from 'node:assert/strict'
import { createPublicClient, createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainAt, chains, check, networks, personas } from './world.ts'

const url = process.env.SNOWGLOBE_URL!
await check(url)
const chain = chainAt(chains.C, url)
const id: 43114 = chain.id
const client = createPublicClient({ chain, transport: http() })
assert.equal(await client.getChainId(), id)

const usdc = chains.C.contracts.usdc
const before: bigint = await client.readContract({ ...usdc, functionName: 'balanceOf', args: [personas.alice.address] })
const decimals: number = await client.readContract({ ...usdc, functionName: 'decimals' })
assert.equal(decimals, chains.C.tokens.usdc.decimals)
// @ts-expect-error: there is no such function
const none = () => client.readContract({ ...usdc, functionName: 'balanceOff', args: [personas.alice.address] })
// @ts-expect-error: there is no such persona
const nobody = () => personas.alicia
assert.throws(() => nobody().key)
assert.equal(typeof none, 'function')

const failed = await client.getTransactionReceipt({ hash: chains.C.samples.failed })
assert.equal(failed.status, 'reverted')
assert.match(networks.mainnet.nodes.active.nodeId, /^NodeID-/)
assert.match(networks.fuji.samples['P.CreateSubnetTx'], /^[A-Za-z0-9]{40,}$/)

const alice = createWalletClient({ account: privateKeyToAccount(personas.alice.key), chain, transport: http() }).extend(publicActions)
assert.equal(alice.account.address, personas.alice.address)
await alice.waitForTransactionReceipt({ hash: await alice.writeContract({ ...usdc, functionName: 'transfer', args: [personas.bob.address, 1n] }), pollingInterval: 10 })
assert.equal(await client.readContract({ ...usdc, functionName: 'balanceOf', args: [personas.alice.address] }), before - 1n)
await assert.rejects(check(url), /run snowglobe types --ts again/) // the world has changed
