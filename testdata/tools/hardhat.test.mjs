// Deploys, calls, mines and acts for others on every EVM chain of a running Snowglobe as a Hardhat project's tests do.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { network } from 'hardhat'
import { parseEther, parseEventLogs } from 'viem'

import { abi, artifact, persona, world } from '../clients/world.mjs'

const stranger = '0x00000000000000000000000000000000005709a4'
const bob = persona.bob.address
const token = { abi: abi('Token'), bytecode: artifact('Token').bytecode }

for (const chain of world.chains) {
  describe(chain.title, async () => {
    const { viem, provider } = await network.create(chain.blockchainId)
    const client = await viem.getPublicClient()
    const test = await viem.getTestClient()
    const [wallet] = await viem.getWalletClients()
    const mined = (hash) => client.waitForTransactionReceipt({ hash, pollingInterval: 10 })
    const deploy = async ({ abi, bytecode }, args = []) => (await mined(await wallet.deployContract({ abi, bytecode, args }))).contractAddress

    it('is the chain that was asked for', async () => {
      assert.equal(await client.getChainId(), Number(chain.chainId))
      assert.equal(wallet.account.address.toLowerCase(), persona.alice.address.toLowerCase())
    })

    it('deploys, calls and reads events', async () => {
      const address = await deploy(token, ['Snow', 'SNW', 18, 1000n, wallet.account.address])
      const receipt = await mined(await wallet.writeContract({ address, abi: token.abi, functionName: 'transfer', args: [bob, 5n] }))
      assert.equal(receipt.status, 'success')
      const [transfer] = parseEventLogs({ abi: token.abi, logs: receipt.logs, eventName: 'Transfer' })
      assert.deepEqual([transfer.args.from.toLowerCase(), transfer.args.to.toLowerCase(), transfer.args.value], [wallet.account.address.toLowerCase(), bob.toLowerCase(), 5n])
      assert.equal(await client.readContract({ address, abi: token.abi, functionName: 'balanceOf', args: [bob] }), 5n)
      const logs = await client.getContractEvents({ address, abi: token.abi, eventName: 'Transfer', fromBlock: receipt.blockNumber })
      assert.equal(logs.length, 1)
    })

    it('tells why a call reverts', async () => {
      const contract = { address: await deploy(artifact('Reverter')), abi: abi('Reverter') }
      await assert.rejects(client.readContract({ ...contract, functionName: 'withReason', args: ['no snow'] }), /no snow/)
      await assert.rejects(client.readContract({ ...contract, functionName: 'withCustomError', args: [7n] }), /Unlucky/)
      await assert.rejects(wallet.writeContract({ ...contract, functionName: 'withReason', args: ['no snow'] }), /no snow/)
      const failed = await mined(await wallet.writeContract({ ...contract, functionName: 'withPanic', gas: 100_000n }))
      assert.equal(failed.status, 'reverted')
      const answer = await provider.request({ method: 'eth_call', params: [{ to: contract.address, data: '0x' }, 'latest'] }).catch((error) => error)
      assert.match(answer.message, /revert/)
    })

    it('mines when it is asked to', async () => {
      const start = await client.getBlock()
      await test.mine({ blocks: 3, interval: 60 })
      const end = await client.getBlock()
      assert.equal(end.number, start.number + 3n)
      assert.ok(end.timestamp >= start.timestamp + 120n)
      await test.setAutomine(false)
      const hash = await wallet.sendTransaction({ to: bob, value: 1n })
      assert.equal((await client.getTransaction({ hash })).blockNumber, null)
      await test.setNextBlockTimestamp({ timestamp: end.timestamp + 1000n })
      await test.mine({ blocks: 1 })
      assert.equal((await client.getTransactionReceipt({ hash })).blockNumber, end.number + 1n)
      assert.equal((await client.getBlock()).timestamp, end.timestamp + 1000n)
      await test.setAutomine(true)
    })

    it('changes the state', async () => {
      await test.setBalance({ address: stranger, value: parseEther('3') })
      assert.equal(await client.getBalance({ address: stranger }), parseEther('3'))
      await test.setNonce({ address: stranger, nonce: 7 })
      assert.equal(await client.getTransactionCount({ address: stranger }), 7)
      await test.setCode({ address: '0x00000000000000000000000000000000000c0de0', bytecode: '0x602a60005260206000f3' })
      assert.equal(BigInt((await client.call({ to: '0x00000000000000000000000000000000000c0de0' })).data), 42n)
      const slot = `0x${'0'.repeat(63)}1`
      await test.setStorageAt({ address: stranger, index: 1, value: slot })
      assert.equal(await client.getStorageAt({ address: stranger, slot }), slot)
    })

    it('acts for an account whose key nobody has', async () => {
      await test.setBalance({ address: stranger, value: parseEther('3') })
      await test.impersonateAccount({ address: stranger })
      const other = await viem.getWalletClient(stranger)
      const receipt = await mined(await other.sendTransaction({ to: bob, value: 5n }))
      assert.deepEqual([receipt.status, receipt.from], ['success', stranger])
      await test.stopImpersonatingAccount({ address: stranger })
      await assert.rejects(other.sendTransaction({ to: bob, value: 5n }), /unknown account/)
    })
  })
}
