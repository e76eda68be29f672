import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { network } from 'hardhat'
const server = await network.createServer('default', '127.0.0.1', 0)
const { address, port } = await server.listen()
let failures = 1
const proxy = createServer(async (request, response) => {
  const body = await text(request)
  if (JSON.parse(body).method === 'eth_chainId' && failures-- > 0) return response.writeHead(429).end()
  const answer = await fetch(`http://${address}:${port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  response.writeHead(answer.status).end(await answer.text())
}).listen(0)
await once(proxy, 'listening')
const ask = () => fetch(`http://localhost:${proxy.address().port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })
console.log((await ask()).status, (await ask()).status)
proxy.close()
await server.close()
