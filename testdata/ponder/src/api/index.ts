import { Hono } from 'hono'
import { db } from 'ponder:api'
import { holding, total } from 'ponder:schema'

const app = new Hono()

// totals are all that was indexed, with numbers as text.
app.get('/totals', async (c) => {
  const text = (rows: object[]) => rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, String(value)])))
  return c.json({ totals: text(await db.select().from(total)), holdings: text(await db.select().from(holding)) })
})

export default app
