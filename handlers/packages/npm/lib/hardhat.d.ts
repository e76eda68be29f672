import type { HardhatPlugin } from 'hardhat/types/plugins'

/**
 * A plugin for Hardhat 3. It adds the networks snowglobe (mainnet's C-Chain) and snowglobeFuji, whose world starts with the first connection.
 * SNOWGLOBE_RPC_URL and SNOWGLOBE_FUJI_RPC_URL select a running server instead.
 */
declare const plugin: HardhatPlugin
export default plugin
