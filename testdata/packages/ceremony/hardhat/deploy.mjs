import { readFileSync } from 'node:fs'
import { network } from 'hardhat'
const { provider } = await network.create()
const [from] = await provider.request({ method: 'eth_accounts' })
const hash = await provider.request({ method: 'eth_sendTransaction', params: [{ from, data: JSON.parse(readFileSync('Answer.json')).bytecode }] })
const { contractAddress } = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })
console.log(await provider.request({ method: 'eth_call', params: [{ to: contractAddress }, 'latest'] }))
