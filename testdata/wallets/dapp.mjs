// MetaMask's test dapp in Chromium, with a provider in front of it that hands on what it asks to the endpoint of a chain, whose unlocked
// accounts sign. What the dapp shows and what the chains hold afterwards must agree.
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { chromium } from 'playwright-core'
import { getAddress, parseAbi, parseEther, parseUnits, recoverMessageAddress, recoverTypedDataAddress } from 'viem'

import { Tally } from '../clients/tally.mjs'
import { persona, world } from '../clients/world.mjs'
import { observe, until } from './client.mjs'

const tally = new Tally()
const [chain, fuji] = world.chains.filter((c) => c.isC)
const client = observe(chain)
const alice = persona.alice.address
const [paid, receiver, operator] = ['0x0c54FcCd2e384b4BB6f2E405Bf5Cbc15a017AaFb', '0x2f318C334780961FB129D2a6c30D0763d9a5C970', '0x9bc5baF874d2DA8D216aE9f137804184EE5AfEF4'] // the dapp's own

// The dapp is a folder of files.
const folder = new URL('node_modules/@metamask/test-dapp/dist/', import.meta.url)
const kinds = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', json: 'application/json' }
const site = createServer(async (request, response) => {
  const name = request.url.split('?')[0].slice(1) || 'index.html'
  const content = await readFile(new URL(name, folder)).catch(() => null)
  response.writeHead(content ? 200 : 404, { 'content-type': kinds[name.split('.').pop()] ?? 'application/octet-stream' }).end(content)
}).listen(0, '127.0.0.1')
await new Promise((resolve) => site.on('listening', resolve))

// inject is run in the page. It is as little of a wallet as an app can do with: permission to see accounts, the chosen chain, events.
function inject({ endpoints, first }) {
  let [at, connected] = [first, false]
  const listeners = {}
  const asked = []
  const emit = (event, value) => (listeners[event] ?? []).forEach((listener) => listener(value))
  const node = async (method, params = []) => {
    const response = await fetch(endpoints[at], { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
    const { result, error } = await response.json()
    if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data })
    return result
  }
  const answer = async (method, params) => {
    if (method === 'eth_accounts' && !connected) return []
    try {
      const result = await node(method, params)
      if (method === 'eth_requestAccounts') connected = true
      if (method === 'wallet_revokePermissions') { connected = false; emit('accountsChanged', []) }
      return result
    } catch (error) {
      // Wallets send what will fail if the user insists.
      if (method === 'eth_sendTransaction' && /revert|invalid opcode/.test(error.message) && !params[0].gas) return node(method, [{ ...params[0], gas: '0x186a0' }])
      const chosen = method === 'wallet_switchEthereumChain' && params[0].chainId
      if (error.code !== 4901 || !endpoints[chosen]) throw error
      at = chosen
      emit('chainChanged', at)
      emit('networkChanged', String(Number(at)))
      return null
    }
  }
  window.asked = asked
  const provider = {
    isMetaMask: true,
    on: (event, listener) => { (listeners[event] ??= []).push(listener) },
    removeListener: (event, listener) => { listeners[event] = (listeners[event] ?? []).filter((l) => l !== listener) },
    async request({ method, params }) {
      const entry = { method, params }
      asked.push(entry)
      try {
        return entry.result = await answer(method, params)
      } catch (error) {
        entry.error = { code: error.code, message: error.message }
        throw error
      } finally {
        entry.done = true
      }
    },
  }
  // The app looks for wallets by EIP-6963.
  const detail = { info: { uuid: '4a05be5e-0000-4000-8000-000000000045', name: 'Snowglobe', icon: 'data:,', rdns: 'test.snowglobe' }, provider }
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', announce)
  window.ethereum = provider
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
const context = await browser.newContext()
context.setDefaultTimeout(120_000) // other suites may run beside this one
await context.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort()) // the dapp's ways to other wallets
await context.routeWebSocket((url) => url.hostname !== '127.0.0.1', (socket) => socket.close())
const page = await context.newPage()
const hex = (c) => `0x${Number(c.chainId).toString(16)}`
await page.addInitScript(inject, { endpoints: { [hex(chain)]: chain.rpcUrl, [hex(fuji)]: fuji.rpcUrl }, first: hex(fuji) })
await page.goto(`http://127.0.0.1:${site.address().port}/`)

const text = (id) => page.locator(`#${id}`).innerText()
const shows = (id, holds) => until(`#${id} shows what it should`, async () => { const t = await text(id); return holds(t) && t })
const fill = (id, value) => page.locator(`#${id}`).fill(value)
const press = (id) => page.locator(`#${id}`).click()

