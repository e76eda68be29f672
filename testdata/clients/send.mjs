// Sends transactions to every EVM chain of a running Snowglobe as people do who come from anvil or Hardhat: with viem's
// wallet and test clients in both modes, and with ethers.
import { ContractFactory, HDNodeWallet, JsonRpcProvider, WebSocketProvider } from 'ethers'
import {
  concat, createPublicClient, createTestClient, createWalletClient, getContractAddress, http, parseEventLogs, publicActions, toHex, walletActions, webSocket,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'

import { Tally } from './tally.mjs'
import { abi, artifact, mnemonic, persona, world } from './world.mjs'

const tally = new Tally()
const account = mnemonicToAccount(mnemonic)
const bob = persona.bob.address

const network = (chain) => ({
  id: Number(chain.chainId), name: chain.name,
  nativeCurrency: { name: chain.networkToken, symbol: chain.networkToken, decimals: 18 },
  rpcUrls: { default: { http: [chain.rpcUrl], webSocket: [chain.wsUrl] } },
})

// cause is the name of the error by which viem tells what went wrong.
const cause = (name) => (e) => e.walk?.((inner) => inner.name === name) != null

// withKnownContracts deploys through Safe's singleton factory, and has Permit2 move a token for whom its owner's signature names:
// both at the addresses that applications have in their code.
async function withKnownContracts(client, wallet, token) {
  const factory = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'
  const [salt, { bytecode }] = [toHex(await client.getBlockNumber(), { size: 32 }), artifact('Multicall3')]
  const made = await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to: factory, data: concat([salt, bytecode]) }) })
  const at = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode })
  tally.same('the factory of Safe', [made.status, await client.getCode({ address: at })], ['success', artifact('Multicall3').deployedBytecode])

  const permit2 = { address: '0x000000000022D473030F116dDEE9F6B43aC78BA3', abi: abi('Permit2') }
  const domain = { name: 'Permit2', chainId: client.chain.id, verifyingContract: permit2.address }
  await wallet.writeContract({ ...token, functionName: 'approve', args: [permit2.address, 1000n] })
  const message = { permitted: { token: token.address, amount: 7n }, spender: bob, nonce: await client.getBlockNumber(), deadline: 2n ** 64n }
  const signature = await wallet.signTypedData({
    domain, message, primaryType: 'PermitTransferFrom',
    types: {
      PermitTransferFrom: [{ name: 'permitted', type: 'TokenPermissions' }, { name: 'spender', type: 'address' }, { name: 'nonce', type: 'uint256' }, { name: 'deadline', type: 'uint256' }],
      TokenPermissions: [{ name: 'token', type: 'address' }, { name: 'amount', type: 'uint256' }],
    },
  })
  const permit = { permitted: message.permitted, nonce: message.nonce, deadline: message.deadline }
  const call = { ...permit2, account: bob, functionName: 'permitTransferFrom', args: [permit, { to: persona.collector.address, requestedAmount: 7n }, account.address, signature] }
  await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
  tally.same('what a permit moved', await client.readContract({ ...token, functionName: 'balanceOf', args: [persona.collector.address] }), 7n)
  await tally.fails('the permit again', client.simulateContract(call), (e) => /InvalidNonce/.test(e.message))
}

