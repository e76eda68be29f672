import { readFileSync } from 'node:fs'
import { Instance } from 'prool'
import { createTestClient, http, publicActions, walletActions } from 'viem'
const anvil = Instance.anvil()
await anvil.start()
const client = createTestClient({ mode: 'anvil', transport: http(`http://${anvil.host}:${anvil.port}`) }).extend(publicActions).extend(walletActions)
const [account] = await client.getAddresses()
const hash = await client.deployContract({ ...JSON.parse(readFileSync('Answer.json')), account, chain: null })
const { contractAddress } = await client.waitForTransactionReceipt({ hash })
console.log((await client.call({ to: contractAddress })).data)
await anvil.stop()
