// Calculates how many transactions fit into a block from a hard-coded gas limit.

const rpc = async (method, ...params) => {
	const answer = await fetch(process.env.SNOWGLOBE_RPC_URL, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
	})
	const { result, error } = await answer.json()
	if (error) throw new Error(`${method}: ${error.message}`)
	return result
}

const limit = 10_000_000n
await rpc('eth_sendTransaction', { from: process.env.SNOWGLOBE_ALICE_ADDRESS, to: process.env.SNOWGLOBE_BOB_ADDRESS, value: '0x1' })
const block = await rpc('eth_getBlockByNumber', 'latest', false)
if (BigInt(block.gasLimit) !== limit) throw new Error(`a block takes ${BigInt(block.gasLimit)} gas`)
