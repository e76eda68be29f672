package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"

	"snowglobe/sim/store/bulk"
)

// UTXONumber orders UTXOs: by the chain that made them, then by height, then by their index among all UTXOs of the block.
type UTXONumber int64

const outputBits = 24

// NewUTXONumber returns the number of the n-th UTXO that a block made.
func NewUTXONumber(chain int, height uint64, n int) UTXONumber {
	return UTXONumber(int64(chain)<<(numberBits+indexBits) | int64(height)<<outputBits | int64(n))
}

// Chain returns the primary chain that made it.
func (n UTXONumber) Chain() int { return int(n >> (numberBits + indexBits)) }

// Height returns the height of the block that made it.
func (n UTXONumber) Height() uint64 {
	return uint64(n>>outputBits) & (1<<(numberBits+indexBits-outputBits) - 1)
}

// UTXO is an output, spent or not.
type UTXO struct {
	ID             UTXONumber `db:"id"`
	Hash           []byte     // the input id
	Tx             []byte     `db:"tx"` // id of the transaction
	Output         uint32     `db:"output"`
	Chain          int        `db:"chain"`  // the chain that can spend it; another than ID.Chain() when it was exported
	Asset          []byte     `db:"asset"`  // who writes AVAX leaves it out
	Amount         Amount     `db:"amount"` // 0 if it is not an amount
	Out            []byte     `db:"out"`    // the output with its type id
	Reward         bool       `db:"reward"` // it pays a staking reward
	Spent          *Position  `db:"spent"`
	OwnerAddresses [][]byte   // written, not read
}

// Spend records that a transaction spent a UTXO.
type Spend struct {
	UTXO           UTXONumber
	By             Position
	Chain          int // where it can be spent
	OwnerAddresses [][]byte
}

const utxoColumns = `id, tx, output, chain, asset, amount, out, reward, spent`

// utxos reads every UTXO that a statement returns, and adds what the file omits: input id, AVAX, and the common part of plain outputs.
func utxos(ctx context.Context, db *DB, text string, args ...any) ([]UTXO, error) {
	all, err := List[UTXO](ctx, db, text, args...)
	for i := range all {
		if err == nil {
			err = db.complete(ctx, &all[i])
		}
		all[i].Hash = inputID(all[i].Tx, all[i].Output)
	}
	return all, err
}

// complete restores the parts of a UTXO that the file omits.
func (db *DB) complete(ctx context.Context, u *UTXO) (err error) {
	if len(u.Out) == addressBytes {
		u.Out = plainOutput(u.Amount, u.Out)
	}
	if u.Asset == nil {
		u.Asset, err = db.avax(ctx, u.ID.Chain())
	}
	return err
}

// avax returns the id of AVAX on a primary chain's network: the first asset in its X-Chain's genesis.
func (db *DB) avax(ctx context.Context, chain int) ([]byte, error) {
	exchange := PrimaryChain((chain-1)/chainsPerNetwork, XChain)
	if id, known := db.avaxIDs.Load(exchange); known {
		return id.([]byte), nil
	}
	id, err := value[[]byte](ctx, db, `SELECT hash FROM asset WHERE id = ?`, At(exchange, 0, 0))
	if errors.Is(err, ErrNotFound) {
		err = Damaged(errors.New("table asset: AVAX is missing"))
	}
	if err == nil {
		db.avaxIDs.Store(exchange, id)
	}
	return id, err
}

// Most outputs are an amount that one address can spend at any time: a secp256k1fx.TransferOutput (type 7) without a locktime, with a
// threshold of 1 and one address. The file stores only the address.
const (
	plainHead = "\x00\x00\x00\x07"
	plainTail = "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x01"
)

// plainOutput returns such an output in the network's encoding.
func plainOutput(amount Amount, address []byte) []byte {
	out := append(make([]byte, 0, len(plainHead)+8+len(plainTail)+addressBytes), plainHead...)
	out = binary.BigEndian.AppendUint64(out, uint64(amount))
	return append(append(out, plainTail...), address...)
}

// keptOutput returns the part of an output that the file stores.
func keptOutput(amount Amount, out []byte) []byte {
	if address := out[max(len(out)-addressBytes, 0):]; bytes.Equal(out, plainOutput(amount, address)) {
		return address
	}
	return out
}

// inputID returns the input id of an output (avalanchego's avax.UTXOID.InputID): the hash of its transaction's id and its index.
func inputID(tx []byte, output uint32) []byte {
	id := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(output)), tx...))
	return id[:]
}

// inputIDPrefix returns the first four bytes of an input id, by which the index finds a UTXO and few others.
func inputIDPrefix(hash []byte) int32 {
	if len(hash) < 4 {
		return 0
	}
	return int32(binary.BigEndian.Uint32(hash))
}