// asks presses a button and returns what the provider was asked then, with the answer.
async function asks(id, method) {
  const from = await page.evaluate(() => window.asked.length)
  await press(id)
  return page.waitForFunction(([from, method]) => window.asked.slice(from).find((a) => a.method === method && a.done), [from, method], { polling: 20 }).then((h) => h.jsonValue())
}

// sends presses a button that sends a transaction, and returns transaction and receipt.
async function sends(id) {
  const { result: hash, error } = await asks(id, 'eth_sendTransaction')
  if (error) throw new Error(`${id}: ${error.message}`)
  return { ...await client.getTransaction({ hash }), ...await client.waitForTransactionReceipt({ hash }), deployed: await client.getTransactionReceipt({ hash }).then((r) => r.contractAddress && getAddress(r.contractAddress)) }
}

await tally.group('test-dapp, connection', async () => {
  await shows('network', (t) => t === fuji.chainId)
  await shows('connectButton', (t) => t === 'Connect')
  tally.same('before', [await text('chainId'), await text('accounts')], [hex(fuji), ''])
  await press('connectButton')
  await shows('connectButton', (t) => t === 'Connected')
  tally.same('whom it sees', (await text('accounts')).split(',')[0], alice.toLowerCase())
  await press('getAccounts')
  await shows('getAccountsResult', (t) => t.toLowerCase().startsWith(alice.toLowerCase()))
  for (const [button, granted] of [['requestPermissions', 'eth_accounts'], ['getPermissions', 'eth_accounts, endowment:permitted-chains']]) {
    await page.locator('#permissionsResult').evaluate((e) => { e.textContent = '' })
    await press(button)
    tally.same(button, await shows('permissionsResult', (t) => t !== ''), granted)
  }
  // A payment there, then to the other chain.
  const other = observe(fuji)
  const before = await other.getTransactionCount({ address: alice })
  const { result: hash } = await asks('sendEIP1559WithoutGasButton', 'eth_sendTransaction')
  tally.same('a payment there', [(await other.getTransactionReceipt({ hash })).status, await other.getTransactionCount({ address: alice }), await client.request({ method: 'eth_getTransactionByHash', params: [hash] })],
    ['success', before + 1, null])
  await press('openNetworkPicker')
  await page.locator(`.network-modal-item[data-chain-id="${hex(chain)}"]`).click()
  tally.same('the chain it shows', [await shows('chainId', (t) => t === hex(chain)), await shows('network', (t) => t === chain.chainId)], [hex(chain), chain.chainId])
  tally.same('its name', await text('currentNetworkName'), 'Current Network: Avalanche Network C-Chain')
})

await tally.group('test-dapp, signatures', async () => {
  const { params: [, message], result } = await asks('ethSign', 'eth_sign')
  tally.same('eth_sign', await recoverMessageAddress({ message: { raw: message }, signature: result }), alice)
  // The dapp recovers the signers of the others with a library of its own.
  for (const [sign, results] of Object.entries({
    personalSign: ['personalSignVerifySigUtilResult', 'personalSignVerifyECRecoverResult'], signTypedData: ['signTypedDataVerifyResult'],
    signTypedDataV3: ['signTypedDataV3VerifyResult'], signTypedDataV4: ['signTypedDataV4VerifyResult'], signPermit: ['signPermitVerifyResult'],
  })) {
    await press(sign)
    await shows(`${sign}Result`, (t) => /^0x[0-9a-f]{130}$/.test(t))
    await press(`${sign}Verify`)
    for (const id of results) tally.same(id, (await shows(id, (t) => t !== '')).toLowerCase(), alice.toLowerCase())
  }
  const siwe = await asks('siwe', 'personal_sign')
  tally.same('Sign-In with Ethereum', await recoverMessageAddress({ message: { raw: siwe.params[0] }, signature: siwe.result }), alice)
  for (const button of ['signBlurOrder', 'signPermitSingle', 'signPermitBatch', 'signSeaportBulkOrder'])
    tally.ok(button, /^0x[0-9a-f]{130}$/.test((await asks(button, 'eth_signTypedData_v4')).result))
  for (const button of ['signInvalidType', 'signInvalidPrimaryType', 'signNoPrimaryTypeDefined', 'signInvalidVerifyingContractType']) {
    const { result, error } = await asks(button, 'eth_signTypedData_v4')
    tally.ok(`${button}: ${result ?? error.message}`, error)
  }
})

