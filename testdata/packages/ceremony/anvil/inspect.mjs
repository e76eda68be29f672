import { readFileSync } from 'node:fs'
import { Instance } from 'prool'
import { createTestClient, decodeErrorResult, http, publicActions, walletActions } from 'viem'
const anvil = Instance.anvil()
await anvil.start()
const client = createTestClient({ mode: 'anvil', transport: http(`http://${anvil.host}:${anvil.port}`) }).extend(publicActions).extend(walletActions)
const [account] = await client.getAddresses()
const artifact = JSON.parse(readFileSync('Refusal.json'))
const deployment = await client.deployContract({ ...artifact, account, chain: null })
const { contractAddress: to } = await client.waitForTransactionReceipt({ hash: deployment })
const hash = await client.sendTransaction({ account, to, gas: 1_048_576n, chain: null })
await client.waitForTransactionReceipt({ hash })
const { output } = await client.request({ method: 'debug_traceTransaction', params: [hash, { tracer: 'callTracer' }] })
console.log(decodeErrorResult({ data: output }).args[0])
await anvil.stop()
