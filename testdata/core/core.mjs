// Reads and sends with the wallets of @avalabs/core-wallets-sdk, which the extension Core is made of: those of the mnemonic's accounts.
import { createRequire } from 'node:module'
import { JsonRpcProvider } from 'ethers'

import { Tally } from '../clients/tally.mjs'
import { mnemonic, world } from '../clients/world.mjs'

const require = createRequire(import.meta.url)
const { Avalanche, getWalletFromMnemonic, DerivationPath } = require('@avalabs/core-wallets-sdk')
const { utils } = createRequire(require.resolve('@avalabs/core-wallets-sdk'))('@avalabs/avalanchejs')

const tally = new Tally()
const AVAX = 1_000_000_000n

async function accepted(api, txID) {
  for (let i = 0; i < 200; i++) {
    const { status } = await api.getTxStatus({ txID })
    if (['Accepted', 'Committed'].includes(status)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${txID} was not accepted`)
}

async function accepts(provider, txID) {
  for (let i = 0; i < 200; i++) {
    const { status } = await provider.getApiC().getAtomicTxStatus(txID)
    if (status === 'Accepted') return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${txID} was not accepted`)
}

async function check(network) {
  const chain = world.chains.find(({ blockchainId }) => blockchainId === network.cChainId)
  const provider = await Avalanche.JsonRpcProvider.fromBaseURL(network.url)
  const wallet = Avalanche.MnemonicWallet.fromMnemonic(mnemonic, provider)
  const group = (name, run) => tally.group(`Core, ${network.name}: ${name}`, run)
  // The fee of a unit of gas in nAVAX, rounded up. An import wants it so, and an export in wei, of which it drops what is no whole nAVAX.
  const baseFee = async () => (BigInt(await provider.getApiC().getBaseFee()) + 10n ** 9n - 1n) / 10n ** 9n
  const evm = new JsonRpcProvider(chain.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 })
  const send = async (what, unsigned) => {
    const signed = await wallet.signTx({ tx: unsigned })
    const { txID } = await provider.issueTx(signed.getSignedTx())
    const vm = signed.getVM()
    await (vm === 'EVM' ? accepts(provider, txID) : accepted(provider.getApiByVM(vm), txID))
    tally.ok(what, txID !== '')
  }
  const held = async (alias) => (await wallet.getUTXOs(alias)).getUTXOs().filter((utxo) => utxo.getAssetId() === provider.getAvaxID())
    .reduce((sum, { output }) => sum + (output.amount?.() ?? 0n), 0n)

  await group('reading', async () => {
    tally.same('network', [Number(provider.getNetworkID()), provider.getHrp()], [network.networkId, network.name === 'mainnet' ? 'avax' : 'fuji'])
    for (const alias of ['X', 'P']) tally.ok(`${alias} has something`, (await held(alias)) > 100n * AVAX)
    tally.ok('stake', (await wallet.getStake()).staked !== undefined)
    for (const [alias, source] of [['X', 'P'], ['P', 'X'], ['C', 'P'], ['C', 'X'], ['P', 'C'], ['X', 'C']]) {
      tally.ok(`from ${source} to ${alias}`, (await wallet.getAtomicUTXOs(alias, source)).getUTXOs() !== undefined)
    }
    tally.ok('nonce', (await wallet.getNonce()) >= 0)
    tally.ok('fee data', (await provider.getEvmFeeData()).gasPrice > 0n)
    for (let i = 0; i < 3; i++) {
      const address = await getWalletFromMnemonic(mnemonic, i, DerivationPath.BIP44).getAddress()
      tally.ok(`EVM account ${i}`, (await evm.getBalance(address)) > 0n)
    }
  })
  await group('sending', async () => {
    const asset = provider.getAvaxID()
    for (const alias of ['X', 'P']) {
      const before = await held(alias)
      await send(`pay on ${alias}`, wallet.baseTX(await wallet.getUTXOs(alias), alias, wallet.getAddressAtIndex(1, false, alias), { [asset]: AVAX }, { changeAddresses: [utils.bech32ToBytes(wallet.getChangeAddress(alias))] }))
      tally.ok(`what is left on ${alias}`, (await held(alias)) <= before - AVAX)
    }
    await send('export from X to P', wallet.exportX(3n * AVAX, await wallet.getUTXOs('X'), 'P'))
    await send('import to P', wallet.importP(await wallet.getAtomicUTXOs('P', 'X'), 'X'))
    await send('export from P to X', wallet.exportP(2n * AVAX, await wallet.getUTXOs('P'), 'X'))
    await send('import to X', wallet.importX(await wallet.getAtomicUTXOs('X', 'P'), 'P'))
    const address = wallet.getAddressEVM()
    for (const [source, out] of [['P', wallet.exportP(2n * AVAX, await wallet.getUTXOs('P'), 'C')], ['X', wallet.exportX(2n * AVAX, await wallet.getUTXOs('X'), 'C')]]) {
      await send(`export from ${source} to C`, out)
      const before = await evm.getBalance(address)
      await send(`import to C from ${source}`, wallet.importC(await wallet.getAtomicUTXOs('C', source), source, await baseFee()))
      tally.ok(`more on C from ${source}`, (await evm.getBalance(address)) > before + AVAX * 10n ** 9n)
    }
    // The wallet remembers its nonce for a quarter of a second, so it is asked for here.
    for (const destination of ['P', 'X']) {
      await send(`export from C to ${destination}`, wallet.exportC(AVAX, destination, BigInt(await evm.getTransactionCount(address)), (await baseFee()) * 10n ** 9n))
      await send(`import to ${destination}`, wallet[`import${destination}`](await wallet.getAtomicUTXOs(destination, 'C'), 'C'))
    }
    await send('create a subnet', wallet.createSubnet(await wallet.getUTXOs('P'), [wallet.getAddressAtIndex(0, false, 'P')]))
  })
  await group('on the C-Chain', async () => {
    const sender = getWalletFromMnemonic(mnemonic, 0, DerivationPath.BIP44).connect(evm)
    const receipt = await (await sender.sendTransaction({ to: wallet.getAddressEVM(), value: 1n })).wait()
    tally.same('status', receipt.status, 1)
  })
  evm.destroy()
}

for (const network of world.networks) await check(network)
tally.end()
