package store

// Place says where on its chain something happened.
type Place struct {
	TxHash []byte
	Hash   []byte // of the block
	Time   int64  // of the block, Unix seconds
	Header []byte // of the block, RLP
}

// placeColumns are those of a transaction t in a block b.
const placeColumns = `t.hash, b.hash, b.time, b.header`

func (p *Place) fields() []any { return []any{&p.TxHash, &p.Hash, &p.Time, &p.Header} }
