export default { networks: { default: { type: 'edr-simulated', chainId: 43114 } } }
