package store

import (
	"errors"
	"slices"
	"testing"
)

// TestEachTableSaysItsBlock reads the schema's lines: every table has one, and the columns that it names hold the block. The undo log has only the
// key of an added row, so the block of an EVM chain must be part of it.
func TestEachTableSaysItsBlock(t *testing.T) {
	d := fullDelta()
	d.Override = &BlockOverride{ID: d.Block.ID, Early: true}
	d.Impersonated = []ImpersonatedTx{{ID: d.Block.ID}}
	change := &StateDelta{Change: StateChange{Chain: 1, Block: 1, Kind: BalanceChange, Address: address, Value: wei, Root: hash, Digest: hash}}
	db := made(t, Memory, func(b *Batch) error { return errors.Join(writeChain(d)(b), b.AddStateChange(change)) })
	for _, table := range Tables() {
		r, said := tablesOfBlocks()[table]
		if !said {
			t.Errorf("the line before the table %s does not say to which block its rows belong", table)
			continue
		}
		if r.kind == ofNoBlock {
			continue
		}
		key, err := db.key(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range []string{r.column, r.chain} {
			if column != "" && !slices.Contains(key, column) {
				t.Errorf("table %s: the column %q is not part of the key %q", table, column, key)
			}
		}
		if r.kind == ofPrimaryBlock {
			continue
		}
		rows, err := db.read.Queryx(`SELECT * FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for rows.Next() {
			row := map[string]any{}
			if err := rows.MapScan(row); err != nil {
				t.Fatal(err)
			}
			value := func(column string) any { return row[column] }
			if r.isOf(1, 0, value) {
				found++
			}
			if r.isOf(2, 0, value) || r.kind == ofBlock && r.isOf(1, 1, value) {
				t.Errorf("table %s: the row %v is in block 1 of chain 1", table, row)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if found != 1 {
			t.Errorf("table %s: %d rows are in block 1, want 1", table, found)
		}
	}
	for table := range tablesOfBlocks() {
		if !slices.Contains(Tables(), table) {
			t.Errorf("the schema has a line about %s, which is no table", table)
		}
	}
}
