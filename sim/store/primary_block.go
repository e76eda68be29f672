package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"snowglobe/sim/store/bulk"
)

// PrimaryBlock is a block of a P- or X-Chain.
type PrimaryBlock struct {
	ID          Position `db:"id"`
	Hash        []byte   `db:"hash"`
	Parent      []byte   `db:"parent"`
	Time        int64    `db:"time"`
	Type        string   `db:"type"` // Genesis, Standard, Proposal, Commit or Abort
	Txs         int      `db:"txs"`
	AllTxs      int64    `db:"all_txs"`  // transactions of the chain up to and with this block
	Size        int      `db:"size"`     // of the bytes
	Head        []byte   `db:"head"`     // the bytes before the first transaction
	OuterID     []byte   `db:"outer_id"` // of the ProposerVM block around it, nil for a genesis
	OuterParent []byte   `db:"outer_parent"`
	Proposer    []byte   `db:"proposer"`     // node id, nil for options and a genesis
	PHeight     uint64   `db:"p_height"`     // height of the P-Chain that the proposer saw
	Epoch       uint64   `db:"epoch"`        // number of the P-Chain epoch
	EpochHeight uint64   `db:"epoch_height"` // P-Chain height that holds for the epoch
	EpochStart  uint64   `db:"epoch_start"`
	Supply      Amount   `db:"supply"` // the following are 0 on the X-Chain
	AccruedFees Amount   `db:"accrued"`
	L1Excess    uint64   `db:"l1_excess"`
	L1Active    uint64   `db:"l1_active"`
	GasCapacity uint64   `db:"gas_capacity"`
	GasExcess   uint64   `db:"gas_excess"`
	Digest      []byte   `db:"digest"` // over the parent's digest and everything above
}

const primaryBlockColumns = `id, hash, parent, time, type, txs, all_txs, size, head, outer_id, outer_parent, proposer, p_height,
	epoch, epoch_height, epoch_start, supply, accrued, l1_excess, l1_active, gas_capacity, gas_excess, digest`

// PrimaryBlock reads the block of a primary chain at a height.
func (db *DB) PrimaryBlock(ctx context.Context, chain int, height uint64) (*PrimaryBlock, error) {
	if height > MaxNumber {
		return nil, ErrNotFound
	}
	return Get[PrimaryBlock](ctx, db, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id = ?`, At(chain, height, 0))
}

// PrimaryBlockName is a block's time, type and id.
type PrimaryBlockName struct {
	ID   Position `db:"id"`
	Hash []byte   `db:"hash"`
	Time int64    `db:"time"`
	Type string   `db:"type"`
}

const blockNameColumns = `id, hash, time, type`

// PrimaryBlockName reads the name of the primary chain's block at a height.
func (db *DB) PrimaryBlockName(ctx context.Context, chain int, height uint64) (*PrimaryBlockName, error) {
	if height > MaxNumber {
		return nil, ErrNotFound
	}
	return Get[PrimaryBlockName](ctx, db, `SELECT `+blockNameColumns+` FROM primary_block WHERE id = ?`, At(chain, height, 0))
}

// PrimaryBlockNames reads the names of up to MostAmong blocks of primary chains.
func (db *DB) PrimaryBlockNames(ctx context.Context, at []Position) ([]PrimaryBlockName, error) {
	in, size := inList(len(at))
	return List[PrimaryBlockName](ctx, db, `SELECT `+blockNameColumns+` FROM primary_block WHERE id IN `+in, listArgs(at, size)...)
}

// PrimaryBlockByHash reads the block of a primary chain with this id.
func (db *DB) PrimaryBlockByHash(ctx context.Context, chain int, hash []byte) (*PrimaryBlock, error) {
	return Get[PrimaryBlock](ctx, db, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`,
		hash, First(chain), Last(chain))
}

// PrimaryBlockByOuterID reads the block of a primary chain by the id of its ProposerVM block.
func (db *DB) PrimaryBlockByOuterID(ctx context.Context, chain int, id []byte) (*PrimaryBlock, error) {
	return Get[PrimaryBlock](ctx, db, `SELECT `+primaryBlockColumns+` FROM primary_block
		WHERE substr(outer_id, 1, 6) = substr(?1, 1, 6) AND outer_id = ?1 AND id BETWEEN ?2 AND ?3`,
		id, First(chain), Last(chain))
}