async function withViem(chain, mode) {
  const client = createTestClient({ chain: network(chain), mode, transport: http(), pollingInterval: 20 }).extend(publicActions).extend(walletActions)
  const wallet = createWalletClient({ chain: network(chain), account, transport: http() })
  const heads = []
  const hashes = []
  const listener = createPublicClient({ chain: network(chain), transport: webSocket() })
  const unwatch = [listener.watchBlockNumber({ onBlockNumber: (n) => heads.push(n) }),
    listener.watchPendingTransactions({ onTransactions: (all) => hashes.push(...all) })]
  await new Promise((resolve) => setTimeout(resolve, 100))
  const start = await client.getBlockNumber()

  const deployed = await client.waitForTransactionReceipt({ hash: await wallet.deployContract({ abi: abi('Token'), bytecode: artifact('Token').bytecode, args: tokenArguments }) })
  tally.same('deployed', [deployed.status, deployed.blockNumber], ['success', start + 1n])
  const token = { address: deployed.contractAddress, abi: abi('Token') }
  const sent = await client.waitForTransactionReceipt({ hash: await wallet.writeContract({ ...token, functionName: 'transfer', args: [bob, 5n] }) })
  const [transfer] = parseEventLogs({ abi: token.abi, logs: sent.logs, eventName: 'Transfer' })
  tally.same('the event', [transfer.args.to, transfer.args.value], [bob, 5n])
  tally.same('the balance', await client.readContract({ ...token, functionName: 'balanceOf', args: [bob] }), 5n)
  await withKnownContracts(client, wallet, token)
  await tally.fails('a revert', wallet.writeContract({ address: chain.of('reverter'), abi: abi('Reverter'), functionName: 'withReason', args: ['no snow'] }),
    (e) => /no snow/.test(e.message))
  await tally.fails('an old nonce', wallet.sendTransaction({ to: bob, nonce: 0 }), cause('NonceTooLowError'))
  await tally.fails('too much', wallet.sendTransaction({ to: bob, value: 10n ** 40n, gas: 21000n }), cause('InsufficientFundsError'))
  await tally.fails('too little gas', wallet.sendTransaction({ to: bob, gas: 20000n }), cause('IntrinsicGasTooLowError'))
  await tally.fails('too much gas', wallet.sendTransaction({ to: bob, gas: 200_000_000n, maxFeePerGas: 10n ** 10n }), (e) => /exceeds block gas limit/.test(e.details))

  const unlocked = await client.sendTransaction({ account: persona.bob.address, to: account.address, value: 1n })
  tally.same('an account of the node', (await client.getTransactionReceipt({ hash: unlocked })).status, 'success')

  await client.setAutomine(false)
  if (mode === 'anvil') tally.same('automine', await client.getAutomine(), false)
  const waiting = await wallet.sendTransaction({ to: bob, value: 1n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 100n })
  const nonce = (await client.getTransaction({ hash: waiting })).nonce
  tally.same('it waits', (await client.getTxpoolStatus()).pending, 1)
  await tally.fails('cheap', wallet.sendTransaction({ to: bob, nonce, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 101n }), (e) => /replacement transaction underpriced/.test(e.details))
  const better = await wallet.sendTransaction({ to: bob, value: 2n, nonce, maxFeePerGas: 2n * 10n ** 10n, maxPriorityFeePerGas: 200n })
  const { timestamp } = await client.getBlock()
  await client.setNextBlockTimestamp({ timestamp: timestamp + 100n })
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 7n })
  await client.mine({ blocks: 1 })
  const mined = await client.getBlock()
  tally.same('as asked for', [mined.timestamp, mined.baseFeePerGas, mined.transactions], [timestamp + 100n, 7n, [better]])
  const dropped = await wallet.sendTransaction({ to: bob })
  await client.dropTransaction({ hash: dropped })
  await client.setAutomine(true)
  await client.mine({ blocks: 3, interval: 60 })
  tally.same('an hour apart', (await client.getBlock()).timestamp >= mined.timestamp + 120n, true)
  await client.setIntervalMining({ interval: 1 })
  const later = await wallet.sendTransaction({ to: bob })
  tally.same('by itself', (await client.waitForTransactionReceipt({ hash: later })).status, 'success')
  await client.setIntervalMining({ interval: 0 })
  await client.setAutomine(true)
  tally.same('heads', heads.at(-1) >= mined.number, true)
  tally.ok('pending transactions', hashes.includes(better) && hashes.includes(later))
  for (const stop of unwatch) stop()
}

