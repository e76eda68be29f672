import { quantity, rootOf } from './trie.mjs'

const same = (value) => value

// fields are the header's fields in the order of the network's RLP; those of a C-Chain only are marked.
const fields = [
  ['parentHash', same], ['sha3Uncles', same], ['miner', same], ['stateRoot', same], ['transactionsRoot', same],
  ['receiptsRoot', same], ['logsBloom', same], ['difficulty', quantity], ['number', quantity], ['gasLimit', quantity],
  ['gasUsed', quantity], ['timestamp', quantity], ['extraData', same], ['mixHash', same], ['nonce', same],
  ['extDataHash', same, 'C'], ['baseFeePerGas', quantity], ['extDataGasUsed', quantity, 'C'], ['blockGasCost', quantity],
  ['blobGasUsed', quantity], ['excessBlobGas', quantity], ['parentBeaconBlockRoot', same],
  ['timestampMilliseconds', quantity], ['minDelayExcess', quantity],
]

// headerHash is the hash of a block as eth_getBlockByNumber tells it.
export function headerHash(codec, block, isC) {
  const kept = fields.filter(([, , only]) => isC || !only)
  return codec.keccak(codec.encode(kept.map(([name, form]) => form(block[name]))))
}

// receiptsRoot is the root over receipts as eth_getBlockReceipts tells them.
export function receiptsRoot(codec, receipts) {
  return rootOf(codec, receipts.map((r) => {
    const logs = r.logs.map((log) => [log.address, log.topics, log.data])
    const body = codec.encode([quantity(r.status), quantity(r.cumulativeGasUsed), r.logsBloom, logs])
    return r.type === '0x0' ? body : `0x${r.type.slice(2).padStart(2, '0')}${body.slice(2)}`
  }))
}

// bloomOf is the bloom over logs: three bits of 2048 for each address and topic.
export function bloomOf(codec, logs) {
  let bloom = 0n
  for (const item of logs.flatMap((log) => [log.address, ...log.topics])) {
    const hash = codec.keccak(item)
    for (const at of [2, 6, 10]) bloom |= 1n << (BigInt(`0x${hash.slice(at, at + 4)}`) & 2047n)
  }
  return `0x${bloom.toString(16).padStart(512, '0')}`
}

// walk reads a chain from genesis to head: each block with its transactions and their receipts, as the wire has them.
export async function* walk(request, height) {
  for (let number = 0; number <= height; number++) {
    const tag = `0x${number.toString(16)}`
    const [block, receipts] = await Promise.all([
      request('eth_getBlockByNumber', [tag, true]),
      request('eth_getBlockReceipts', [tag]),
    ])
    yield { block, receipts, number }
  }
}

// checkHeader checks what a block says of itself and of the block before it.
export function checkHeader(tally, codec, chain, { block, number }, parent) {
  const at = `block ${number}`
  tally.same(`${at} hash`, headerHash(codec, block, chain.isC), block.hash)
  tally.same(`${at} number`, Number(block.number), number)
  tally.same(`${at} extData`, 'extDataHash' in block, chain.isC)
  if (!parent) return
  tally.same(`${at} parent`, block.parentHash, parent.hash)
  tally.ok(`${at} is a second later at least`, Number(block.timestamp) > Number(parent.timestamp))
  tally.ok(`${at} has transactions`, block.transactions.length > 0 || (block.blockExtraData ?? '0x') !== '0x') // atomic ones are in the extra data
  tally.same(`${at} milliseconds`, Math.floor(Number(block.timestampMilliseconds) / 1000), Number(block.timestamp))
}

// checkReceipts checks receipts against their block, their transactions and each other.
export function checkReceipts(tally, codec, { block, receipts, number }) {
  const at = `block ${number}`
  tally.same(`${at} receipts`, receipts.map((r) => r.transactionHash), block.transactions.map((t) => t.hash))
  tally.same(`${at} receiptsRoot`, receiptsRoot(codec, receipts), block.receiptsRoot)
  tally.same(`${at} bloom`, bloomOf(codec, receipts.flatMap((r) => r.logs)), block.logsBloom)
  let used = 0n
  let logs = 0
  for (const [i, r] of receipts.entries()) {
    const tx = block.transactions[i]
    used += BigInt(r.gasUsed)
    tally.same(`${at} receipt ${i} cumulative gas`, BigInt(r.cumulativeGasUsed), used)
    tally.same(`${at} receipt ${i} bloom`, bloomOf(codec, r.logs), r.logsBloom)
    tally.same(`${at} receipt ${i} parties`, [r.from, r.to, r.type], [tx.from, tx.to, tx.type])
    tally.ok(`${at} receipt ${i} gas within the limit`, BigInt(r.gasUsed) <= BigInt(tx.gas))
    tally.same(`${at} receipt ${i} price`, BigInt(r.effectiveGasPrice), price(tx, block))
    tally.ok(`${at} receipt ${i} status`, r.status === '0x1' || (r.status === '0x0' && r.logs.length === 0))
    for (const log of r.logs) {
      tally.same(`${at} log`, [Number(log.logIndex), log.transactionHash, log.blockHash], [logs++, tx.hash, block.hash])
    }
  }
  tally.same(`${at} gas`, BigInt(block.gasUsed), used)
}

// price is what a transaction pays for a unit of gas.
function price(tx, block) {
  if (tx.maxFeePerGas === undefined) return BigInt(tx.gasPrice)
  const offer = BigInt(block.baseFeePerGas) + BigInt(tx.maxPriorityFeePerGas)
  const most = BigInt(tx.maxFeePerGas)
  return offer < most ? offer : most
}
