// Deploys contracts with hardhat-viem, Ignition and OpenZeppelin's upgrades plugin, and verifies each with hardhat-verify.
import assert from 'node:assert/strict'

import hre from 'hardhat'
import { verifyContract } from '@nomicfoundation/hardhat-verify/verify'
import { upgrades } from '@openzeppelin/hardhat-upgrades/viem'

import deployed from './module.mjs'

const url = process.env.SNOWGLOBE_URL
const connection = await hre.network.create('snowglobe')
const { viem, ignition } = connection

async function source(address) {
  const answer = await (await fetch(`${url}/v2/api?chainid=43114&module=contract&action=getsourcecode&address=${address}`)).json()
  return answer.result[0]
}

async function checkVerified(address, name, constructorArguments) {
  const verified = await source(address)
  assert.equal(verified.ContractName, name)
  assert.match(verified.SourceCode, new RegExp(`contract ${name} `))
  assert.equal(verified.CompilerVersion, 'v0.8.30+commit.73712a01')
  if (constructorArguments !== undefined) assert.ok(verified.ConstructorArguments.includes(Buffer.from(constructorArguments).toString('hex')))
  const artifact = await hre.artifacts.readArtifact(name)
  assert.deepEqual(JSON.parse(verified.ABI), artifact.abi)
  return verified
}

for (const [provider, name] of [['etherscan', 'First'], ['blockscout', 'Second'], ['sourcify', 'Third']]) {
  const constructorArgs = [BigInt(name.length), provider]
  const contract = await viem.deployContract(name, constructorArgs)
  assert.equal((await source(contract.address)).SourceCode, '')
  await verifyContract({ address: contract.address, constructorArgs, provider }, hre)
  await checkVerified(contract.address, name, provider)
  const sourcify = await (await fetch(`${url}/v2/contract/43114/${contract.address}?fields=compilation`)).json()
  assert.equal(sourcify.match, 'exact_match')
  assert.equal(sourcify.creationMatch, 'exact_match')
  assert.equal(sourcify.compilation.name, name)
}

const { third, fourth } = await ignition.deploy(deployed, { deploymentId: 'snowglobe' })
await checkVerified(third.address, 'Third', 'ignition') // its code is that of the one above
assert.equal((await source(fourth.address)).SourceCode, '')
await hre.tasks.getTask(['ignition', 'verify']).run({ deploymentId: 'snowglobe', force: false })
assert.equal(process.exitCode ?? 0, 0)
await checkVerified(fourth.address, 'Fourth', 'ignition')

const api = await upgrades(hre, connection)
const box = await api.deployProxy('Box', [42n])
await hre.tasks.getTask('verify').run({ address: box.address })
const proxy = await source(box.address)
assert.equal(proxy.Proxy, '1')
await checkVerified(proxy.Implementation, 'Box')
const upgraded = await api.upgradeProxy(box.address, 'BoxV2')
await upgraded.write.increase()
assert.equal(await upgraded.read.value(), 43n)
await hre.tasks.getTask('verify').run({ address: box.address })
const after = await source(box.address)
assert.notEqual(after.Implementation, proxy.Implementation)
await checkVerified(after.Implementation, 'BoxV2')
const page = await (await fetch(`${url}/sim/explorer/43114/address/${box.address}/contract`)).text()
assert.match(page, /increase\(\)/) // what the proxy delegates
assert.match(page, /contract TransparentUpgradeableProxy is/)
// Sources that import each other are compiled, and nothing is read that no client sent.
const unknown = await viem.getPublicClient().then(async (client) => {
  const [wallet] = await viem.getWalletClients()
  const hash = await wallet.sendTransaction({ data: '0x6001600c60003960016000f300' })
  return (await client.waitForTransactionReceipt({ hash })).contractAddress
})
for (const [sources, reason] of [
  [{ 'A.sol': 'import "B.sol"; contract A {}', 'B.sol': 'import "A.sol"; contract B {}' }, /^A compiles to \d+ bytes that are not the 1 bytes at the address/],
  [{ 'A.sol': 'import "../../../../../../etc/passwd"; contract A {}' }, /Source "etc\/passwd" not found/],
  [{ 'A.sol': 'import "/etc/passwd"; contract A {}' }, /Source "\/etc\/passwd" not found/],
  [{ 'A.sol': 'import "file:///etc/passwd"; contract A {}' }, /Source "file:\/\/\/etc\/passwd" not found/],
]) {
  const stdJsonInput = { language: 'Solidity', sources: Object.fromEntries(Object.entries(sources).map(([name, content]) => [name, { content }])), settings: {} }
  const request = { stdJsonInput, compilerVersion: '0.8.30+commit.73712a01', contractIdentifier: 'A.sol:A' }
  const headers = { 'Content-Type': 'application/json' }
  const { verificationId } = await (await fetch(`${url}/v2/verify/43114/${unknown}`, { method: 'POST', headers, body: JSON.stringify(request) })).json()
  let job
  do job = await (await fetch(`${url}/v2/verify/${verificationId}`)).json()
  while (!job.isJobCompleted)
  assert.match(job.error.message.replace('the compiler says: ParserError: ', ''), reason)
}
console.log('hardhat-verify, Ignition and the upgrades plugin: ok')
