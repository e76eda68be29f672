import { Instance } from 'prool'
import { createTestClient, http, parseEther, publicActions } from 'viem'
const anvil = Instance.anvil()
await anvil.start()
const client = createTestClient({ mode: 'anvil', transport: http(`http://${anvil.host}:${anvil.port}`) }).extend(publicActions)
await client.setBalance({ address: '0x000000000000000000000000000000000000bEEF', value: parseEther('2.5') })
console.log(await client.getBalance({ address: '0x000000000000000000000000000000000000bEEF' }))
await anvil.stop()
