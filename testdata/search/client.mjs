// Clients of the Data API and the node. Each has a flaw, which its repaired twin does not have: client.mjs NAME [repaired].
// @ts-check

const url = /** @type {string} */ (process.env.SNOWGLOBE_URL)
const alice = /** @type {string} */ (process.env.SNOWGLOBE_ALICE_ADDRESS)
const bob = /** @type {string} */ (process.env.SNOWGLOBE_BOB_ADDRESS)
const repaired = process.argv[3] === 'repaired'

/** @param {number} ms */
const sleep = ms => new Promise(done => setTimeout(done, ms))

/**
 * Asks until there is an answer other than a failure that may pass.
 * @param {string} path
 * @param {object} [body]
 * @param {(response: Response, attempt: number) => number} [pause] milliseconds to wait after a 429 or 503
 * @returns {Promise<{status: number, body: any}>}
 */
async function ask(path, body, pause = patient) {
	for (let attempt = 1; ; attempt++) {
		let wait = 50 * 2 ** attempt
		try {
			const response = await fetch(url + path, {
				method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers: { 'content-type': 'application/json' },
			})
			if (response.status !== 429 && response.status < 500) return { status: response.status, body: await response.json() }
			if (attempt === 5) throw new Error(`${path}: ${response.status} after ${attempt} attempts`)
			wait = pause(response, attempt)
		} catch (error) {
			if (attempt === 5) throw error
		}
		await sleep(wait)
	}
}

/** @type {(response: Response, attempt: number) => number} */
const patient = (response, attempt) => 1000 * Number(response.headers.get('retry-after')) || 50 * 2 ** attempt

/**
 * @param {string} method
 * @param {any[]} params
 */
async function rpc(method, ...params) {
	const { body } = await ask('/ext/bc/C/rpc', { jsonrpc: '2.0', id: 1, method, params })
	if (body.error) throw new Error(`${method}: ${body.error.message}`)
	return body.result
}

/** Sends a payment. After a failure it looks for the transaction that has the nonce. @param {number} value */
async function pay(value) {
	const nonce = await rpc('eth_getTransactionCount', alice, 'latest')
	try {
		return await rpc('eth_sendTransaction', { from: alice, to: bob, value: '0x' + value.toString(16), nonce })
	} catch (error) {
		const block = await rpc('eth_getBlockByNumber', 'latest', true)
		const sent = block.transactions.find((/** @type {any} */ t) => t.from.toLowerCase() === alice.toLowerCase() && t.nonce === nonce)
		if (!sent) throw error
		return sent.hash
	}
}

/** @param {boolean} ok @param {string} what */
function assert(ok, what) {
	if (!ok) throw new Error(what)
}

/** @type {Record<string, () => Promise<void>>} */
const clients = {
	// Comes again at once after a 429, whatever Retry-After says.
	'retry-after': async () => {
		const { body } = await ask('/v1/chains/43114', undefined, repaired ? patient : () => 20)
		assert(body.chainId === '43114', 'another chain')
		const page = await ask('/v1/chains/43114/blocks?pageSize=5', undefined, repaired ? patient : () => 20)
		assert(page.body.blocks.length > 0, 'no blocks')
	},
	// Takes a receipt that is not there yet as a transaction that failed.
	'null-receipt': async () => {
		const hash = await pay(1)
		let receipt = await rpc('eth_getTransactionReceipt', hash)
		for (let i = 0; repaired && !receipt && i < 50; i++) {
			await sleep(50)
			receipt = await rpc('eth_getTransactionReceipt', hash)
		}
		assert(receipt?.status === '0x1', 'the payment failed')
	},
	// Takes a transaction that the index does not know yet as one that does not exist.
	'lag': async () => {
		const hash = await pay(2)
		const path = `/v1/chains/43114/transactions/${hash}`
		let found = await ask(path)
		for (let i = 0; repaired && found.status === 404 && i < 50; i++) {
			await sleep(50)
			found = await ask(path)
		}
		assert(found.status === 200, `the transaction does not exist: ${found.status}`)
	},
}

await clients[process.argv[2]]()
