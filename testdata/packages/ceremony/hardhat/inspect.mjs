import { readFileSync } from 'node:fs'
import { network } from 'hardhat'
const { provider } = await network.create()
const [from] = await provider.request({ method: 'eth_accounts' })
const deployment = await provider.request({ method: 'eth_sendTransaction', params: [{ from, data: JSON.parse(readFileSync('Refusal.json')).bytecode }] })
const { contractAddress: to } = await provider.request({ method: 'eth_getTransactionReceipt', params: [deployment] })
await provider.request({ method: 'eth_sendTransaction', params: [{ from, to, gas: '0x100000' }] }).catch((problem) => console.log(problem.message))
