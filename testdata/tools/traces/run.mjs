// Runs the cases against the simulator at $SNOWGLOBE_URL with the artifacts of one build: node run.mjs NAME FOLDER
import { strict as assert } from 'node:assert'
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { concatHex, createPublicClient, decodeErrorResult, encodeDeployData, encodeFunctionData, getContractAddress, http, numberToHex } from 'viem'
import { JsonRpcProvider } from 'ethers'

import { cases } from './cases.mjs'

const [build, folder] = process.argv.slice(2)
const base = process.env.SNOWGLOBE_URL
const rpcURL = `${base}/ext/bc/C/rpc`

const ask = async (method, route, body) => {
  const response = await fetch(base + route, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
  const answer = await response.json()
  assert(response.ok, JSON.stringify(answer))
  return answer
}
const rpc = async (method, ...params) => (await (await fetch(rpcURL, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
})).json())
const ok = async (method, ...params) => {
  const answer = await rpc(method, ...params)
  assert(!answer.error, `${method}: ${JSON.stringify(answer.error)}`)
  return answer.result
}

// Artifacts of either form, by name.
const artifacts = {}
for (const entry of readdirSync(folder, { recursive: true })) {
  if (!entry.endsWith('.json') || entry.includes('build-info') || entry.includes('.dbg.')) continue
  const a = JSON.parse(readFileSync(path.join(folder, entry)))
  artifacts[path.basename(entry, '.json')] = { abi: a.abi, bytecode: a.bytecode.object ?? a.bytecode, links: a.bytecode.linkReferences ?? a.linkReferences }
}
const read = await ask('POST', '/sim/artifacts', { path: folder })
assert.deepEqual(read.folders.find((f) => f.path === folder)?.problems ?? [], [])

const [alice, bob] = await ok('eth_accounts')
const zero = `0x${'0'.repeat(40)}`
await ok('anvil_impersonateAccount', zero)
await ok('anvil_setBalance', zero, numberToHex(10n ** 20n))
const accounts = { alice, bob, zero }

const addresses = {}
const linked = (name) => {
  let code = artifacts[name].bytecode.replace(/^0x/, '')
  for (const libraries of Object.values(artifacts[name].links ?? {})) {
    for (const [library, places] of Object.entries(libraries)) {
      for (const { start, length } of places) {
        code = code.slice(0, 2 * start) + addresses[library].slice(2).toLowerCase() + code.slice(2 * (start + length))
      }
    }
  }
  return `0x${code}`
}
const deployData = (name, args) => encodeDeployData({ abi: artifacts[name].abi, bytecode: linked(name), args })
const deploy = async (name, ...args) => {
  const hash = await ok('eth_sendTransaction', { from: alice, data: deployData(name, args), gas: numberToHex(6_000_000n) })
  const receipt = await ok('eth_getTransactionReceipt', hash)
  assert.equal(receipt.status, '0x1', name)
  addresses[name] = receipt.contractAddress
}
await deploy('Ledger')
await deploy('Vault', 100n)
await deploy('Bottom')
await deploy('Middle', addresses.Bottom)
await deploy('Top', addresses.Middle)
await deploy('Receiver')
await deploy('Fallback')
await deploy('Proxy', addresses.Bottom)
await deploy('Cloner')
const cloned = await ok('eth_sendTransaction', { from: alice, to: addresses.Cloner, gas: numberToHex(1_000_000n), data: encodeFunctionData({ abi: artifacts.Cloner.abi, functionName: 'clone', args: [addresses.Bottom] }) })
addresses.clone = `0x${(await ok('eth_getTransactionReceipt', cloned)).logs[0].data.slice(26)}`

const value = (arg) => {
  if (arg?.address) return addresses[arg.address]
  if (arg?.encode) return encodeFunctionData({ abi: artifacts[arg.encode[0]].abi, functionName: arg.encode[1], args: arg.encode[2] })
  return arg
}
const request = (what) => {
  const [name, fn, args, options = {}] = what.deploy ? [what.deploy[0], null, what.deploy[1], what.deploy[2]] : (what.call ?? what.send ?? what.estimate)
  const tx = { from: accounts[options.as ?? 'alice'], gas: numberToHex(options.gas ?? 6_000_000n) }
  if (what.deploy) {
    tx.data = deployData(name, args)
  } else {
    tx.to = addresses[options.through ?? name]
    if (options.data !== undefined) {
      const selector = fn ? encodeFunctionData({ abi: artifacts[name].abi, functionName: fn, args: [0n] }).slice(0, 10) : '0x'
      tx.data = concatHex([selector, options.data])
    } else {
      tx.data = encodeFunctionData({ abi: artifacts[name].abi, functionName: fn, args: args.map(value) })
    }
  }
  if (options.value) tx.value = numberToHex(options.value)
  return tx
}