// withControl changes what no transaction does, and sends for accounts without a key, with viem's test client.
async function withControl(chain, mode) {
  const client = createTestClient({ chain: network(chain), mode, transport: http(), pollingInterval: 20 }).extend(publicActions).extend(walletActions)
  const address = mode === 'anvil' ? '0x00000000000000000000000000000000000a0711' : '0x0000000000000000000000000000000000ba2da7'
  const token = chain.of('usdx')
  const start = await client.getBlockNumber()
  await client.setBalance({ address, value: 10n ** 19n })
  await client.setNonce({ address, nonce: 7 })
  await client.setStorageAt({ address, index: 3, value: `0x${'00'.repeat(31)}2a` })
  await client.setCode({ address, bytecode: '0x602a60005260206000f3' })
  tally.same('at once', [await client.getBalance({ address }), await client.getTransactionCount({ address }), await client.getCode({ address }), await client.getBlockNumber()],
    [10n ** 19n, 7, '0x602a60005260206000f3', start])
  tally.same('the slot', BigInt(await client.getStorageAt({ address, slot: '0x3' })), 42n)
  tally.same('the code', BigInt((await client.call({ to: address })).data), 42n)
  await client.request({ method: `${mode}_dealERC20`, params: [address, token, '0x64'] })
  tally.same('the token', await client.readContract({ address: token, abi: abi('Token'), functionName: 'balanceOf', args: [address] }), 100n)
  await tally.fails('not yet', client.sendTransaction({ account: address, to: bob, value: 1n }), (e) => /unknown account/.test(e.details))
  await client.impersonateAccount({ address })
  const hash = await client.writeContract({ account: address, address: token, abi: abi('Token'), functionName: 'transfer', args: [bob, 60n] })
  const receipt = await client.waitForTransactionReceipt({ hash })
  tally.same('its sender', [receipt.status, receipt.from, (await client.getTransaction({ hash })).from], ['success', address, address])
  await client.stopImpersonatingAccount({ address })
  await tally.fails('no longer', client.sendTransaction({ account: address, to: bob, value: 1n }), (e) => /unknown account/.test(e.details))
  tally.ok('a devnet', /^anvil\/v/.test(await client.request({ method: 'web3_clientVersion' })))
  tally.same('metadata', (await client.request({ method: 'hardhat_metadata' })).chainId, Number(chain.chainId))
}

// withEthers: ethers remembers answers, nonces among them, for a quarter of a second unless it is told not to, which is too long for a
// chain whose blocks are there at once.
async function withEthers(chain) {
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 })
  const socket = new WebSocketProvider(chain.wsUrl)
  const blocks = []
  await socket.on('block', (n) => blocks.push(n))
  const wallet = HDNodeWallet.fromPhrase(mnemonic).connect(provider)
  const token = await (await new ContractFactory(abi('Token'), artifact('Token').bytecode, wallet).deploy(...tokenArguments)).waitForDeployment()
  const receipt = await (await token.transfer(bob, 9n)).wait()
  tally.same('the event', [receipt.logs[0].fragment.name, receipt.logs[0].args[2]], ['Transfer', 9n])
  tally.same('the balance', await token.balanceOf(bob), 9n)
  await tally.fails('an old nonce', wallet.sendTransaction({ to: bob, nonce: 0 }), (e) => e.code === 'NONCE_EXPIRED')
  await tally.fails('too much', wallet.sendTransaction({ to: bob, value: 10n ** 40n, gasLimit: 21000n }), (e) => e.code === 'INSUFFICIENT_FUNDS')
  const signer = await provider.getSigner(bob)
  tally.same('an account of the node', (await (await signer.sendTransaction({ to: account.address, value: 1n })).wait()).status, 1)
  await provider.send('evm_setAutomine', [false])
  const nonce = await wallet.getNonce()
  await wallet.sendTransaction({ to: bob, nonce, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 100n })
  await tally.fails('cheap', wallet.sendTransaction({ to: bob, nonce, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 101n }), (e) => e.code === 'REPLACEMENT_UNDERPRICED')
  await provider.send('hardhat_mine', ['0x2', '0x5'])
  await provider.send('evm_setAutomine', [true])
  const head = await provider.getBlockNumber()
  for (let i = 0; i < 100 && !blocks.includes(head); i++) await new Promise((resolve) => setTimeout(resolve, 20))
  tally.ok('blocks', blocks.includes(head))
  await socket.destroy()
  provider.destroy()
}

const tokenArguments = artifact('Token').abi.find((entry) => entry.type === 'constructor').inputs.map(({ type }) =>
  type === 'string' ? 'Snow' : type === 'address' ? account.address : type.startsWith('uint8') ? 18 : 10n ** 24n)

for (const chain of world.chains) {
  await tally.group(`viem as for anvil, ${chain.title}`, () => withViem(chain, 'anvil'))
  await tally.group(`viem as for Hardhat, ${chain.title}`, () => withViem(chain, 'hardhat'))
  await tally.group(`viem's control as for anvil, ${chain.title}`, () => withControl(chain, 'anvil'))
  await tally.group(`viem's control as for Hardhat, ${chain.title}`, () => withControl(chain, 'hardhat'))
  await tally.group(`ethers, ${chain.title}`, () => withEthers(chain))
}
tally.end()