await tally.group('test-dapp, payments', async () => {
  const legacy = await sends('sendButton')
  tally.same('legacy', [legacy.status, legacy.type, legacy.gasPrice, legacy.to], ['success', 'legacy', parseUnits('10', 9), paid.toLowerCase()])
  const dynamic = await sends('sendEIP1559Button')
  tally.same('EIP-1559', [dynamic.status, dynamic.type, dynamic.maxFeePerGas, dynamic.maxPriorityFeePerGas], ['success', 'eip1559', parseUnits('10', 9), parseUnits('1', 9)])
  const filled = await sends('sendEIP1559WithoutGasButton')
  tally.same('with gas and fees left out', [filled.status, filled.gasUsed, filled.from], ['success', 21000n, alice.toLowerCase()])
  await fill('toInput', receiver)
  await fill('amountInput', '0x16345785d8a0000')
  await page.locator('#typeInput').selectOption('0x2')
  await fill('maxFeeInput', '0x2540be400')
  await fill('maxPriorityFeeInput', '0x1')
  await fill('dataInput', '0x')
  const had = await client.getBalance({ address: receiver })
  const form = await sends('submitForm')
  tally.same('by the form', [form.status, form.value, form.maxPriorityFeePerGas, await client.getBalance({ address: receiver }) - had], ['success', parseEther('0.1'), 1n, parseEther('0.1')])
})

// The dapp learns of its transactions every four seconds, so that what does not depend on each other goes at once.
await tally.group('test-dapp, contracts', async () => {
  const [bank, failing, multisig, nfts, items] = [await sends('deployButton'), await sends('deployFailingButton'), await sends('deployMultisigButton'),
    await sends('deployNFTsButton'), await sends('deployERC1155Button')].map((t) => t.deployed)
  const token = (await sends('createToken')).deployed
  const [, , , , , shown] = await Promise.all([shows('contractStatus', (t) => t === 'Deployed'), shows('failingContractStatus', (t) => t === 'Deployed'),
    shows('multisigContractStatus', (t) => t === 'Deployed'), shows('nftsStatus', (t) => t === 'Deployed'), shows('erc1155Status', (t) => t === 'Deployed'),
    shows('erc20TokenAddresses', (t) => t !== '')])
  tally.same('the token it shows', shown, token)
  for (const address of [bank, failing, multisig, nfts, items, token]) tally.ok(`code at ${address}`, (await client.getCode({ address }))?.length > 2)

  tally.same('a deposit', [(await sends('depositButton')).status, await client.getBalance({ address: bank })], ['success', parseEther('4')])
  tally.same('a call that fails', (await sends('sendFailingButton')).status, 'reverted')
  await sends('sendMultisigButton')
  tally.same('what a contract received', await client.getBalance({ address: multisig }), 24414062500000n)

  // ERC-20, with four decimals, of which alice has ten tokens.
  const read = (address, signature, ...args) => { const abi = parseAbi([`function ${signature}`]); return client.readContract({ address, abi, functionName: abi[0].name, args }) }
  const holds = (owner) => read(token, 'balanceOf(address) view returns (uint256)', owner)
  tally.same('what alice has', await holds(alice), 100_000n)
  tally.same('a token to watch', (await asks('watchAssets', 'wallet_watchAsset')).result, true)
  await sends('transferTokens')
  await sends('transferTokensWithoutGas')
  tally.same('what was transferred', [await holds(receiver), await holds(alice)], [30_000n, 70_000n])
  const allowance = (spender) => read(token, 'allowance(address, address) view returns (uint256)', alice, spender)
  await fill('approveTo', alice)
  await sends('approveTokens')
  tally.same('what was approved', await allowance(alice), 70_000n)
  await sends('increaseTokenAllowance')
  await fill('allowanceOwner', alice)
  await fill('allowanceSpender', alice)
  await press('getAllowance')
  tally.same('what it shows as allowed', [await shows('allowanceAmountResult', (t) => t !== ''), await allowance(alice)], ['8.0000', 80_000n])
  await fill('transferFromSenderInput', alice)
  await fill('transferFromRecipientInput', operator)
  await sends('transferFromTokens')
  tally.same('what an allowance moved', [await holds(operator), await allowance(alice)], [15_000n, 65_000n])

  // The form for a token that the user types in.
  for (const [symbol, message, result] of [['TST', /success/, true], ['TSX', /error/, undefined]]) {
    for (const [id, value] of Object.entries({ eip747ContractAddress: token, eip747Symbol: symbol, eip747Decimals: '4' })) await fill(id, value)
    tally.same(`a token named ${symbol}`, (await asks('eip747WatchButton', 'wallet_watchAsset')).result, result)
    await shows('eip747Status', (t) => message.test(t))
  }

  // ERC-721
  await fill('mintAmountInput', '3')
  await sends('mintButton')
  const owner = (id) => read(nfts, 'ownerOf(uint256) view returns (address)', id)
  tally.same('what was minted', [await owner(1n), await owner(3n)], [alice, alice])
  await fill('approveTokenInput', '1')
  await sends('approveButton')
  tally.same('who may take it', await read(nfts, 'getApproved(uint256) view returns (address)', 1n), operator)
  const operates = (address) => read(address, 'isApprovedForAll(address, address) view returns (bool)', alice, operator)
  await sends('setApprovalForAllButton')
  tally.same('who may take all', await operates(nfts), true)
  await sends('revokeButton')
  tally.same('who may take all, once revoked', await operates(nfts), false)
  await fill('watchNFTInput', '1')
  tally.same('an NFT to watch', (await asks('watchNFTButton', 'wallet_watchAsset')).result, true)
  // Its permit has no type for the domain, which viem, ethers and anvil make from the fields; the dapp's library has it empty. An address in it has a
  // wrong checksum, which viem would refuse.
  const permit = await asks('sign721Permit', 'eth_signTypedData_v4')
  tally.same('who signed its permit', await recoverTypedDataAddress({ ...JSON.parse(permit.params[1].replace(/0x[0-9a-f]{40}/gi, (a) => a.toLowerCase())), signature: permit.result }), alice)
  await fill('transferTokenInput', '1')
  await sends('transferFromButton')
  tally.same('whose it is', await owner(1n), receiver)
  tally.ok('it is watched no longer', (await asks('watchNFTButton', 'wallet_watchAsset')).error)

  // ERC-1155
  const has = (address, id) => read(items, 'balanceOf(address, uint256) view returns (uint256)', address, id)
  await fill('batchMintTokenIds', '1, 2')
  await fill('batchMintIdAmounts', '10, 20')
  await sends('batchMintButton')
  await fill('batchTransferTokenIds', '1, 2')
  await fill('batchTransferTokenAmounts', '4, 5')
  await sends('batchTransferFromButton')
  tally.same('what of the batch is whose', await Promise.all([has(alice, 1n), has(alice, 2n), has(receiver, 1n), has(receiver, 2n)]), [6n, 15n, 4n, 5n])
  await sends('setApprovalForAllERC1155Button')
  tally.same('who may take all items', await operates(items), true)
  await sends('revokeERC1155Button')
  tally.same('who may take all items, once revoked', await operates(items), false)
  await fill('watchAssetInput', '2')
  tally.same('an item to watch', (await asks('watchAssetButton', 'wallet_watchAsset')).result, true)
})

