import { network } from 'hardhat'
const { provider } = await network.create()
const time = async () => Number((await provider.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })).timestamp)
const before = await time()
await provider.request({ method: 'evm_setNextBlockTimestamp', params: [before + 129_600] })
await provider.request({ method: 'evm_mine' })
console.log(await time() - before)