const failures = []
let lines = 0
let untold = 0
for (const [name, what, [fn, source, line, reason, callers = [], silent = []]] of cases) {
  const tx = request(what)
  let failure
  if (what.send) {
    const hash = await ok('eth_sendTransaction', tx)
    assert.equal((await ok('eth_getTransactionReceipt', hash)).status, '0x0', name)
    failure = (await ask('GET', `/sim/transactions/${hash}/trace`)).failure
  } else {
    const { error } = what.estimate ? await rpc('eth_estimateGas', tx) : await rpc('eth_call', tx, 'latest')
    assert(error, `${name} did not fail`)
    failure = error.data
  }
  try {
    assert(failure?.stack, 'no explanation')
    const [top, ...below] = failure.stack
    const label = (f) => [f.contract ?? 'unknown', f.function].filter(Boolean).join('.')
    if (reason instanceof RegExp) assert.match(failure.reason, reason)
    else assert.equal(failure.reason, reason)
    if (fn === 'unknown') assert(!top.contract)
    else assert.equal(label(top), fn)
    for (const caller of callers) assert(below.some((f) => label(f) === caller), `${caller} is not below: ${failure.trace ?? JSON.stringify(failure.stack)}`)
    if (line !== null) {
      if (top.note) { // said plainly: no line is better than a wrong one
        assert(silent.includes(build), `no line: ${top.note}`)
        untold++
      } else {
        assert(!silent.includes(build), 'a line where none was expected')
        assert(top.source.endsWith(`/${source}`), top.source)
        if (line instanceof RegExp) assert.match(top.code, line)
        else assert(top.code.includes(line), `${top.line}: ${top.code}`)
        lines++
      }
    } else if (source) {
      assert(top.note, `line ${top.line}`)
    }
  } catch (e) {
    failures.push(`${build}, ${name}: ${e.message}\n${failure?.trace ?? JSON.stringify(failure)}`)
  }
}

// Libraries still parse the bytes.
const bubble = request({ call: ['Top', 'bubble', [1n]] })
const viem = createPublicClient({ transport: http(rpcURL) })
const caught = await viem.readContract({ address: addresses.Top, abi: [...artifacts.Top.abi, ...artifacts.Bottom.abi], functionName: 'bubble', args: [1n] }).catch((e) => e)
const reverted = caught.walk((e) => e.name === 'ContractFunctionRevertedError')
assert.equal(reverted.data.errorName, 'Deep')
assert.deepEqual(reverted.data.args, ['it is', [0n, 1n]])
const plain = await viem.readContract({ address: addresses.Vault, abi: artifacts.Vault.abi, functionName: 'withText', args: [11n] }).catch((e) => e)
assert.equal(plain.walk((e) => e.name === 'ContractFunctionRevertedError').reason, 'Vault: too much }{')
const provider = new JsonRpcProvider(rpcURL, undefined, { staticNetwork: true })
const ethersError = await provider.call({ to: bubble.to, data: bubble.data, from: alice }).catch((e) => e)
assert.equal(ethersError.code, 'CALL_EXCEPTION')
assert.equal(decodeErrorResult({ abi: artifacts.Bottom.abi, data: ethersError.data }).errorName, 'Deep')
const ethersText = await provider.call({ ...request({ call: ['Vault', 'withText', [11n]] }), gas: undefined }).catch((e) => e)
assert.equal(ethersText.reason, 'Vault: too much }{')
provider.destroy()

// The journal has the functions and what was logged; history does not.
await rpc('eth_call', request({ call: ['Vault', 'logged', [0n]] }), 'latest')
const latest = (await ask('GET', '/sim/requests?operation=eth_call&limit=1')).requests[0].calls[0]
assert.equal(latest.decoded, 'Vault.logged(n: 0)')
assert.deepEqual(latest.console, ['Vault.logged: Vault: n is 0'])
const sent = await ok('eth_sendTransaction', request({ send: ['Vault', 'logged', [0n]] }))
assert.deepEqual((await ask('GET', `/sim/transactions/${sent}/trace`)).console.map((m) => [m.contract, m.function, m.message]), [['Vault', 'logged', 'Vault: n is 0']])

if (failures.length > 0) throw new Error(failures.join('\n\n'))
console.log(`${build}: ${cases.length} failures explained, ${lines} with their line, ${untold} where the compiler tells none`)
