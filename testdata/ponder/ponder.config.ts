// Indexes the transfers of every ERC-20 of the mainnet's C-Chain up to the head that it has at the start.
import { createConfig } from 'ponder'
import { erc20Abi, http } from 'viem'

const { id, url, height, tokens } = JSON.parse(process.env.SNOWGLOBE_CHAIN!)

export default createConfig({
  database: { kind: 'pglite', directory: process.env.PONDER_FOLDER! },
  networks: { cChain: { chainId: id, transport: http(url), maxRequestsPerSecond: 1000 } },
  contracts: { Token: { abi: erc20Abi, network: 'cChain', address: tokens, startBlock: 0, endBlock: height } },
})
