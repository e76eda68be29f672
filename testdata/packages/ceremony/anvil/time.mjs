import { Instance } from 'prool'
import { createTestClient, http, publicActions } from 'viem'
const anvil = Instance.anvil()
await anvil.start()
const client = createTestClient({ mode: 'anvil', transport: http(`http://${anvil.host}:${anvil.port}`) }).extend(publicActions)
const before = await client.getBlock()
await client.setNextBlockTimestamp({ timestamp: before.timestamp + 129_600n })
await client.mine({ blocks: 1 })
console.log((await client.getBlock()).timestamp - before.timestamp)
await anvil.stop()
