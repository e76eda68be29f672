import { ponder } from 'ponder:registry'
import { holding, total } from 'ponder:schema'

ponder.on('Token:Transfer', async ({ event, context: { db } }) => {
  const { address: token } = event.log
  const { from, to, value } = event.args
  await db.insert(total).values({ token, transfers: 1, amount: value }).onConflictDoUpdate((row) => ({ transfers: row.transfers + 1, amount: row.amount + value }))
  for (const [holder, amount] of [[from, -value], [to, value]] as const) {
    await db.insert(holding).values({ token, holder, amount }).onConflictDoUpdate((row) => ({ amount: row.amount + amount }))
  }
})
