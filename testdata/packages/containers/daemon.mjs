// As much of a Docker daemon as testcontainers needs; its containers are processes of this machine: node daemon.mjs PROGRAM
// It writes its address to stdout. An exposed port becomes any free port of this machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as listen } from 'node:http'
import { createServer as reserve } from 'node:net'
import { text } from 'node:stream/consumers'

const program = process.argv[2]
const containers = new Map()

const freePort = () => new Promise((resolve) => {
  const server = reserve().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

const inspect = ({ id, config, ports, process: running }) => ({
  Id: id, Name: `/${id}`, Created: new Date().toISOString(), Image: 'sha256:0', Config: { ...config, Labels: config.Labels ?? {}, Hostname: id, Tty: false, Env: [] },
  State: { Running: running !== undefined && running.exitCode === null, Status: 'running', ExitCode: 0, StartedAt: new Date().toISOString(), FinishedAt: '0001-01-01T00:00:00Z' },
  HostConfig: { ...config.HostConfig, PortBindings: {} },
  NetworkSettings: { Networks: { bridge: { NetworkID: 'bridge', IPAddress: '127.0.0.1' } }, Ports: Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, [{ HostIp: '127.0.0.1', HostPort: String(port) }]])) },
})

async function answer(method, path, body) {
  const [, , id, action] = path.split('/')
  const container = containers.get(id)
  switch (`${method} ${path.replace(id, '*')}`) {
    case 'GET /info': return { OperatingSystem: 'test', OSType: 'linux', Architecture: 'x86_64', ServerVersion: '28.0.0', Labels: [], IndexServerAddress: 'https://index.docker.io/v1/' }
    case 'GET /version': return { Version: '28.0.0', ApiVersion: '1.44', MinAPIVersion: '1.24', Os: 'linux', Arch: 'amd64' }
    case 'GET /images/*/json': return { Id: 'sha256:0', RepoTags: ['snowglobe:latest'], Config: {} }
    case 'GET /networks/*': case 'GET /networks': return id ? { Id: 'bridge', Name: 'bridge', IPAM: { Config: [{ Gateway: '127.0.0.1' }] } } : [{ Id: 'bridge', Name: 'bridge', Driver: 'bridge', Scope: 'local' }]
    case 'GET /containers/*': return []
    case 'POST /containers/*': { // create
      const made = { id: `c${containers.size + 1}`.padEnd(64, '0'), config: body, ports: {} }
      for (const port of Object.keys(body.ExposedPorts ?? {})) made.ports[port] = await freePort()
      containers.set(made.id, made)
      return { Id: made.id, Warnings: [] }
    }
    case 'POST /containers/*/start': {
      const args = container.config.Cmd.map((word) => word.replace(/^0\.0\.0\.0:(\d+)$/, (_, port) => `0.0.0.0:${container.ports[`${port}/tcp`]}`))
      container.process = spawn(program, args, { stdio: 'inherit' })
      return undefined
    }
    case 'GET /containers/*/json': return inspect(container)
    case 'GET /containers/*/logs': return ''
    case 'POST /containers/*/stop': case 'DELETE /containers/*': {
      const running = container.process
      if (running && running.exitCode === null && running.signalCode === null) {
        running.kill()
        await once(running, 'exit')
      }
      return undefined
    }
    case 'POST /containers/*/wait': return { StatusCode: 0 }
  }
  console.error(`not known: ${method} ${path} ${action}`)
  return null
}

const server = listen(async (request, response) => {
  const path = new URL(request.url, 'http://localhost').pathname.replace(/^\/v1\.\d+/, '')
  if (path === '/_ping') return response.writeHead(200, { 'api-version': '1.44', 'ostype': 'linux' }).end('OK')
  const raw = await text(request)
  const said = await answer(request.method, path, raw === '' ? undefined : JSON.parse(raw)).catch((problem) => { console.error(problem); return null })
  if (said === undefined) return response.writeHead(204).end()
  if (said === null) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"not known"}')
  response.writeHead(request.method === 'POST' && path.endsWith('/create') ? 201 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
}).listen(0, '127.0.0.1', () => console.log(`tcp://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => {
  for (const { process: running } of containers.values()) running?.kill()
  process.exit(0)
})