// Bytes returns the UTXO in the network's encoding.
func (u *UTXO) Bytes() []byte {
	raw := append(make([]byte, 0, 2+32+4+32+len(u.Out)), 0, 0)
	raw = append(raw, u.Tx...)
	raw = append(raw, byte(u.Output>>24), byte(u.Output>>16), byte(u.Output>>8), byte(u.Output))
	raw = append(raw, u.Asset...)
	return append(raw, u.Out...)
}

// UTXO reads a UTXO by its number.
func (db *DB) UTXO(ctx context.Context, id UTXONumber) (*UTXO, error) {
	found, err := utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE id = ?`, id)
	return only(found, err, func(*UTXO) bool { return true })
}

// UTXOByHash reads a chain's UTXO with this input id: the outputs of a genesis have the same ids on every chain.
func (db *DB) UTXOByHash(ctx context.Context, chain int, hash []byte) (*UTXO, error) {
	found, err := utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE mark = ? AND id >= ? AND id < ?`,
		inputIDPrefix(hash), NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0))
	return only(found, err, func(u *UTXO) bool { return bytes.Equal(u.Hash, hash) })
}

// UTXOOfNetwork reads the UTXO with this input id on one of a network's chains. The outputs of a genesis have the same ids on every
// network.
func (db *DB) UTXOOfNetwork(ctx context.Context, network int, hash []byte) (*UTXO, error) {
	found, err := utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE mark = ? AND id >= ? AND id < ?`,
		inputIDPrefix(hash), NewUTXONumber(PrimaryChain(network, PChain), 0, 0), NewUTXONumber(PrimaryChain(network+1, PChain), 0, 0))
	return only(found, err, func(u *UTXO) bool { return bytes.Equal(u.Hash, hash) })
}

// UnspentUTXO reads the unspent UTXO with this input id that a chain can spend, made by this or another chain.
func (db *DB) UnspentUTXO(ctx context.Context, hash []byte, chain, source int) (*UTXO, error) {
	found, err := utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE mark = ? AND chain = ? AND id >= ? AND id < ? AND spent IS NULL`,
		inputIDPrefix(hash), chain, NewUTXONumber(source, 0, 0), NewUTXONumber(source+1, 0, 0))
	return only(found, err, func(u *UTXO) bool { return bytes.Equal(u.Hash, hash) })
}

func only(found []UTXO, err error, wanted func(*UTXO) bool) (*UTXO, error) {
	for i := range found {
		if wanted(&found[i]) {
			return &found[i], err
		}
	}
	if err == nil {
		err = ErrNotFound
	}
	return nil, err
}

// UTXOsOfBlock reads the UTXOs that a chain's block at a height made, in order.
func (db *DB) UTXOsOfBlock(ctx context.Context, chain int, height uint64) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE id >= ? AND id < ? ORDER BY id`,
		NewUTXONumber(chain, height, 0), NewUTXONumber(chain, height+1, 0))
}

// UTXOsOfTx reads the UTXOs that a transaction made, by output: at once, and when its staking ended.
func (db *DB) UTXOsOfTx(ctx context.Context, chain int, tx []byte) ([]UTXO, error) {
	row, err := db.PrimaryTxByHash(ctx, chain, tx)
	if err != nil {
		return nil, err
	}
	heights := []uint64{row.ID.Number()}
	if row.Type == "RewardAutoRenewedValidatorTx" { // the next block decides it
		heights = append(heights, row.ID.Number()+1)
	}
	switch s, err := db.StakerOfTx(ctx, tx); {
	case err == nil && s.Ended != nil:
		heights = append(heights, uint64(*s.Ended))
	case err != nil && !errors.Is(err, ErrNotFound):
		return nil, err
	}
	var made []UTXO
	for _, height := range heights {
		all, err := db.UTXOsOfBlock(ctx, chain, height)
		if err != nil {
			return nil, err
		}
		made = append(made, slices.DeleteFunc(all, func(u UTXO) bool { return !bytes.Equal(u.Tx, tx) })...)
	}
	slices.SortFunc(made, func(a, b UTXO) int { return cmp.Compare(a.Output, b.Output) })
	return made, nil
}

// UnspentUTXOs reads at most limit unspent UTXOs of an address that a chain can spend, made by this or another chain: newest first, all before
// a number.
func (db *DB) UnspentUTXOs(ctx context.Context, address []byte, chain, source int, before UTXONumber, limit int) ([]UTXO, error) {
	first, last := NewUTXONumber(source, 0, 0), NewUTXONumber(source+1, 0, 0)
	return utxos(ctx, db, `SELECT u.id, u.tx, u.output, u.chain, u.asset, u.amount, u.out, u.reward, u.spent
		FROM utxo_owner o CROSS JOIN utxo u ON u.id = o.utxo
		WHERE o.unspent IS NOT NULL AND o.address = ? AND o.chain = ? AND o.utxo >= ? AND o.utxo < ? ORDER BY o.utxo DESC LIMIT ?`, address, chain, first, min(before, last), limit)
}

// UTXOsOfAddress reads at most limit spent or unspent UTXOs of an address that a chain can or could spend, newest first by the chain that
// made them, all before a number.
func (db *DB) UTXOsOfAddress(ctx context.Context, address []byte, chain int, before UTXONumber, limit int) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT u.id, u.tx, u.output, u.chain, u.asset, u.amount, u.out, u.reward, u.spent
		FROM utxo_owner o CROSS JOIN utxo u ON u.id = o.utxo
		WHERE o.address = ? AND o.chain = ? AND o.utxo < ? ORDER BY o.utxo DESC LIMIT ?`, address, chain, before, limit)
}

