// A project of Hardhat's whose network and whose explorers are a running Snowglobe.
import ignition from '@nomicfoundation/hardhat-ignition-viem'
import verify from '@nomicfoundation/hardhat-verify'
import viem from '@nomicfoundation/hardhat-viem'
import upgrades from '@openzeppelin/hardhat-upgrades/viem'
import { defineConfig } from 'hardhat/config'

const url = process.env.SNOWGLOBE_URL
const folder = process.env.FOLDER

export default defineConfig({
  plugins: [viem, verify, ignition, upgrades],
  solidity: { version: '0.8.30', path: process.env.SOLJSON, settings: { evmVersion: 'cancun' } },
  paths: { sources: './verify/contracts', artifacts: `${folder}/artifacts`, cache: `${folder}/cache`, ignition: `${folder}/ignition` },
  networks: { snowglobe: { type: 'http', chainType: 'l1', url: `${url}/ext/bc/C/rpc`, chainId: 43114, accounts: 'remote' } },
  chainDescriptors: {
    43114: {
      name: 'Snowglobe',
      blockExplorers: {
        etherscan: { name: 'Snowglobe', url: `${url}/sim/explorer/43114`, apiUrl: `${url}/v2/api` },
        blockscout: { name: 'Snowglobe', url: `${url}/sim/explorer/43114`, apiUrl: `${url}/api` },
      },
    },
  },
  verify: { etherscan: { apiKey: 'any' }, sourcify: { apiUrl: url } },
})