// PrimaryHead reads the newest block of a primary chain.
func (db *DB) PrimaryHead(ctx context.Context, chain int) (*PrimaryBlock, error) {
	return Get[PrimaryBlock](ctx, db, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`,
		First(chain), Last(chain))
}

// PrimaryHeadBefore reads the newest block of a primary chain below a height, in the file or as a batch sees it.
func PrimaryHeadBefore(ctx context.Context, p Preparer, chain int, height uint64) (*PrimaryBlock, error) {
	return Get[PrimaryBlock](ctx, p, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1`,
		First(chain), At(chain, min(height, MaxNumber), 0))
}

// PrimaryBlocks reads the blocks of a primary chain with heights from first to last, ascending.
func (db *DB) PrimaryBlocks(ctx context.Context, chain int, first, last uint64) ([]PrimaryBlock, error) {
	return List[PrimaryBlock](ctx, db, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id BETWEEN ? AND ? ORDER BY id`,
		At(chain, first, 0), At(chain, min(last, MaxNumber), 0))
}

// versionBytes is the codec's version, which precedes a separate transaction but not one in a block.
const versionBytes = 2

// Bytes assembles a block from its head and its transactions. A genesis block does not contain its transactions.
func (b *PrimaryBlock) Bytes(txs []PrimaryTx) []byte {
	raw := slices.Clone(b.Head)
	if b.ID.Number() == 0 {
		return raw
	}
	for i := range txs {
		raw = append(raw, txs[i].Bytes[min(versionBytes, len(txs[i].Bytes)):]...)
	}
	return raw
}

// BlockHead returns the head of a block, given its bytes and transactions.
func BlockHead(raw []byte, txs []PrimaryTx) []byte {
	length := len(raw)
	for i := range txs {
		length -= len(txs[i].Bytes) - versionBytes
	}
	return raw[:max(length, 0)]
}

var intoPrimaryBlock = bulk.NewTable("primary_block", primaryBlockColumns, false)

func (b *Batch) addPrimaryBlock(r *PrimaryBlock) error {
	return b.insert(intoPrimaryBlock, r.ID, r.Hash, r.Parent, r.Time, r.Type, r.Txs, r.AllTxs, r.Size, r.Head, r.OuterID, r.OuterParent, r.Proposer, r.PHeight,
		r.Epoch, r.EpochHeight, r.EpochStart, r.Supply, r.AccruedFees, r.L1Excess, r.L1Active, r.GasCapacity, r.GasExcess, r.Digest)
}

// PrimaryTxHash is a transaction of a primary chain by its position and id.
type PrimaryTxHash struct {
	ID   Position `db:"id"`
	Hash []byte   `db:"hash"`
}

// PrimaryBlockIDs finds at most limit blocks of a primary chain from one position down to another.
func (db *DB) PrimaryBlockIDs(ctx context.Context, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, `SELECT id FROM primary_block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 0 + ?`, low, high, limit)
}

// PrimaryBlocksBy finds at most limit blocks that a node proposed, from one position down to another. An option counts with the
// proposal before it, which it decides.
func (db *DB) PrimaryBlocksBy(ctx context.Context, node []byte, high, low Position, limit int) ([]Position, error) {
	own, err := db.ids(ctx, `SELECT id FROM primary_block WHERE proposer = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT 0 + ?`,
		node, low, high, limit)
	if err != nil {
		return nil, err
	}
	next := At(0, 1, 0)
	options, err := db.ids(ctx, `SELECT p.id + ?1 FROM primary_block p WHERE p.proposer = ?2 AND p.id BETWEEN ?3 - ?1 AND ?4 - ?1 AND p.type = 'Proposal'
		AND EXISTS (SELECT 1 FROM primary_block o WHERE o.id = p.id + ?1) ORDER BY p.id DESC LIMIT 0 + ?5`, next, node, low, high, limit)
	if err != nil {
		return nil, err
	}
	all := append(own, options...)
	slices.SortFunc(all, func(a, b Position) int { return cmp.Compare(b, a) })
	return all[:min(limit, len(all))], nil
}

// PrimaryTxHashes reads the ids of the transactions from one position to another, both included, ascending.
func (db *DB) PrimaryTxHashes(ctx context.Context, first, last Position) ([]PrimaryTxHash, error) {
	return List[PrimaryTxHash](ctx, db, `SELECT id, hash FROM primary_tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// PrimaryTime returns the time of the P- or X-Chain block at a position.
func (db *DB) PrimaryTime(ctx context.Context, at Position) (time int64, err error) {
	return value[int64](ctx, db, `SELECT time FROM primary_block WHERE id = ?`, at)
}

// FirstPrimarySince returns the height of the first P- or X-Chain block at or after a time, in Unix seconds; head + 1 if there is none.
func (db *DB) FirstPrimarySince(ctx context.Context, chain int, time int64) (uint64, error) {
	head, err := db.PrimaryHead(ctx, chain)
	if err != nil {
		return 0, err
	}
	return FirstSince(head.ID.Number(), time, func(n uint64) (int64, error) { return db.PrimaryTime(ctx, At(chain, n, 0)) })
}

// The primary chains of a network, in the order in which they are numbered.
const (
	PChain = iota
	XChain
	CChain
	chainsPerNetwork
)

// PrimaryChain numbers a primary chain: the index of the network and one of PChain, XChain and CChain.
func PrimaryChain(network, chain int) int { return network*chainsPerNetwork + chain + 1 }

// PrimaryNetwork holds the geneses of a network's P- and X-Chain, and when its upgrades activate.
type PrimaryNetwork struct {
	ID            uint32 `db:"id"`
	PChainGenesis Packed `db:"platform"` // genesis bytes
	XChainGenesis Packed `db:"exchange"` // genesis bytes
	Upgrades      string `db:"upgrades"` // JSON of Unix times
}

// PrimaryNetworks lists the networks with their genesis, mainnet first.
func (db *DB) PrimaryNetworks(ctx context.Context) ([]PrimaryNetwork, error) {
	return List[PrimaryNetwork](ctx, db, `SELECT id, platform, exchange, upgrades FROM primary_network ORDER BY id`)
}

// PrimaryNetworkIDs lists the numbers of the networks, mainnet first.
func (db *DB) PrimaryNetworkIDs(ctx context.Context) ([]uint32, error) {
	return List[uint32](ctx, db, `SELECT id FROM primary_network ORDER BY id`)
}

// UpgradesOf returns when a network's upgrades activate, as JSON.
func (db *DB) UpgradesOf(ctx context.Context, networkID uint32) (string, error) {
	return value[string](ctx, db, `SELECT upgrades FROM primary_network WHERE id = ?`, networkID)
}

// AddPrimaryNetwork writes a network's genesis.
func (b *Batch) AddPrimaryNetwork(n PrimaryNetwork) error {
	return b.exec(`INSERT INTO primary_network (id, platform, exchange, upgrades) VALUES (?, ?, ?, ?)`, n.ID, n.PChainGenesis, n.XChainGenesis, n.Upgrades)
}

// PrimaryTx is a transaction of a P- or X-Chain, or an atomic one of a C-Chain.
type PrimaryTx struct {
	ID     Position `db:"id"`
	Hash   []byte   `db:"hash"`
	Type   string   `db:"type"`   // the network's name of the type, such as ExportTx
	Burned Amount   `db:"burned"` // nAVAX
	Bytes  Packed   `db:"bytes"`  // signed, with the codec's version
}

const primaryTxColumns = `id, hash, type, burned, bytes`

// PrimaryTx reads the transaction at a position.
func (db *DB) PrimaryTx(ctx context.Context, at Position) (*PrimaryTx, error) {
	return Get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE id = ?`, at)
}

// PrimaryTxByHash reads the transaction of a primary chain with this id.
func (db *DB) PrimaryTxByHash(ctx context.Context, chain int, hash []byte) (*PrimaryTx, error) {
	return Get[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`,
		hash, First(chain), Last(chain))
}

// PrimaryTxs reads the transactions of a block in order; at height 0, the genesis transactions.
func (db *DB) PrimaryTxs(ctx context.Context, block Position) ([]PrimaryTx, error) {
	return db.PrimaryTxsBetween(ctx, block.Block(), block.End())
}

// PrimaryTxsBetween reads the transactions from one position to another, both included, ascending.
func (db *DB) PrimaryTxsBetween(ctx context.Context, first, last Position) ([]PrimaryTx, error) {
	return List[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE id BETWEEN ? AND ? ORDER BY id`, first, last)
}

// FirstPrimaryTxs reads the oldest transaction of each type on a primary chain from a height on, by type and without its bytes. It seeks
// once per type.
func (db *DB) FirstPrimaryTxs(ctx context.Context, chain int, height uint64) ([]PrimaryTx, error) {
	return List[PrimaryTx](ctx, db, `
		WITH RECURSIVE found(type) AS (
			SELECT min(type) FROM primary_tx
			UNION ALL
			SELECT (SELECT min(type) FROM primary_tx WHERE type > found.type) FROM found WHERE found.type IS NOT NULL
		)
		SELECT t.id, t.hash, t.type, t.burned FROM found CROSS JOIN primary_tx t
		ON t.id = (SELECT id FROM primary_tx WHERE type = found.type AND id BETWEEN ? AND ? ORDER BY id LIMIT 1)`, At(chain, height, 0), Last(chain))
}

// CountPrimaryTxs counts the transactions of some types on a primary chain.
func (db *DB) CountPrimaryTxs(ctx context.Context, chain int, kinds ...string) (n int, err error) {
	for _, kind := range kinds {
		some, err := value[int](ctx, db, `SELECT count(*) FROM primary_tx WHERE type = ? AND id BETWEEN ? AND ?`, kind, First(chain), Last(chain))
		if err != nil {
			return 0, err
		}
		n += some
	}
	return n, nil
}

// PrimaryTxsOfType lists the transactions of a type on a primary chain, oldest first.
func (db *DB) PrimaryTxsOfType(ctx context.Context, chain int, kind string) ([]PrimaryTx, error) {
	return List[PrimaryTx](ctx, db, `SELECT `+primaryTxColumns+` FROM primary_tx WHERE type = ? AND id BETWEEN ? AND ? ORDER BY id`,
		kind, First(chain), Last(chain))
}

var intoPrimaryTx = bulk.NewTable("primary_tx", primaryTxColumns, false)

func (b *Batch) addPrimaryTx(t *PrimaryTx) error {
	return b.insert(intoPrimaryTx, t.ID, t.Hash, t.Type, t.Burned, t.Bytes)
}

// Burned adds up the nAVAX that the transactions from one position to another burned, both included.
func (db *DB) Burned(ctx context.Context, first, last Position) (n uint64, err error) {
	return value[uint64](ctx, db, `SELECT COALESCE(SUM(burned), 0) FROM primary_tx WHERE id BETWEEN ? AND ?`, first, last)
}

// PrimaryAsset is an asset of an X-Chain.
type PrimaryAsset struct {
	ID           Position `db:"id"`   // of the transaction that made it; AVAX has height 0
	Hash         []byte   `db:"hash"` // the asset's id
	Name         string   `db:"name"`
	Symbol       string   `db:"symbol"`
	Denomination byte     `db:"denomination"`
	Fxs          []byte   `db:"fxs"` // indices of the feature extensions, one byte each
}

// Fungible reports whether the asset has amounts, and not only NFTs and properties.
func (a *PrimaryAsset) Fungible() bool { return bytes.IndexByte(a.Fxs, 0) >= 0 }

const assetColumns = `id, hash, name, symbol, denomination, fxs`

// AssetByHash reads the asset of an X-Chain with this id.
func (db *DB) AssetByHash(ctx context.Context, chain int, hash []byte) (*PrimaryAsset, error) {
	return Get[PrimaryAsset](ctx, db, `SELECT `+assetColumns+` FROM asset WHERE hash = ? AND id BETWEEN ? AND ?`,
		hash, First(chain), Last(chain))
}

// Assets lists the assets of an X-Chain, oldest first.
func (db *DB) Assets(ctx context.Context, chain int) ([]PrimaryAsset, error) {
	return List[PrimaryAsset](ctx, db, `SELECT `+assetColumns+` FROM asset WHERE id BETWEEN ? AND ? ORDER BY id`, First(chain), Last(chain))
}

func (b *Batch) addAsset(a *PrimaryAsset) error {
	return b.exec(`INSERT INTO asset (`+assetColumns+`) VALUES (?, ?, ?, ?, ?, ?)`, a.ID, a.Hash, a.Name, a.Symbol, a.Denomination, a.Fxs)
}

// PrimaryActivity records that a transaction touched a subject: an address, an account of the C-Chain, an asset of the X-Chain, or an L1
// validation.
type PrimaryActivity struct {
	Subject []byte
	Tx      Position
}

// TxRange selects transactions of a primary chain: from one position to another, both included.
type TxRange struct {
	High, Low Position
	Types     []string // any of them; every type if empty
	Ascending bool
	Limit     int
}

// order returns the end of a statement that reads positions in the range's direction.
func (f *TxRange) order() string {
	if f.Ascending {
		return ` LIMIT 0 + ?`
	}
	return ` DESC LIMIT 0 + ?`
}

// merge merges lists of positions, without duplicates, in the range's direction.
func (f *TxRange) merge(lists ...[]Position) []Position {
	all := slices.Concat(lists...)
	slices.Sort(all)
	all = slices.Compact(all)
	if !f.Ascending {
		slices.Reverse(all)
	}
	return all[:min(len(all), f.Limit)]
}

// PrimaryTxIDs finds transactions of a primary chain.
func (db *DB) PrimaryTxIDs(ctx context.Context, f TxRange) ([]Position, error) {
	if len(f.Types) == 0 {
		return db.ids(ctx, `SELECT id FROM primary_tx WHERE id BETWEEN ? AND ? ORDER BY id`+f.order(), f.Low, f.High, f.Limit)
	}
	var lists [][]Position
	for _, kind := range f.Types {
		found, err := db.ids(ctx, `SELECT id FROM primary_tx WHERE type = ? AND id BETWEEN ? AND ? ORDER BY id`+f.order(), kind, f.Low, f.High, f.Limit)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	return f.merge(lists...), nil
}

// ActivityIDs finds transactions that touched any of some subjects.
func (db *DB) ActivityIDs(ctx context.Context, subjects [][]byte, f TxRange) ([]Position, error) {
	var lists [][]Position
	for _, subject := range subjects {
		found, err := db.activityIDs(ctx, subject, &f)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	return f.merge(lists...), nil
}

func (db *DB) activityIDs(ctx context.Context, subject []byte, f *TxRange) ([]Position, error) {
	if len(f.Types) == 0 {
		return db.ids(ctx, `SELECT tx FROM primary_activity WHERE subject = ? AND tx BETWEEN ? AND ? ORDER BY tx`+f.order(),
			subject, f.Low, f.High, f.Limit)
	}
	return db.ids(ctx, `SELECT a.tx FROM primary_activity a CROSS JOIN primary_tx t ON t.id = a.tx
		WHERE a.subject = ? AND a.tx BETWEEN ? AND ? AND instr(?, ',' || t.type || ',') > 0 ORDER BY a.tx`+f.order(),
		subject, f.Low, f.High, ","+strings.Join(f.Types, ",")+",", f.Limit)
}

// ActivityOf reads at most limit positions of the transactions of a primary chain that touched a subject, newest first,
// all before a position.
func (db *DB) ActivityOf(ctx context.Context, chain int, subject []byte, before Position, limit int) ([]Position, error) {
	return List[Position](ctx, db, `SELECT tx FROM primary_activity WHERE subject = ? AND tx >= ? AND tx < ? ORDER BY tx DESC LIMIT 0 + ?`,
		subject, First(chain), min(before, Last(chain)), limit)
}

// PrimaryTouched reports whether a transaction touched a subject.
func (db *DB) PrimaryTouched(ctx context.Context, subject []byte, tx Position) (bool, error) {
	return value[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM primary_activity WHERE subject = ? AND tx = ?)`, subject, tx)
}

var intoPrimaryActivity = bulk.NewTable("primary_activity", `subject, tx`, true)

func (b *Batch) addActivity(a *PrimaryActivity) error {
	return b.insert(intoPrimaryActivity, a.Subject, a.Tx)
}
