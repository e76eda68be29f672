// The corpus as a project of Hardhat's, compiled by npm's compiler into $TRACES_FOLDER.
import { createRequire } from 'node:module'
import path from 'node:path'
import { defineConfig } from 'hardhat/config'

const folder = process.env.TRACES_FOLDER
const optimizer = { enabled: process.env.TRACES_OPTIMIZER === 'true', runs: 200 }

export default defineConfig({
  solidity: {
    profiles: {
      default: {
        version: '0.8.30', path: createRequire(import.meta.url).resolve('solc/soljson.js'),
        settings: { optimizer, viaIR: process.env.TRACES_VIA_IR === 'true', evmVersion: 'cancun' },
      },
    },
  },
  paths: { sources: path.join(import.meta.dirname, 'src'), artifacts: path.join(folder, 'artifacts'), cache: path.join(folder, 'cache') },
})
