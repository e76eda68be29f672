import { network } from 'hardhat'
const { provider } = await network.create()
console.log(await provider.request({ method: 'eth_chainId' }))
