import { Instance } from 'prool'
import { createPublicClient, http } from 'viem'
const anvil = Instance.anvil({ chainId: 43114 })
await anvil.start()
const client = createPublicClient({ transport: http(`http://${anvil.host}:${anvil.port}`) })
console.log(await client.getChainId())
await anvil.stop()
