import { network } from 'hardhat'
const one = await network.create()
const other = await network.create()
await other.provider.request({ method: 'hardhat_setBalance', params: ['0x000000000000000000000000000000000000bEEF', '0x1'] })
console.log(await one.provider.request({ method: 'eth_getBalance', params: ['0x000000000000000000000000000000000000bEEF', 'latest'] }))
