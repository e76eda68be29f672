import { network } from 'hardhat'
const { provider } = await network.create()
const id = await provider.request({ method: 'evm_snapshot' })
await provider.request({ method: 'hardhat_setBalance', params: ['0x000000000000000000000000000000000000bEEF', '0x1'] })
await provider.request({ method: 'evm_revert', params: [id] })
console.log(await provider.request({ method: 'eth_getBalance', params: ['0x000000000000000000000000000000000000bEEF', 'latest'] }))
