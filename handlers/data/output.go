package data

import (
	"context"
	"errors"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// chainReaders keeps what was read of the primary chains lately.
type chainReaders struct {
	chains []*evm.Chain                           // of the world
	times  *lru.Cache[store.Position, *blockTime] // of blocks
	utxos  *lru.Cache[utxoSetKey, *utxoSet]
}

// How much a chainReaders keeps.
const (
	keptTimes    = 16_384
	keptUTXOSets = 16
)

func newChainReaders(w *sim.World) *chainReaders {
	return &chainReaders{w.Chains, lru.NewCache[store.Position, *blockTime](keptTimes), lru.NewCache[utxoSetKey, *utxoSet](keptUTXOSets)}
}

// reader reads the chains of a network for one request.
func (c *chainReaders) reader(ctx context.Context, l *sim.Ledger) *chainReader {
	return &chainReader{l, ctx, c}
}

// evmOf is the EVM side of a network's C-Chain, nil for the other chains.
func (c *chainReaders) evmOf(l *sim.Ledger, kind primary.Chain) *evm.Chain {
	for _, chain := range c.chains {
		if kind == primary.CChain && ids.ID(chain.Row.BlockchainID) == l.Rules.CChainID {
			return chain
		}
	}
	return nil
}

// chainReader reads a network's primary chains for one request.
type chainReader struct {
	*sim.Ledger
	ctx   context.Context
	cache *chainReaders
}

// blockTime is when a block of a primary chain was made, and which it is.
type blockTime struct {
	unix int64
	kind string // of the P- and the X-Chain: its type
	hash string
}

// output is something that a transaction made or will make, with what became of it.
type output struct {
	*primary.UTXO
	id      ids.ID // under which the network knows it
	raw     []byte
	madeBy  primary.Chain
	usedBy  primary.Chain
	height  uint64
	made    *blockTime
	spent   *store.Position
	spentBy string // transaction
	used    *blockTime
	staker  *store.Staker // whose stake it is or was
	locked  bool          // by that staker, still
	reward  string        // what it pays a reward for, if it does
}

// kind is which of the network's chains has a number in the file.
func (b *chainReader) kind(number int) primary.Chain {
	for _, kind := range []primary.Chain{primary.XChain, primary.CChain} {
		if b.Chain(kind) == number {
			return kind
		}
	}
	return primary.PChain
}

// blockTime is that of the block at a position.
func (b *chainReader) blockTime(at store.Position) (*blockTime, error) {
	at = at.Block()
	if m, ok := b.cache.times.Get(at); ok {
		return m, nil
	}
	m := &blockTime{}
	if kind := b.kind(at.Chain()); kind == primary.CChain {
		row, err := b.DB.Block(b.ctx, b.cache.evmOf(b.Ledger, kind).Row.ID, at.Number())
		if err != nil {
			return nil, err
		}
		m.unix, m.hash = row.Time, common.BytesToHash(row.Hash).Hex()
	} else {
		row, err := b.DB.PrimaryBlock(b.ctx, at.Chain(), at.Number())
		if err != nil {
			return nil, err
		}
		m.unix, m.kind, m.hash = row.Time, row.Type, ids.ID(row.Hash).String()
	}
	b.cache.times.Add(at, m)
	return m, nil
}

// output reads an output with all that is known of it.
func (b *chainReader) output(row *store.UTXO) (*output, error) {
	o := &output{id: ids.ID(row.Hash), raw: row.Bytes(), madeBy: b.kind(row.ID.Chain()), usedBy: b.kind(row.Chain), height: row.ID.Height(), spent: row.Spent}
	var err error
	if o.UTXO, err = primary.ParseUTXO(o.madeBy, o.raw); err != nil {
		return nil, err
	}
	if o.made, err = b.blockTime(store.At(row.ID.Chain(), o.height, 0)); err != nil {
		return nil, err
	}
	if err := b.spending(o); err != nil {
		return nil, err
	}
	if row.Reward || o.made.kind == "Commit" || o.made.kind == "Abort" {
		err = b.ended(o, row.Reward)
	}
	return o, err
}

// spending adds which transaction spent an output.
func (b *chainReader) spending(o *output) (err error) {
	if o.spent == nil {
		return nil
	}
	if o.used, err = b.blockTime(*o.spent); err != nil {
		return err
	}
	names, err := b.DB.PrimaryNames(b.ctx, *o.spent, *o.spent)
	if err == nil && len(names) == 0 {
		err = store.ErrNotFound
	}
	if err == nil {
		o.spentBy = ids.ID(names[0].Hash).String()
	}
	return err
}

// ended says of an output that the end of a stake made whether it is the stake or a reward, and for what. The outputs of
// the staking transaction come first, then the stake, then the rewards.
func (b *chainReader) ended(o *output, reward bool) error {
	s, err := b.DB.StakerOfTx(b.ctx, o.TxID[:])
	if err != nil {
		return err
	}
	if !reward {
		o.staker = s
		return nil
	}
	tx, err := b.tx(primary.PChain, s.ID)
	if err != nil {
		return err
	}
	o.reward = rewardKind(s, store.StakerCompleted, int(o.OutputIndex)-len(tx.Unsigned.Base().Outs)-len(stakeOf(tx)))
	return nil
}

// tx reads the transaction at a position of a chain.
func (b *chainReader) tx(kind primary.Chain, at store.Position) (*primary.Tx, error) {
	row, err := b.DB.PrimaryTx(b.ctx, at)
	if err != nil {
		return nil, err
	}
	return primary.ParseTx(kind, row.Bytes)
}

// stakeOf is what a transaction stakes, nothing for most.
func stakeOf(tx *primary.Tx) []*primary.TransferableOutput {
	s, err := primary.NewStaker(tx, primary.Active)
	if err != nil {
		return nil
	}
	return s.Stake()
}

// named reads the output of a chain's transaction with an index, nil if there is none.
func (b *chainReader) named(kind primary.Chain, id primary.UTXOID) (*output, error) {
	hash := id.InputID()
	row, err := b.DB.UTXOByHash(b.ctx, b.Chain(kind), hash[:])
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return b.output(row)
}

// genesisUTXO is the last output of the genesis of a chain that one of some addresses owns or owned, nil if there is none.
func (b *chainReader) genesisUTXO(kind primary.Chain, owners []ids.ShortID) (last *store.UTXO, err error) {
	for _, owner := range owners {
		found, err := b.DB.UTXOsOfGenesis(b.ctx, owner[:], b.Chain(kind))
		if err != nil {
			return nil, err
		}
		if n := len(found) - 1; n >= 0 && (last == nil || found[n].ID > last.ID) {
			last = &found[n]
		}
	}
	return last, nil
}

// subjects are addresses as the index of activity has them.
func subjects(addresses []ids.ShortID) [][]byte {
	all := make([][]byte, len(addresses))
	for i := range addresses {
		all[i] = addresses[i][:]
	}
	return all
}

// amount is what an output holds of its asset: one of an NFT or a property, none as a right to mint.
func (o *output) amount() uint64 {
	switch o.Out.(type) {
	case *primary.NFTTransferOutput, *primary.PropertyOwnedOutput:
		return 1
	}
	return o.Amount()
}
