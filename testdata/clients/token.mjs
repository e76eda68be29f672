// Transfer is the topic of the event of ERC-20 and ERC-721 tokens alike.
export const Transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

// Deposit and Withdrawal are what a wrapped native token logs where others log a transfer from or to nobody.
const Deposit = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
const Withdrawal = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

// topicOf is an address as a topic.
export const topicOf = (address) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

// balances follows the transfers of a token and answers what a holder has at each block at which that changes, as
// pairs of block number and amount. An ERC-721 token has its id as the fourth topic and counts as one.
export function balances(logs, token, holder) {
  const [of, who] = [token.toLowerCase(), topicOf(holder)]
  const history = [[0, 0n]]
  for (const log of logs) {
    if (log.address.toLowerCase() !== of) continue
    const change = received(log, who) - sent(log, who)
    if (change !== 0n) history.push([Number(log.blockNumber), history.at(-1)[1] + change])
  }
  return history
}

const amount = (log) => (log.topics.length === 4 ? 1n : BigInt(log.data))

function received(log, who) {
  const to = { [Transfer]: log.topics[2], [Deposit]: log.topics[1] }[log.topics[0]]
  return to === who ? amount(log) : 0n
}

function sent(log, who) {
  const from = { [Transfer]: log.topics[1], [Withdrawal]: log.topics[1] }[log.topics[0]]
  return from === who ? amount(log) : 0n
}

// balanceAt is the balance after a block.
export function balanceAt(history, number) {
  return history.findLast(([at]) => at <= number)[1]
}

// moments are the sampled heights together with those around each change.
export function moments(history, sample) {
  const changes = history.slice(-20).flatMap(([at]) => [at - 1, at]).filter((n) => n >= 0)
  return [...new Set([...sample, ...changes])].sort((a, b) => a - b)
}
