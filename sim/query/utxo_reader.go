package query

import (
	"context"
	"errors"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// ChainReaders caches recent reads of the primary chains.
type ChainReaders struct {
	times *cache.Cache[store.Position, *blockTime] // of blocks
	utxos *cache.Cache[utxoSetKey, *utxoSet]
}

func NewChainReaders(g *cache.Group) *ChainReaders {
	return &ChainReaders{cache.New[store.Position, *blockTime](g), cache.NewCounted[utxoSetKey](g, utxoSetBytes)}
}

// Reader returns a reader of a network's chains for one request.
func (c *ChainReaders) Reader(ctx context.Context, n *sim.Network) *ChainReader {
	return &ChainReader{n, ctx, c}
}

// ChainReader reads a network's primary chains for one request.
type ChainReader struct {
	*sim.Network
	Ctx   context.Context
	cache *ChainReaders
}

type blockTime struct {
	Unix int64
	kind string // type of a P- or X-Chain block
	id   ids.ID
}

// Hash returns the block's id as clients see it; a C-Chain block has its EVM hash.
func (m *blockTime) Hash() string {
	if m.kind == "" {
		return common.Hash(m.id).Hex()
	}
	return m.id.String()
}

// Output is an output, or a stake that will become one, with its later history.
type Output struct {
	*txs.UTXO
	ID      ids.ID // the network's id for it
	Raw     []byte
	MadeBy  txs.Chain
	UsedBy  txs.Chain
	Height  uint64     // of the block it is attributed to, on the chain that created it
	Made    *blockTime // that block
	Spent   *store.Position
	SpentBy string // transaction
	Used    *blockTime
	Staker  *store.Staker // the staker
	Locked  bool          // still staked by that staker
	Reward  string        // kind of the reward it pays, if any
}

// BlockTime returns the time of the block at a position.
func (b *ChainReader) BlockTime(at store.Position) (*blockTime, error) {
	at = at.Block()
	if m, ok := b.cache.times.Get(at); ok {
		return m, nil
	}
	m := &blockTime{}
	if kind := b.Kind(at.Chain()); kind == txs.CChain {
		row, err := b.DB.Block(b.Ctx, b.CChain().Row.ID, at.Number())
		if err != nil {
			return nil, err
		}
		m.Unix, m.id = row.Time, ids.ID(row.Hash)
	} else {
		row, err := b.DB.PrimaryBlockName(b.Ctx, at.Chain(), at.Number())
		if err != nil {
			return nil, err
		}
		m = namedBlock(row)
	}
	b.cache.times.Add(at, m)
	return m, nil
}

func namedBlock(row *store.PrimaryBlockName) *blockTime {
	return &blockTime{Unix: row.Time, kind: row.Type, id: ids.ID(row.Hash)}
}

// manyBlocks is the number of blocks above which their times are read together.
const manyBlocks = 16

// readTimes preloads the blocks of outputs for BlockTime: one by one, many take several times as long.
func (b *ChainReader) readTimes(rows []store.UTXO) error {
	var unknown []store.Position
	for i := range rows {
		at := store.At(rows[i].ID.Chain(), rows[i].ID.Height(), 0)
		if _, known := b.cache.times.Get(at); !known && b.Kind(at.Chain()) != txs.CChain {
			unknown = append(unknown, at)
		}
	}
	slices.Sort(unknown)
	if unknown = slices.Compact(unknown); len(unknown) < manyBlocks {
		return nil
	}
	for part := range slices.Chunk(unknown, store.MostAmong) {
		names, err := b.DB.PrimaryBlockNames(b.Ctx, part)
		if err != nil {
			return err
		}
		for i := range names {
			b.cache.times.Add(names[i].ID, namedBlock(&names[i]))
		}
	}
	return nil
}

// Output reads an output with its later history.
func (b *ChainReader) Output(row *store.UTXO) (*Output, error) {
	o := &Output{ID: ids.ID(row.Hash), Raw: row.Bytes(), MadeBy: b.Kind(row.ID.Chain()), UsedBy: b.Kind(row.Chain), Height: row.ID.Height(), Spent: row.Spent}
	var err error
	if o.UTXO, err = txs.ParseUTXO(o.MadeBy, o.Raw); err != nil {
		return nil, err
	}
	if o.Made, err = b.BlockTime(store.At(row.ID.Chain(), o.Height, 0)); err != nil {
		return nil, err
	}
	if err := b.spending(o); err != nil {
		return nil, err
	}
	if o.Made.option() {
		return o, b.ended(o, row.Reward)
	}
	return o, nil
}

// option reports whether the block decided a proposal, and so returned a stake and paid its rewards.
func (m *blockTime) option() bool { return m.kind == "Commit" || m.kind == "Abort" }

// saidOf returns the block that the live API attributes an option block's output to: a reward belongs to the block before, which has the
// RewardValidatorTx, and a returned stake to the block of its staking transaction.
func (b *ChainReader) saidOf(at store.Position, tx []byte, reward bool) (store.Position, error) {
	if reward {
		return store.At(at.Chain(), at.Number()-1, 0), nil
	}
	row, err := b.DB.PrimaryTxByHash(b.Ctx, at.Chain(), tx)
	if err != nil {
		return 0, err
	}
	return row.ID.Block(), nil
}

func (b *ChainReader) spending(o *Output) (err error) {
	if o.Spent == nil {
		return nil
	}
	if o.Used, err = b.BlockTime(*o.Spent); err != nil {
		return err
	}
	names, err := b.DB.PrimaryTxHashes(b.Ctx, *o.Spent, *o.Spent)
	if err == nil && len(names) == 0 {
		err = store.ErrNotFound
	}
	if err == nil {
		o.SpentBy = ids.ID(names[0].Hash).String()
	}
	return err
}

// ended tells a stake from a reward among the outputs of the end of a stake, and finds the reward's purpose. The staking transaction's own
// outputs come first, then the stake, then the rewards.
func (b *ChainReader) ended(o *Output, reward bool) error {
	at, err := b.saidOf(store.At(b.Chain(txs.PChain), o.Height, 0), o.TxID[:], reward)
	if err != nil {
		return err
	}
	o.Height = at.Number()
	if o.Made, err = b.BlockTime(at); err != nil {
		return err
	}
	row, err := b.DB.PrimaryTxByHash(b.Ctx, b.Chain(txs.PChain), o.TxID[:])
	if err != nil {
		return err
	}
	tx, err := txs.ParseTx(txs.PChain, row.Bytes)
	if err != nil {
		return err
	}
	if renewed, ok := tx.Unsigned.(*txs.RewardAutoRenewedValidatorTx); ok {
		s, err := b.DB.RewardedBy(b.Ctx, renewed.TxID[:], o.TxID[:])
		if err != nil {
			return err
		}
		o.Reward, err = PaidKind(b.Ctx, b.DB, s, int(o.OutputIndex))
		return err
	}
	s, err := b.DB.StakerOfTx(b.Ctx, o.TxID[:])
	if err != nil {
		return err
	}
	if !reward {
		o.Staker = s
		return nil
	}
	o.Reward = RewardKind(s, store.StakerCompleted, int(o.OutputIndex)-len(tx.Unsigned.Base().Outs)-len(stakeOf(tx)))
	return nil
}

// Tx reads the transaction at a position of a chain.
func (b *ChainReader) Tx(kind txs.Chain, at store.Position) (*txs.Tx, error) {
	row, err := b.DB.PrimaryTx(b.Ctx, at)
	if err != nil {
		return nil, err
	}
	return txs.ParseTx(kind, row.Bytes)
}

// stakeOf returns a transaction's stake; most have none.
func stakeOf(tx *txs.Tx) []*txs.TransferableOutput {
	stake, _ := pchain.StakeOf(tx.Unsigned)
	return stake
}

// named reads the output with an index of a chain's transaction, or returns nil if there is none.
func (b *ChainReader) named(kind txs.Chain, id txs.UTXOID) (*Output, error) {
	hash := id.InputID()
	row, err := b.DB.UTXOByHash(b.Ctx, b.Chain(kind), hash[:])
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return b.Output(row)
}

// GenesisUTXO returns the last output in a chain's genesis that one of some addresses owns or owned, or nil.
func (b *ChainReader) GenesisUTXO(kind txs.Chain, owners []ids.ShortID) (last *store.UTXO, err error) {
	for _, owner := range owners {
		found, err := b.DB.UTXOsOfGenesis(b.Ctx, owner[:], b.Chain(kind))
		if err != nil {
			return nil, err
		}
		if n := len(found) - 1; n >= 0 && (last == nil || found[n].ID > last.ID) {
			last = &found[n]
		}
	}
	return last, nil
}

// Subjects returns addresses as keys of the activity index.
func Subjects(addresses []ids.ShortID) [][]byte {
	all := make([][]byte, len(addresses))
	for i := range addresses {
		all[i] = addresses[i][:]
	}
	return all
}

// Amount returns an output's amount of its asset: one of an NFT or a property, none of a right to mint.
func (o *Output) Amount() uint64 { return held(o.Out) }

func held(out txs.Output) uint64 {
	switch out.(type) {
	case *txs.NFTTransferOutput, *txs.PropertyOwnedOutput:
		return 1
	}
	return txs.AmountOf(out)
}
