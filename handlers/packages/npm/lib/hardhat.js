import { start } from './index.js'

/** Networks by their Hardhat name: the chain, and the variable with the RPC URL of a running server. */
const networks = {
  snowglobe: { chain: 'C', chainId: 43114, variable: 'SNOWGLOBE_RPC_URL' },
  snowglobeFuji: { chain: 'fujiC', chainId: 43113, variable: 'SNOWGLOBE_FUJI_RPC_URL' },
}

/** The world of this process; the first connection to one of the networks starts it. */
let world

export default {
  id: 'snowglobe',
  npmPackage: 'snowglobe',
  hookHandlers: {
    config: async () => ({
      default: async () => ({
        extendUserConfig: async (config, next) => next({
          ...config,
          networks: {
            ...Object.fromEntries(Object.entries(networks).map(([name, { chainId, variable }]) => [name, {
              type: 'http', chainType: 'l1', chainId, accounts: 'remote', url: { _type: 'ConfigurationVariable', name: variable },
            }])),
            ...config.networks,
          },
        }),
      }),
    }),
    configurationVariables: async () => ({
      default: async () => ({
        fetchValue: async (context, variable, next) => {
          const network = Object.values(networks).find((one) => one.variable === variable.name)
          if (!network || process.env[variable.name]) return next(context, variable)
          world ??= start()
          return (await world).chains[network.chain].rpcUrls.default.http[0]
        },
      }),
    }),
  },
}
