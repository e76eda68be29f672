// The modules of Core, glacier-sdk and avacloud-sdk at the hosts that they compile in. Run it below exec --as-network --sealed.
// avacloud-sdk 0.13.0 cannot be made without a server's URL, since its own default is the path /, so it gets the one of its manual.
import { createRequire } from 'node:module'

import { Tally } from '../../clients/tally.mjs'
import { world } from '../../clients/world.mjs'

const require = createRequire(import.meta.url)
const { EvmModule } = require('@avalabs/evm-module')
const { AvalancheModule } = require('@avalabs/avalanche-module')
const { Environment, NetworkVMType, TokenType } = require('@avalabs/vm-module-types')
const { Glacier, OpenAPI } = require('@avalabs/glacier-sdk')
const { AvaCloudSDK } = require('@avalabs/avacloud-sdk')

const tally = new Tally()
const options = { environment: Environment.PRODUCTION, appInfo: { name: 'core-web', version: '1.0.0' }, approvalController: {}, runtime: {} }
const evm = new EvmModule(options)
const primary = new AvalancheModule(options)
const avax = { name: 'Avalanche', symbol: 'AVAX', decimals: 18, description: '', logoUri: '' }
const alice = world.personas.find(({ name }) => name === 'alice')

for (const [name, chainId, host] of [['mainnet', 43114, 'api.avax.network'], ['fuji', 43113, 'api.avax-test.network']]) {
  const network = { chainId, chainName: name, vmName: NetworkVMType.EVM, rpcUrl: `https://${host}/ext/bc/C/rpc`, networkToken: avax, isTestnet: name === 'fuji' }
  await tally.group(`evm-module, ${name}`, async () => {
    const balances = (await evm.getBalances({ addresses: [alice.address], network, currency: 'usd', customTokens: [], tokenTypes: [TokenType.NATIVE, TokenType.ERC20] }))[alice.address]
    tally.ok('AVAX', balances.AVAX.balance > 0n && balances.AVAX.priceInCurrency > 0)
    tally.ok('tokens', Object.keys(balances).length > 5)
    tally.same('history', (await evm.getTransactionHistory({ network, address: alice.address, offset: 5 })).transactions.length, 5)
    tally.ok('fees', (await evm.getNetworkFee(network)).baseFee > 0n)
  })
  await tally.group(`avalanche-module, ${name}`, async () => {
    for (const vmName of [NetworkVMType.PVM, NetworkVMType.AVM]) {
      const of = { ...network, vmName, rpcUrl: `https://${host}`, networkToken: { ...avax, decimals: 9 } }
      const address = alice.chainAddresses[name][vmName === NetworkVMType.PVM ? 'P' : 'X']
      const balances = await primary.getBalances({ addresses: [address], network: of, currency: 'usd' })
      tally.ok(`${vmName} balance`, balances[address].AVAX.balance > 0n)
      tally.ok(`${vmName} history`, (await primary.getTransactionHistory({ network: of, address, offset: 5 })).transactions.length > 0)
    }
  })
  await tally.group(`glacier-sdk, ${name}`, async () => {
    for (const BASE of ['https://glacier-api.avax.network', OpenAPI?.BASE].filter(Boolean)) {
      tally.same(BASE, (await new Glacier({ BASE }).evmChains.getChainInfo({ chainId: String(chainId) })).chainId, String(chainId))
    }
  })
  await tally.group(`avacloud-sdk, ${name}`, async () => {
    const sdk = new AvaCloudSDK({ serverURL: 'https://glacier-api.avax.network' })
    tally.same('Data API', (await sdk.data.evm.chains.get({ chainId: String(chainId) })).chainId, String(chainId))
  })
}
tally.end()