// UnspentUTXOsOfAddress reads the unspent UTXOs of an address that a chain can spend, whichever chain made them.
func (db *DB) UnspentUTXOsOfAddress(ctx context.Context, address []byte, chain int) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT u.id, u.tx, u.output, u.chain, u.asset, u.amount, u.out, u.reward, u.spent
		FROM utxo_owner o CROSS JOIN utxo u ON u.id = o.utxo
		WHERE o.unspent IS NOT NULL AND o.address = ? AND o.chain = ? ORDER BY o.utxo`, address, chain)
}

// Unspent sums up the unspent UTXOs of an address on a chain.
type Unspent struct {
	Count int    `db:"count"` // UTXOs that the chain can spend, or made for one of two others
	High  int64  `db:"high"`  // sum of the upper halves of the amounts that the chain made and can spend
	Low   int64  `db:"low"`   // sum of the lower halves: neither overflows in the engine
	Rests int64  `db:"rests"` // number of these that are AVAX with -1 in the column
	Rest  string `db:"rest"`  // their numbers, each after a comma
}

// Sum returns the AVAX that the chain made and one address can spend there at any time
func (u *Unspent) Sum() uint64 { return uint64(u.High)<<32 + uint64(u.Low) + uint64(u.Rests) }

// Others returns the numbers of the other UTXOs of AVAX that the chain made and can spend
func (u *Unspent) Others() (all []UTXONumber, err error) {
	for text := range strings.SplitSeq(u.Rest, ",") {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, UTXONumber(n))
	}
	return all, nil
}

// Unspent sums up the unspent UTXOs of an address that a chain can spend, and counts those made by it that one of two other chains can
// spend. An index covers all columns it reads.
func (db *DB) Unspent(ctx context.Context, address []byte, chain int, others [2]int) (*Unspent, error) {
	return Get[Unspent](ctx, db, `
		SELECT count(*)
				+ (SELECT count(*) FROM utxo_owner WHERE unspent IS NOT NULL AND address = ?1 AND chain = ?2 AND utxo < ?5)
				+ (SELECT count(*) FROM utxo_owner WHERE unspent IS NOT NULL AND address = ?1 AND chain = ?2 AND utxo >= ?6)
				+ (SELECT count(*) FROM utxo_owner WHERE unspent IS NOT NULL AND address = ?1 AND chain = ?3 AND utxo >= ?5 AND utxo < ?6)
				+ (SELECT count(*) FROM utxo_owner WHERE unspent IS NOT NULL AND address = ?1 AND chain = ?4 AND utxo >= ?5 AND utxo < ?6) AS count,
			coalesce(sum(unspent >> 32), 0) AS high, coalesce(sum(unspent & 4294967295), 0) AS low,
			count(*) FILTER (WHERE unspent < 0) AS rests, coalesce(group_concat(utxo) FILTER (WHERE unspent < 0), '') AS rest
		FROM utxo_owner WHERE unspent IS NOT NULL AND address = ?1 AND chain = ?2 AND utxo >= ?5 AND utxo < ?6`,
		address, chain, others[0], others[1], NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0))
}

// UTXOsMadeBy reads every UTXO that a primary chain made, spent or not.
func (db *DB) UTXOsMadeBy(ctx context.Context, chain int) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE id >= ? AND id < ? ORDER BY id`,
		NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0))
}

// UnspentUTXOsMadeBy reads the unspent outputs that a chain made and that can be spent there.
func (db *DB) UnspentUTXOsMadeBy(ctx context.Context, chain int) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE id >= ? AND id < ? AND spent IS NULL AND chain = ? ORDER BY id`,
		NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0), chain)
}

// SharedUTXOs reads the outputs that a chain exported to others, which have not imported them yet.
func (db *DB) SharedUTXOs(ctx context.Context, chain int) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo WHERE id >= ? AND id < ? AND spent IS NULL AND chain <> ? ORDER BY id`,
		NewUTXONumber(chain, 0, 0), NewUTXONumber(chain+1, 0, 0), chain)
}

