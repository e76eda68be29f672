import { Instance, Server } from 'prool'
import { createTestClient, http, publicActions } from 'viem'
const server = Server.create({ instance: Instance.anvil(), port: 0 })
await server.start()
const [one, other] = [1, 2].map((id) => createTestClient({ mode: 'anvil', transport: http(`http://localhost:${server.address().port}/${id}`) }).extend(publicActions))
await other.setBalance({ address: '0x000000000000000000000000000000000000bEEF', value: 1n })
console.log(await one.getBalance({ address: '0x000000000000000000000000000000000000bEEF' }))
await server.stop()
