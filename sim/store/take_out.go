package store

import (
	"encoding/binary"
	"errors"

	"snowglobe/sim/store/undo"
)

// TakenOut are rows of an EVM chain that were taken out of a file, by the number of their block.
type TakenOut map[uint64][]undo.Change

// TakeOut takes the blocks of an EVM chain after one out of a file, with everything that they added to the chain; but not what they added
// to metrics, nor to the primary chains. It is for copies of a world, which have no history of their own: PutBack undoes it.
func (db *DB) TakeOut(chain int, after uint64) (TakenOut, error) {
	if err := db.RecordUndo(); err != nil {
		return nil, err
	}
	taken, err := db.takeOut(chain, after)
	return taken, errors.Join(err, db.stopRecording())
}

func (db *DB) takeOut(chain int, after uint64) (TakenOut, error) {
	b, err := db.Begin()
	if err != nil {
		return nil, err
	}
	b.aside, b.tokens, db.rollup = true, true, nil
	first, last := At(chain, after, MaxIndex), Last(chain)
	for _, table := range []string{"block", "block_override", "tx", "impersonated_tx", "log", "call", "deployment", "transfer", "message", "message_event"} {
		err = errors.Join(err, b.exec(`DELETE FROM `+table+` WHERE id > ? AND id <= ?`, first, last))
	}
	low, high := assetKey(NewTokenID(chain, 0, 0)), assetKey(NewTokenID(chain+1, 0, 0))
	err = errors.Join(err,
		b.exec(`DELETE FROM nft WHERE block > ? AND block <= ?`, first, last),
		b.exec(`DELETE FROM touch WHERE tx > ? AND tx <= ?`, first, last),
		b.exec(`DELETE FROM holding WHERE asset >= ? AND asset < ? AND block > ?`, low, high, after),
		b.exec(`DELETE FROM token WHERE id >= ? AND id < ? AND block > ?`, NewTokenID(chain, 0, 0), NewTokenID(chain+1, 0, 0), after))
	for _, table := range []string{"account", "slot", "state_change"} {
		err = errors.Join(err, b.exec(`DELETE FROM `+table+` WHERE chain = ? AND block > ?`, chain, after))
	}
	taken := TakenOut{}
	if err == nil {
		var steps []byte
		if steps, err = db.recorder.End(); err == nil {
			err = taken.sort(db.recorder, steps)
		}
	}
	return taken, b.End(err)
}

// sort puts each row to its block.
func (t TakenOut) sort(r *undo.Recorder, steps []byte) error {
	changes, err := r.Selective(nil).Changes(steps)
	for _, c := range changes {
		number := func(column string) uint64 {
			n, _ := c.Value(column).(int64)
			return uint64(n)
		}
		var block uint64
		switch c.Table() {
		case "account", "slot", "state_change", "holding", "token":
			block = number("block")
		case "nft":
			block = Position(number("block")).Number()
		case "touch":
			block = Position(number("tx")).Number()
		default:
			block = Position(number("id")).Number()
		}
		t[block] = append(t[block], c)
	}
	return err
}

// assetKey is where the assets of tokens from one on begin.
func assetKey(id TokenID) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(id))[8-assetToken:]
}

// PutBack puts rows back.
func (b *Batch) PutBack(rows []undo.Change) error {
	b.aside, b.tokens = true, true
	return undo.Take(b.tx.Tx, rows)
}

// ForgetMetrics empties the roll-ups, which are to be made anew.
func (b *Batch) ForgetMetrics() error {
	b.aside, b.rollup, b.db.rollup = true, nil, nil
	var err error
	for _, table := range MetricTables {
		err = errors.Join(err, b.exec(`DELETE FROM `+table))
	}
	return err
}
