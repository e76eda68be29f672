package store

import (
	"regexp"
	"sync"
)

// The kinds of lines with which the schema says to which block the rows of a table belong.
const (
	ofBlock        = "Block"         // a block of an EVM chain
	ofChain        = "Chain"         // an EVM chain: later blocks change the row
	ofPrimaryBlock = "Primary block" // a block of a P-, X- or C-Chain of UTXOs
	ofNoBlock      = "No block"
)

// rowBlock is a table's `-- Block:` line in the schema.
type rowBlock struct {
	kind   string
	column string // holds the block: a position, or the number if there is a column for the chain; of a row without a block, the chain
	chain  string // holds the chain: its number, an asset or a token's id; empty next to a position
}

var rowBlockLine = regexp.MustCompile(`(?m)^-- (Block|Chain|Primary block|No block): (\w+)(?: of (\w+))?.*\nCREATE TABLE (\w+)`)

// tablesOfBlocks reads the schema's lines, by table.
var tablesOfBlocks = sync.OnceValue(func() map[string]rowBlock {
	all := map[string]rowBlock{}
	for _, m := range rowBlockLine.FindAllStringSubmatch(schema+primarySchema, -1) {
		all[m[4]] = rowBlock{kind: m[1], column: m[2], chain: m[3]}
	}
	return all
})

// isOf reports whether a row belongs to a chain's blocks after one, or to the chain as a whole, given its values.
func (r rowBlock) isOf(chain int, after uint64, value func(column string) any) bool {
	number, _ := value(r.column).(int64)
	switch {
	case r.kind == ofChain:
		return TokenID(number).Chain() == chain
	case r.kind != ofBlock:
		return false
	case r.chain == "":
		at := Position(number)
		return at.Chain() == chain && at.Number() > after
	}
	of := 0
	switch key := value(r.chain).(type) {
	case int64:
		of = int(key)
	case []byte:
		of = AssetKey(key).Token().Chain()
	}
	return of == chain && uint64(number) > after
}

// changedLater lists the tables whose rows later blocks change: to remove only these blocks, each change has to be in the undo log.
func changedLater() map[string]bool {
	tables := map[string]bool{}
	for name, r := range tablesOfBlocks() {
		if r.kind == ofChain {
			tables[name] = true
		}
	}
	return tables
}
