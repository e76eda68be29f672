import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Instance } from 'prool'
const anvil = Instance.anvil()
await anvil.start()
let failures = 1
const proxy = createServer(async (request, response) => {
  const body = await text(request)
  if (JSON.parse(body).method === 'eth_chainId' && failures-- > 0) return response.writeHead(429).end()
  const answer = await fetch(`http://${anvil.host}:${anvil.port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  response.writeHead(answer.status).end(await answer.text())
}).listen(0)
await once(proxy, 'listening')
const ask = () => fetch(`http://localhost:${proxy.address().port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })
console.log((await ask()).status, (await ask()).status)
proxy.close()
await anvil.stop()
