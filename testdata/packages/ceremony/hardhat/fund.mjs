import { network } from 'hardhat'
const { provider } = await network.create()
await provider.request({ method: 'hardhat_setBalance', params: ['0x000000000000000000000000000000000000bEEF', '0x22b1c8c1227a0000'] })
console.log(await provider.request({ method: 'eth_getBalance', params: ['0x000000000000000000000000000000000000bEEF', 'latest'] }))
