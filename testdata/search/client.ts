// Clients of the Data API and the node. Each has a flaw; its repaired twin doesn't: client NAME [repaired].

declare const process: { argv: string[]; env: Record<string, string> }

const { SNOWGLOBE_URL: url, SNOWGLOBE_ALICE_ADDRESS: alice, SNOWGLOBE_BOB_ADDRESS: bob } = process.env
const [name, variant] = process.argv.slice(2)
const repaired = variant === 'repaired'

interface Answer {
	status: number
	body: any
}

type Pause = (response: Response, attempt: number) => number // milliseconds to wait after a 429 or 503

const sleep = (ms: number) => new Promise(done => setTimeout(done, ms))

const patient: Pause = (response, attempt) => 1000 * Number(response.headers.get('retry-after')) || 50 * 2 ** attempt

/** Retries transient failures until there is an answer. */
async function ask(path: string, body?: object, pause: Pause = patient): Promise<Answer> {
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

async function rpc(method: string, ...params: unknown[]): Promise<any> {
	const { body } = await ask('/ext/bc/C/rpc', { jsonrpc: '2.0', id: 1, method, params })
	if (body.error) throw new Error(`${method}: ${body.error.message}`)
	return body.result
}

/** Sends a payment. After a failure it looks for the transaction that has the nonce. */
async function pay(value: number): Promise<string> {
	const nonce = await rpc('eth_getTransactionCount', alice, 'latest')
	try {
		return await rpc('eth_sendTransaction', { from: alice, to: bob, value: '0x' + value.toString(16), nonce })
	} catch (error) {
		const block: { transactions: { from: string; nonce: string; hash: string }[] } = await rpc('eth_getBlockByNumber', 'latest', true)
		const sent = block.transactions.find(t => t.from.toLowerCase() === alice.toLowerCase() && t.nonce === nonce)
		if (!sent) throw error
		return sent.hash
	}
}

function assert(ok: boolean, what: string): asserts ok {
	if (!ok) throw new Error(what)
}

const clients: Record<string, () => Promise<void>> = {
	// Retries at once after a 429, whatever Retry-After says.
	'retry-after': async () => {
		const pause = repaired ? patient : () => 20
		const { body } = await ask('/v1/chains/43114', undefined, pause)
		assert(body.chainId === '43114', 'another chain')
		const page = await ask('/v1/chains/43114/blocks?pageSize=5', undefined, pause)
		assert(page.body.blocks.length > 0, 'no blocks')
	},
	// Takes a missing receipt for a failed transaction.
	'null-receipt': async () => {
		const hash = await pay(1)
		let receipt: { status: string } | null = await rpc('eth_getTransactionReceipt', hash)
		for (let i = 0; repaired && !receipt && i < 50; i++) {
			await sleep(50)
			receipt = await rpc('eth_getTransactionReceipt', hash)
		}
		assert(receipt?.status === '0x1', 'the payment failed')
	},
	// Takes a transaction that isn't indexed yet for one that doesn't exist.
	lag: async () => {
		const path = `/v1/chains/43114/transactions/${await pay(2)}`
		let found = await ask(path)
		for (let i = 0; repaired && found.status === 404 && i < 50; i++) {
			await sleep(50)
			found = await ask(path)
		}
		assert(found.status === 200, `the transaction does not exist: ${found.status}`)
	},
}

await clients[name]()

export {} // makes the file a module, so that it may await
