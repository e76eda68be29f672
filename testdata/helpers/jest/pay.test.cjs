const { SNOWGLOBE_URL: url, SNOWGLOBE_RPC_URL: rpc, SNOWGLOBE_ALICE_ADDRESS: alice, SNOWGLOBE_BOB_ADDRESS: bob } = process.env

async function call(method, ...params) {
  const answer = await fetch(rpc, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), headers: { 'content-type': 'application/json' } })
  const { result, error } = await answer.json()
  if (error) throw new Error(error.message)
  return result
}

let snapshot
beforeEach(async () => { snapshot = await call('evm_snapshot') })
afterEach(async () => { expect(await call('evm_revert', snapshot)).toBe(true) })

for (const round of ['once', 'and again, as if for the first time']) {
  test(`bob is paid ${round}`, async () => {
    const before = await call('eth_getBalance', bob, 'latest')
    await call('eth_sendTransaction', { from: alice, to: bob, value: '0x1' })
    expect(BigInt(await call('eth_getBalance', bob, 'latest'))).toBe(BigInt(before) + 1n)
    const { blocks } = await (await fetch(`${url}/v1/chains/43114/blocks?pageSize=1`)).json()
    expect(blocks[0].txCount).toBe(1)
  })
}
