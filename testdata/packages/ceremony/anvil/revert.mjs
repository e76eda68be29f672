import { Instance } from 'prool'
import { createTestClient, http, publicActions } from 'viem'
const anvil = Instance.anvil()
await anvil.start()
const client = createTestClient({ mode: 'anvil', transport: http(`http://${anvil.host}:${anvil.port}`) }).extend(publicActions)
const id = await client.snapshot()
await client.setBalance({ address: '0x000000000000000000000000000000000000bEEF', value: 1n })
await client.revert({ id })
console.log(await client.getBalance({ address: '0x000000000000000000000000000000000000bEEF' }))
await anvil.stop()
