import { onchainTable, primaryKey } from 'ponder'

export const holding = onchainTable('holding', (t) => ({ token: t.hex().notNull(), holder: t.hex().notNull(), amount: t.bigint().notNull() }), (table) => ({ pk: primaryKey({ columns: [table.token, table.holder] }) }))
export const total = onchainTable('total', (t) => ({ token: t.hex().primaryKey(), transfers: t.integer().notNull(), amount: t.bigint().notNull() }))
