// ERC-4337: Pimlico's bundler takes user operations that permissionless makes, simulates them, and lands them
// through the EntryPoint that the CREATE2 deployer has deployed.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createSmartAccountClient } from 'permissionless'
import { toSimpleSmartAccount } from 'permissionless/accounts'
import { createPimlicoClient } from 'permissionless/clients/pimlico'
import { concat, createWalletClient, encodeAbiParameters, encodeFunctionData, getAddress, http, parseEther, parseEventLogs } from 'viem'
import { entryPoint07Abi, entryPoint07Address, toPackedUserOperation } from 'viem/account-abstraction'
import { mnemonicToAccount } from 'viem/accounts'

import { Tally } from '../clients/tally.mjs'
import { abi, mnemonic, persona, world } from '../clients/world.mjs'
import { network, observe } from './client.mjs'

const tally = new Tally()
const erc4337 = (name) => JSON.parse(readFileSync(new URL(`node_modules/@account-abstraction/contracts/artifacts/${name}.json`, import.meta.url)))
const entryPoint = { address: entryPoint07Address, abi: entryPoint07Abi }

/** Starts the bundler, which deploys contracts of its own for simulations, and resolves to its address. */
async function bundler(chain) {
  const alto = spawn(process.execPath, ['--import', './loopback.mjs', 'node_modules/@pimlico/alto/esm/cli/alto.js', 'run', '--entrypoints', entryPoint.address, '--rpc-url', chain.rpcUrl,
    '--executor-private-keys', persona.bob.privateKey, '--utility-private-key', persona.whale.privateKey, '--deploy-simulations-contract', 'true', '--safe-mode', 'false',
    '--port', '0', '--json', 'true'], { cwd: new URL('.', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] })
  process.on('exit', () => alto.kill())
  let said = ''
  const url = await new Promise((resolve, reject) => {
    alto.stdout.on('data', (part) => {
      said += part
      const listening = said.match(/Server listening at (http:\/\/[\d.:]+)/)
      if (listening) resolve(listening[1])
    })
    alto.on('exit', (code) => reject(new Error(`alto ended with ${code}: ${said}`)))
  })
  return { url, stop: () => alto.kill() }
}

