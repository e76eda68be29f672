// MetaMask without a browser: its controllers add the networks, follow their blocks, estimate fees, and send, speed up and cancel
// transactions that the keys of a persona sign.
import { GasFeeController } from '@metamask/gas-fee-controller'
import { Messenger } from '@metamask/messenger'
import { NetworkController, RpcEndpointType } from '@metamask/network-controller'
import { TransactionController } from '@metamask/transaction-controller'
import { encodeFunctionData, getContractAddress, parseEther, parseGwei, toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'

import { Tally } from '../clients/tally.mjs'
import { abi, artifact, mnemonic, persona, world } from '../clients/world.mjs'
import { observe, until } from './client.mjs'

const tally = new Tally()
const account = mnemonicToAccount(mnemonic)
const alice = account.address.toLowerCase()
const bob = persona.bob.address
const key = account.getHdKey().privateKey

// connect builds the controllers as MetaMask's extension does, with shorter intervals. The user approves what approves returns true for.
function connect(approves) {
  const root = new Messenger({ namespace: 'Root' })
  const part = (namespace, actions, events) => {
    const messenger = new Messenger({ namespace, parent: root })
    root.delegate({ messenger, actions, events })
    return messenger
  }
  const answer = (name, handler) => {
    const [namespace] = name.split(':')
    new Messenger({ namespace, parent: root }).registerActionHandler(name, handler)
  }
  answer('ApprovalController:addRequest', async ({ requestData: { txId } }) => {
    const shown = await until('its fees are shown', () => transactions.state.transactions.find((t) => t.id === txId && t.gasFeeEstimatesLoaded))
    if (!approves(shown)) throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
    return { resultCallbacks: undefined }
  })
  const selected = { id: 'alice', address: alice, type: 'eip155:eoa' }
  answer('AccountsController:getSelectedAccount', () => selected)
  answer('AccountsController:getState', () => ({ internalAccounts: { accounts: { alice: selected }, selectedAccount: 'alice' } }))
  answer('RemoteFeatureFlagController:getState', () => ({ remoteFeatureFlags: { confirmations_transactions: { acceleratedPolling: { defaultCountMax: 50, defaultIntervalMs: 100 } } } }))

  const networks = new NetworkController({
    messenger: part('NetworkController', [], []),
    infuraProjectId: '00000000000000000000000000000000',
    getRpcServiceOptions: () => ({ fetch, btoa }),
    getBlockTrackerOptions: () => ({ pollingInterval: 100 }),
  })
  const on = (id) => networks.getNetworkClientById(id)
  const fees = new GasFeeController({
    messenger: part('GasFeeController', ['NetworkController:getState', 'NetworkController:getNetworkClientById', 'NetworkController:getEIP1559Compatibility'],
      ['NetworkController:networkDidChange']),
    clientId: 'extension',
    getProvider: () => networks.getProviderAndBlockTracker().provider,
    onNetworkDidChange: undefined,
    getCurrentNetworkEIP1559Compatibility: () => networks.getEIP1559Compatibility(),
    getCurrentAccountEIP1559Compatibility: () => true,
    getCurrentNetworkLegacyGasAPICompatibility: () => false,
    EIP1559APIEndpoint: 'http://127.0.0.1:1/<chain_id>', legacyAPIEndpoint: 'http://127.0.0.1:1/<chain_id>',
  })
  const transactions = new TransactionController({
    messenger: part('TransactionController', ['ApprovalController:addRequest', 'AccountsController:getSelectedAccount', 'AccountsController:getState', 'RemoteFeatureFlagController:getState',
      'NetworkController:findNetworkClientIdByChainId', 'NetworkController:getNetworkClientById'], ['NetworkController:stateChange']),
    disableHistory: true, disableSendFlowHistory: true, disableSwaps: true, transactionHistoryLimit: 100,
    getCurrentNetworkEIP1559Compatibility: () => networks.getEIP1559Compatibility(),
    getGasFeeEstimates: (options) => fees.fetchGasFeeEstimates(options),
    getNetworkClientRegistry: () => networks.getNetworkClientRegistry(),
    getNetworkState: () => networks.state,
    incomingTransactions: { isEnabled: () => false },
    isFirstTimeInteractionEnabled: () => false, isSimulationEnabled: () => false, // both ask servers of MetaMask
    pendingTransactions: { isResubmitEnabled: () => true },
    sign: async (tx) => tx.sign(key),
    hooks: {},
  })
  return { networks, fees, transactions, on }
}

async function onChain(chain, { networks, fees, transactions, on }) {
  const chainId = toHex(Number(chain.chainId))
  const client = observe(chain)
  const usdx = { address: chain.of('usdx'), abi: abi('Token') }

  // The network, as wallet_addEthereumChain brings it in.
  const known = networks.getNetworkConfigurationByChainId(chainId)
  if (known) networks.removeNetwork(chainId)
  const { rpcEndpoints: [{ networkClientId }] } = networks.addNetwork({
    chainId, name: `${chain.name} of a simulator`, nativeCurrency: chain.networkToken, blockExplorerUrls: [], defaultRpcEndpointIndex: 0,
    rpcEndpoints: [{ type: RpcEndpointType.Custom, url: chain.rpcUrl, name: chain.name }],
  })
  await networks.setActiveNetwork(networkClientId)
  await networks.lookupNetwork()
  tally.same('what MetaMask finds out about the network', networks.state.networksMetadata[networkClientId], { status: 'available', EIPS: { 1559: true } })
  const { blockTracker } = on(networkClientId)
  tally.same('the block it shows', BigInt(await blockTracker.getLatestBlock()), await client.getBlockNumber())
  const followed = new Promise((resolve) => blockTracker.on('sync', ({ oldBlock, newBlock }) => { if (oldBlock && oldBlock !== newBlock) resolve(newBlock) }))
  await client.mine({ blocks: 1 })
  tally.same('the block that it is shown next', BigInt(await followed), await client.getBlockNumber())

  // Where MetaMask's own server does not answer, it takes the node's price.
  const { gasEstimateType, gasFeeEstimates } = await fees.fetchGasFeeEstimates({ networkClientId })
  tally.same('the price it suggests', [gasEstimateType, parseGwei(gasFeeEstimates.gasPrice)], ['eth_gasPrice', await client.getGasPrice()])

  const meta = (id) => transactions.state.transactions.find((t) => t.id === id)
  const send = async (params, type) => {
    const { transactionMeta: { id }, result } = await transactions.addTransaction({ from: alice, ...params }, { networkClientId, origin: 'metamask' })
    await result
    tally.same('its type', meta(id).type, type)
    return id
  }
  const settled = (id) => until(`${id} settles`, () => !['approved', 'signed', 'submitted'].includes(meta(id).status) && meta(id))

  // A payment, for which MetaMask chooses nonce, gas and fees.
  const before = { alice: await client.getBalance({ address: alice }), bob: await client.getBalance({ address: bob }), nonce: await client.getTransactionCount({ address: alice }) }
  const paid = await settled(await send({ to: bob, value: toHex(parseEther('0.25')) }, 'simpleSend'))
  tally.same('the payment', paid.status, 'confirmed')
  const receipt = await client.getTransactionReceipt({ hash: paid.hash })
  const payment = await client.getTransaction({ hash: paid.hash })
  tally.same('its receipt', [receipt.status, receipt.gasUsed, BigInt(paid.txReceipt.effectiveGasPrice), paid.txReceipt.blockHash],
    ['success', 21000n, receipt.effectiveGasPrice, receipt.blockHash])
  tally.same('its fields', [payment.type, payment.nonce, payment.maxFeePerGas, payment.maxPriorityFeePerGas],
    ['eip1559', before.nonce, BigInt(paid.txParams.maxFeePerGas), BigInt(paid.txParams.maxPriorityFeePerGas)])
  tally.same('what bob got', await client.getBalance({ address: bob }) - before.bob, parseEther('0.25'))
  tally.same('what alice paid', before.alice - await client.getBalance({ address: alice }), parseEther('0.25') + receipt.gasUsed * receipt.effectiveGasPrice)

  // Contracts: one deployed, one called.
  const deployed = await settled(await send({ data: artifact('Multicall3').bytecode }, 'contractDeployment'))
  tally.same('the code of what it deployed', await client.getCode({ address: getContractAddress({ from: alice, nonce: BigInt(deployed.txParams.nonce) }) }), artifact('Multicall3').deployedBytecode)
  const holds = () => client.readContract({ ...usdx, functionName: 'balanceOf', args: [bob] })
  const held = await holds()
  const moved = await settled(await send({ to: usdx.address, data: encodeFunctionData({ abi: usdx.abi, functionName: 'transfer', args: [bob, 5n] }) }, 'transfer'))
  tally.same('what a token moved', [moved.status, await holds() - held], ['confirmed', 5n])

  // A call that reverts: MetaMask warns, and sends it where the user insists.
  const failing = { to: usdx.address, data: encodeFunctionData({ abi: usdx.abi, functionName: 'transfer', args: [bob, 2n ** 250n] }) }
  const warned = await send({ ...failing }, 'transfer').catch((e) => e)
  const insisted = await settled(warned)
  tally.same('whether it warned', [moved, insisted].map((t) => t.simulationFails !== undefined), [false, true])
  tally.same('what it says of the outcome', [insisted.status, (await client.getTransactionReceipt({ hash: insisted.hash })).status], ['failed', 'reverted'])

  // While nothing is mined, on a busy chain (a tenth of a few wei is nothing, and makes no replacement): one transaction is sped up, one cancelled, one waits behind them.
  await client.setAutomine(false)
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('25') })
  const [slow, unwanted, last] = [await send({ to: bob, value: '0x1' }, 'simpleSend'), await send({ to: bob, value: toHex(parseEther('1')) }, 'simpleSend'), await send({ to: bob, value: '0x2' }, 'simpleSend')]
  const waiting = await client.getBalance({ address: bob })
  const first = Number(meta(slow).txParams.nonce)
  tally.same('their nonces', [slow, unwanted, last].map((id) => Number(meta(id).txParams.nonce)), [first, first + 1, first + 2])
  await transactions.speedUpTransaction(slow)
  await transactions.stopTransaction(unwanted)
  const replaced = (nonce, type) => transactions.state.transactions.find((t) => t.chainId === chainId && t.type === type && Number(t.txParams.nonce) === nonce)
  const [faster, cancelling] = [replaced(first, 'retry'), replaced(first + 1, 'cancel')]
  tally.same('what waits in the pool', new Set(Object.values((await client.getTxpoolContent()).pending).flatMap((of) => Object.values(of)).map((t) => t.hash)),
    new Set([faster.hash, cancelling.hash, meta(last).hash]))
  tally.same('what it pays', BigInt(faster.txParams.maxFeePerGas), BigInt(meta(slow).txParams.maxFeePerGas) * 11n / 10n)
  await tally.fails('the slow one again', client.sendRawTransaction({ serializedTransaction: meta(slow).rawTx }), (e) => /underpriced/.test(e.details))
  await client.mine({ blocks: 1 })
  tally.same('how they end', await Promise.all([slow, faster.id, unwanted, cancelling.id, last].map(async (id) => (await settled(id)).status)),
    ['dropped', 'confirmed', 'dropped', 'confirmed', 'confirmed'])
  tally.same('what bob got', await client.getBalance({ address: bob }) - waiting, 3n)
  tally.same('what became of the replaced', await Promise.all([slow, unwanted].map((id) => client.request({ method: 'eth_getTransactionByHash', params: [meta(id).hash] }))), [null, null])
  await client.setAutomine(true)

  // The user says no.
  const nonce = await client.getTransactionCount({ address: alice, blockTag: 'pending' })
  await tally.fails('a transaction that the user refuses', send({ to: bob, value: '0xbad' }), (e) => e.code === 4001)
  tally.same('the next nonce', await client.getTransactionCount({ address: alice, blockTag: 'pending' }), nonce)
}

const metamask = connect((transaction) => transaction.txParams.value !== '0xbad')
for (const chain of [...world.chains.filter((c) => c.isC), world.chains.find((c) => !c.isC)]) await tally.group(`MetaMask, ${chain.title}`, () => onChain(chain, metamask))
tally.end()
