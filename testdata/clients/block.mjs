import { quantity, rootOf } from './trie.mjs'

const same = (value) => value

// fields are the header's fields in the order of the network's RLP; those of a C-Chain only are marked, and those of its blocks since Helicon.
const fields = [
  ['parentHash', same], ['sha3Uncles', same], ['miner', same], ['stateRoot', same], ['transactionsRoot', same],
  ['receiptsRoot', same], ['logsBloom', same], ['difficulty', quantity], ['number', quantity], ['gasLimit', quantity],
  ['gasUsed', quantity], ['timestamp', quantity], ['extraData', same], ['mixHash', same], ['nonce', same],
  ['extDataHash', same, 'C'], ['baseFeePerGas', quantity], ['extDataGasUsed', quantity, 'C'], ['blockGasCost', quantity],
  ['blobGasUsed', quantity], ['excessBlobGas', quantity], ['parentBeaconBlockRoot', same],
  ['timestampMilliseconds', quantity], ['minDelayExcess', quantity],
  ...['targetExponent', 'minPriceExponent', 'settledHeight', 'settledGasUnix', 'settledGasNumerator', 'settledExcess'].map((name) => [name, quantity, 'Helicon']),
]

// asynchronous tells whether a block was accepted before it was executed: its header then has the results of earlier blocks.
export const asynchronous = (block) => block.settledHeight !== undefined

// headerHash is the hash of a block as eth_getBlockByNumber tells it.
export function headerHash(codec, block, isC) {
  const kept = fields.filter(([, , only]) => !only || (only === 'C' && isC) || (only === 'Helicon' && asynchronous(block)))
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

// walk reads a chain from genesis to head: each block with its transactions and their receipts, as the wire has them, and with the receipts of
// the blocks whose results its header has.
export async function* walk(request, height) {
  const waiting = new Map() // receipts by number, until they are settled
  for (let number = 0; number <= height; number++) {
    const tag = `0x${number.toString(16)}`
    const [block, receipts] = await Promise.all([
      request('eth_getBlockByNumber', [tag, true]),
      request('eth_getBlockReceipts', [tag]),
    ])
    let settled = receipts
    if (asynchronous(block)) {
      settled = []
      for (const [earlier, of] of waiting) {
        if (earlier > Number(block.settledHeight)) break
        settled.push(...of)
        waiting.delete(earlier)
      }
      waiting.set(number, receipts)
    }
    yield { block, receipts, number, settled }
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
export function checkReceipts(tally, codec, { block, receipts, number, settled }) {
  const at = `block ${number}`
  tally.same(`${at} receipts`, receipts.map((r) => r.transactionHash), block.transactions.map((t) => t.hash))
  tally.same(`${at} receiptsRoot`, receiptsRoot(codec, settled), block.receiptsRoot)
  tally.same(`${at} bloom`, bloomOf(codec, settled.flatMap((r) => r.logs)), block.logsBloom)
  let used = 0n
  let logs = 0
  for (const [i, r] of receipts.entries()) {
    const tx = block.transactions[i]
    used += BigInt(r.gasUsed)
    tally.same(`${at} receipt ${i} cumulative gas`, BigInt(r.cumulativeGasUsed), used)
    tally.same(`${at} receipt ${i} bloom`, bloomOf(codec, r.logs), r.logsBloom)
    tally.same(`${at} receipt ${i} parties`, [r.from, r.to, r.type], [tx.from, tx.to, tx.type])
    tally.ok(`${at} receipt ${i} gas within the limit`, BigInt(r.gasUsed) <= BigInt(tx.gas))
    const paid = BigInt(r.effectiveGasPrice)
    if (asynchronous(block)) {
      tally.ok(`${at} receipt ${i} price`, paid <= price(tx, block) && paid > 0n)
      tally.same(`transaction ${i} bound`, BigInt(tx.gasPrice), price(tx, block))
      tally.ok(`${at} receipt ${i} gas charged`, 2n * BigInt(r.gasUsed) >= BigInt(tx.gas))
    } else tally.same(`${at} receipt ${i} price`, paid, price(tx, block))
    tally.ok(`${at} receipt ${i} status`, r.status === '0x1' || (r.status === '0x0' && r.logs.length === 0))
    for (const log of r.logs) {
      tally.same(`${at} log`, [Number(log.logIndex), log.transactionHash, log.blockHash], [logs++, tx.hash, block.hash])
    }
  }
  if (asynchronous(block)) {
    const limits = block.transactions.reduce((sum, tx) => sum + BigInt(tx.gas), 0n)
    tally.ok(`${at} gas`, block.blockExtraData === '0x' ? BigInt(block.gasUsed) === limits : BigInt(block.gasUsed) > limits)
  } else tally.same(`${at} gas`, BigInt(block.gasUsed), used)
}

// provenBy is the block with the state root that a proof after a block fits: that block, or the one that settles it. No header may have it: of
// blocks settled together only the last one's root, and the newest blocks are not settled yet.
export function provenBy(blocks, number) {
  if (!asynchronous(blocks[number].block)) return blocks[number].block
  return blocks.slice(number + 1).map(({ block }) => block).find((block) => Number(block.settledHeight) === number)
}

// price is what a transaction pays for a unit of gas at the base fee of its header.
function price(tx, block) {
  if (tx.maxFeePerGas === undefined) return BigInt(tx.gasPrice)
  const offer = BigInt(block.baseFeePerGas) + BigInt(tx.maxPriorityFeePerGas)
  const most = BigInt(tx.maxFeePerGas)
  return offer < most ? offer : most
}