var (
	intoUTXO   = bulk.NewTable("utxo", utxoColumns+`, mark`, false)
	intoOwner  = bulk.NewTable("utxo_owner", `address, chain, utxo, unspent`, true)
	spendUTXO  = bulk.NewUpdate(intoUTXO, `UPDATE utxo SET spent = ?2 WHERE id = ?1`, 2)
	spendOwner = bulk.NewUpdate(intoOwner, `UPDATE utxo_owner SET unspent = NULL WHERE address = ?1 AND chain = ?2 AND utxo = ?3`, 3)
)

func (b *Batch) addUTXO(u *UTXO) error {
	out := keptOutput(u.Amount, u.Out)
	err := b.insert(intoUTXO, u.ID, u.Tx, u.Output, u.Chain, u.Asset, u.Amount, out, u.Reward, nil, inputIDPrefix(u.Hash))
	unspent := int64(u.Amount)
	switch {
	case u.Asset != nil:
		unspent = 0
	case len(out) != addressBytes || unspent < 0:
		unspent = -1
	}
	for _, address := range u.OwnerAddresses {
		if err == nil {
			err = b.insert(intoOwner, address, u.Chain, u.ID, unspent)
		}
	}
	return err
}

func (b *Batch) addSpend(s *Spend) error {
	err := b.insert(spendUTXO, s.UTXO, s.By)
	for _, address := range s.OwnerAddresses {
		if err == nil {
			err = b.insert(spendOwner, address, s.Chain, s.UTXO)
		}
	}
	return err
}

// OutputOwners holds the owners of an output (secp256k1fx.OutputOwners): threshold of the addresses, from locktime on.
type OutputOwners struct {
	Threshold uint32
	Locktime  uint64
	Addresses [][]byte // 20 bytes each, ascending
}

const (
	ownersHead   = 4 + 8
	addressBytes = 20
)

// Bytes encodes the owners for a row.
func (o OutputOwners) Bytes() []byte {
	raw := binary.BigEndian.AppendUint32(nil, o.Threshold)
	raw = binary.BigEndian.AppendUint64(raw, o.Locktime)
	for _, address := range o.Addresses {
		raw = append(raw, address...)
	}
	return raw
}

// ParseOutputOwners decodes Bytes; no bytes are no owners.
func ParseOutputOwners(raw []byte) (o OutputOwners) {
	if len(raw) < ownersHead {
		return o
	}
	o.Threshold, o.Locktime = binary.BigEndian.Uint32(raw), binary.BigEndian.Uint64(raw[4:])
	for rest := raw[ownersHead:]; len(rest) >= addressBytes; rest = rest[addressBytes:] {
		o.Addresses = append(o.Addresses, rest[:addressBytes])
	}
	return o
}

// LockedUTXOs reads the unspent amounts that a chain can spend and that are or were locked: a locktime stands where other amounts have
// zeros.
func (db *DB) LockedUTXOs(ctx context.Context, chain int) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT `+utxoColumns+` FROM utxo
		WHERE chain = ? AND spent IS NULL AND amount <> 0 AND length(out) > 20 AND substr(out, 13, 8) <> x'0000000000000000'`, chain)
}

// UTXOsOfGenesis reads an address's outputs in a primary chain's genesis.
func (db *DB) UTXOsOfGenesis(ctx context.Context, address []byte, chain int) ([]UTXO, error) {
	return db.utxosBetween(ctx, address, chain, NewUTXONumber(chain, 0, 0), NewUTXONumber(chain, 1, 0))
}

// ExportedUTXOs reads the UTXOs that a chain exported to an address on another chain, imported or not.
func (db *DB) ExportedUTXOs(ctx context.Context, address []byte, chain, source int) ([]UTXO, error) {
	return db.utxosBetween(ctx, address, chain, NewUTXONumber(source, 0, 0), NewUTXONumber(source+1, 0, 0))
}

// utxosBetween reads the UTXOs of an address that a chain can or could spend, from a number up to another.
func (db *DB) utxosBetween(ctx context.Context, address []byte, chain int, first, end UTXONumber) ([]UTXO, error) {
	return utxos(ctx, db, `SELECT u.id, u.tx, u.output, u.chain, u.asset, u.amount, u.out, u.reward, u.spent
		FROM utxo_owner o CROSS JOIN utxo u ON u.id = o.utxo
		WHERE o.address = ? AND o.chain = ? AND o.utxo >= ? AND o.utxo < ? ORDER BY o.utxo`, address, chain, first, end)
}
