// A project of Hardhat's whose network is a running Snowglobe. Hardhat compiles nothing: the artifacts are those of the fixtures.
import nodeTestRunner from '@nomicfoundation/hardhat-node-test-runner'
import viem from '@nomicfoundation/hardhat-viem'
import { defineConfig } from 'hardhat/config'

import { world } from '../clients/world.mjs'

const networks = Object.fromEntries(world.chains.map((chain) => [
  chain.blockchainId, { type: 'http', chainType: 'l1', url: chain.rpcUrl, chainId: Number(chain.chainId), accounts: 'remote' },
]))

export default defineConfig({
  plugins: [nodeTestRunner, viem],
  networks,
  paths: { tests: { nodejs: '.' } },
})