async function onChain(chain) {
  const client = observe(chain)
  if (!(await client.getCode({ address: entryPoint.address }))) {
    // The world file has put it on one chain. Here it comes as its authors deploy it, to the same address.
    const salt = '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3'
    const data = concat([salt, erc4337('EntryPoint').bytecode])
    const hash = await client.request({ method: 'eth_sendTransaction', params: [{ from: persona.deployer.address, to: '0x4e59b44847b379578588920cA78FbF26c0B4956C', data }] })
    tally.same('the deployment of EntryPoint', [(await client.waitForTransactionReceipt({ hash })).status, (await client.getCode({ address: entryPoint.address }))?.length > 2], ['success', true])
  }
  const { url, stop } = await bundler(chain)
  const pimlico = createPimlicoClient({ chain: network(chain), transport: http(url), entryPoint: { address: entryPoint.address, version: '0.7' } })
  tally.same('what the bundler serves', [await pimlico.getChainId(), await pimlico.getSupportedEntryPoints()], [Number(chain.chainId), [entryPoint.address]])

  const wallet = createWalletClient({ chain: network(chain), account: mnemonicToAccount(mnemonic), transport: http() })
  const mined = async (hash) => client.waitForTransactionReceipt({ hash: await hash })
  const deploy = async (name, ...args) => {
    const { abi, bytecode } = erc4337(name)
    return { abi, address: (await mined(wallet.deployContract({ abi, bytecode, args }))).contractAddress }
  }
  const factory = await deploy('SimpleAccountFactory', entryPoint.address)
  const usdx = { address: chain.of('usdx'), abi: abi('Token') }
  const receiver = mnemonicToAccount(mnemonic, { accountIndex: 45 }).address
  const tokens = (address) => client.readContract({ ...usdx, functionName: 'balanceOf', args: [address] })
  const transfer = (amount) => ({ to: usdx.address, data: encodeFunctionData({ ...usdx, functionName: 'transfer', args: [receiver, amount] }) })
  const deposit = (address) => client.readContract({ ...entryPoint, functionName: 'balanceOf', args: [address] })
  const owned = async (accountIndex, paymaster) => {
    const account = await toSimpleSmartAccount({ client, owner: mnemonicToAccount(mnemonic, { accountIndex }), factoryAddress: factory.address, entryPoint: { address: entryPoint.address, version: '0.7' } })
    const smart = createSmartAccountClient({
      account, chain: network(chain), bundlerTransport: http(url), client, pollingInterval: 50, paymaster,
      userOperation: { estimateFeesPerGas: async () => (await pimlico.getUserOperationGasPrice()).fast },
    })
    const nonce = () => client.readContract({ ...entryPoint, functionName: 'getNonce', args: [account.address, 0n] })
    const land = async (calls, more) => {
      const hash = await smart.sendUserOperation({ calls, nonce: await nonce(), ...more })
      const { receipt: { transactionHash } } = await smart.waitForUserOperationReceipt({ hash, timeout: 60_000 })
      const { logs, to, status, from } = await client.getTransactionReceipt({ hash: transactionHash })
      const [event] = parseEventLogs({ abi: entryPoint.abi, logs, eventName: 'UserOperationEvent', args: { userOpHash: hash } })
      return { hash, transactionHash, to, from, status, event: event.args, logs }
    }
    return { address: account.address, smart, land }
  }

  // The first operation makes the account, pays and moves a token, in one transaction of the bundler's.
  const own = await owned(46)
  await mined(wallet.sendTransaction({ to: own.address, value: parseEther('3') }))
  await mined(wallet.writeContract({ ...usdx, functionName: 'transfer', args: [own.address, 100n] }))
  tally.same('the code of the account before', await client.getCode({ address: own.address }), undefined)
  const had = [await client.getBalance({ address: receiver }), await tokens(receiver)]
  const first = await own.land([{ to: receiver, value: parseEther('1') }, transfer(30n)])
  tally.same('how it landed', [first.status, first.to, first.from], ['success', entryPoint.address.toLowerCase(), persona.bob.address.toLowerCase()])
  tally.same('what EntryPoint said', [first.event.sender, first.event.nonce, first.event.success], [own.address, 0n, true])
  tally.same('what it made', [(await client.getCode({ address: own.address })).length > 2, await client.readContract({ address: own.address, abi: erc4337('SimpleAccount').abi, functionName: 'owner' })],
    [true, mnemonicToAccount(mnemonic, { accountIndex: 46 }).address])
  tally.same('what it moved', [await client.getBalance({ address: receiver }) - had[0], await tokens(receiver) - had[1], await tokens(own.address)], [parseEther('1'), 30n, 70n])
  tally.same('what it cost', await client.getBalance({ address: own.address }) + await deposit(own.address), parseEther('2') - first.event.actualGasCost)
  tally.same('what the bundler knows of it', (await pimlico.getUserOperation({ hash: first.hash })).transactionHash, first.transactionHash)

  // The bundler simulates, and hands on why a call fails; sent all the same, it costs gas and its nonce.
  const greedy = [transfer(10n ** 30n)]
  await tally.fails('a call that fails', own.smart.sendUserOperation({ calls: greedy, nonce: 1n }), (e) => /reverted/.test(e.message))
  const failed = await own.land(greedy, { callGasLimit: 100_000n, verificationGasLimit: 200_000n, preVerificationGas: 100_000n })
  tally.same('the same without simulation', [failed.status, failed.event.success, failed.event.nonce, await tokens(own.address)], ['success', false, 1n, 70n])

  // A paymaster pays for an account that has nothing.
  const signer = mnemonicToAccount(mnemonic)
  const paymaster = await deploy('VerifyingPaymaster', entryPoint.address, signer.address)
  await mined(wallet.writeContract({ ...paymaster, functionName: 'deposit', value: parseEther('5') }))
  await mined(wallet.writeContract({ ...paymaster, functionName: 'addStake', args: [86_400], value: parseEther('1') }))
  const until = encodeAbiParameters([{ type: 'uint48' }, { type: 'uint48' }], [2 ** 40, 0])
  const gas = { paymasterVerificationGasLimit: 100_000n, paymasterPostOpGasLimit: 50_000n }
  const sponsored = await owned(47, {
    getPaymasterStubData: async () => ({ paymaster: paymaster.address, paymasterData: concat([until, `0x${'fe'.repeat(31)}01${'22'.repeat(32)}1c`]), ...gas }),
    getPaymasterData: async (op) => {
      const data = concat([until, `0x${'00'.repeat(65)}`])
      const packed = toPackedUserOperation({ ...op, ...gas, paymaster: paymaster.address, paymasterData: data })
      const hash = await client.readContract({ ...paymaster, functionName: 'getHash', args: [packed, 2 ** 40, 0] })
      return { paymaster: paymaster.address, paymasterData: concat([until, await signer.signMessage({ message: { raw: hash } })]), ...gas }
    },
  })
  const stock = await deposit(paymaster.address)
  const free = await sponsored.land([{ to: receiver, value: 0n, data: '0x' }])
  tally.same('who paid', [free.event.success, free.event.paymaster, stock - await deposit(paymaster.address), await client.getBalance({ address: sponsored.address })],
    [true, getAddress(paymaster.address), free.event.actualGasCost, 0n])
  stop()
}

for (const chain of world.chains.filter((c) => c.isC)) await tally.group(`Alto, ${chain.title}`, () => onChain(chain))
tally.end()
