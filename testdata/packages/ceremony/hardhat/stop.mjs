import { network } from 'hardhat'
const server = await network.createServer('default', '127.0.0.1', 0)
const { address, port } = await server.listen()
await server.close()
console.log(await fetch(`http://${address}:${port}`).catch(() => 'stopped'))
