import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Instance } from 'prool'
const anvil = Instance.anvil()
await anvil.start()
const methods = []
const proxy = createServer(async (request, response) => {
  const body = await text(request)
  methods.push(JSON.parse(body).method)
  const answer = await fetch(`http://${anvil.host}:${anvil.port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  response.writeHead(answer.status).end(await answer.text())
}).listen(0)
await once(proxy, 'listening')
await fetch(`http://localhost:${proxy.address().port}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })
const asked = methods.filter((method) => method === 'eth_chainId').length
assert.equal(asked, 1)
console.log(asked)
proxy.close()
await anvil.stop()