await tally.group('test-dapp, batches of calls (EIP-5792)', async () => {
  await press('eip5792GetCapabilitiesButton')
  tally.same('what the wallet can do', JSON.parse(await shows('eip5792GetCapabilitiesResult', (t) => t !== 'Status'))[hex(chain)]?.atomic?.status, 'supported')
  const other = '0xbc2114a988e9CEf5bA63548D432024f34B487048'
  const had = await Promise.all([paid, other].map((address) => client.getBalance({ address })))
  const { result: { id } } = await asks('eip5792SendCallsButton', 'wallet_sendCalls')
  tally.same('the batch it shows', await page.locator('#eip5792RequestIdInput').inputValue(), id)
  await press('eip5792GetCallsStatusButton')
  const { status, atomic, receipts } = JSON.parse(await shows('eip5792GetCallsStatusResult', (t) => t !== 'Status'))
  const mined = await Promise.all(receipts.map(({ transactionHash }) => client.getTransactionReceipt({ hash: transactionHash })))
  tally.same('how it ended', [status, atomic, mined.map((r) => r.status), new Set(mined.map((r) => r.blockHash)).size], [200, true, ['success', 'success'], 1])
  tally.same('what it paid', (await Promise.all([paid, other].map((address) => client.getBalance({ address })))).map((b, i) => b - had[i]), [10n ** 9n, 5n * 10n ** 8n])
})

await tally.group('test-dapp, what it may not', async () => {
  tally.same('a chain that is unknown', [(await asks('addEthereumChain', 'wallet_addEthereumChain')).error?.code, (await asks('switchEthereumChain', 'wallet_switchEthereumChain')).error?.code], [4901, 4902])
  await press('revokeAccountsPermission')
  await shows('connectButton', (t) => t === 'Connect')
  tally.same('whom it sees at last', await text('accounts'), '')
})

await browser.close()
site.close()
tally.end()
