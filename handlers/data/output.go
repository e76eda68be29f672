package data

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// book reads a network's primary chains for one request.
type book struct {
	*sim.Ledger
	ctx context.Context
	api *api
}

// moment is when a block of a primary chain was made, and which it is.
type moment struct {
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
	made    *moment
	spent   *store.Position
	spentBy string // transaction
	used    *moment
	staker  *store.Staker // whose stake it is or was
	locked  bool          // by that staker, still
	reward  string        // what it pays a reward for, if it does
}

// kind is which of the network's chains has a number in the file.
func (b *book) kind(number int) primary.Chain {
	for _, kind := range []primary.Chain{primary.XChain, primary.CChain} {
		if b.Chain(kind) == number {
			return kind
		}
	}
	return primary.PChain
}

// moment is that of the block at a position.
func (b *book) moment(at store.Position) (*moment, error) {
	at = at.Block()
	if m, ok := b.api.memory.moments.Get(at); ok {
		return m, nil
	}
	m := &moment{}
	if kind := b.kind(at.Chain()); kind == primary.CChain {
		row, err := b.DB.Block(b.ctx, b.api.bridge(b.Ledger, kind).Row.ID, at.Number())
		if err != nil {
			return nil, err
		}
		m.unix, m.hash = row.Time, hash(row.Hash)
	} else {
		row, err := b.DB.PrimaryBlock(b.ctx, at.Chain(), at.Number())
		if err != nil {
			return nil, err
		}
		m.unix, m.kind, m.hash = row.Time, row.Type, cb58(row.Hash)
	}
	b.api.memory.moments.Add(at, m)
	return m, nil
}

// output reads an output with all that is known of it.
func (b *book) output(row *store.UTXO) (*output, error) {
	o := &output{id: ids.ID(row.Hash), raw: row.Bytes(), madeBy: b.kind(row.ID.Chain()), usedBy: b.kind(row.Chain), height: row.ID.Height(), spent: row.Spent}
	var err error
	if o.UTXO, err = primary.ParseUTXO(o.madeBy, o.raw); err != nil {
		return nil, err
	}
	if o.made, err = b.moment(store.At(row.ID.Chain(), o.height, 0)); err != nil {
		return nil, err
	}
	if err := b.spending(o); err != nil {
		return nil, err
	}
	if row.Reward || o.made.kind == "Commit" || o.made.kind == "Abort" {
		err = b.paid(o, row.Reward)
	}
	return o, err
}

// spending adds which transaction spent an output.
func (b *book) spending(o *output) (err error) {
	if o.spent == nil {
		return nil
	}
	if o.used, err = b.moment(*o.spent); err != nil {
		return err
	}
	names, err := b.DB.PrimaryNames(b.ctx, *o.spent, *o.spent)
	if err == nil && len(names) == 0 {
		err = store.ErrNotFound
	}
	if err == nil {
		o.spentBy = cb58(names[0].Hash)
	}
	return err
}

// paid tells the outputs apart that the end of a stake made: the stake comes first, then the reward for it, then a
// validator's fees.
func (b *book) paid(o *output, reward bool) error {
	s, err := b.DB.StakerOfTx(b.ctx, o.TxID[:])
	if err != nil {
		return err
	}
	switch {
	case !reward:
		o.staker = s
		return nil
	case s.Delegator:
		o.reward = "DELEGATOR"
		return nil
	}
	tx, err := b.tx(primary.PChain, s.ID)
	if err != nil {
		return err
	}
	o.reward = "VALIDATOR_FEE"
	if s.Rewarded && s.Reward > 0 && int(o.OutputIndex) == len(tx.Unsigned.Base().Outs)+len(stakeOf(tx)) {
		o.reward = "VALIDATOR"
	}
	return nil
}

// tx reads the transaction at a position of a chain.
func (b *book) tx(kind primary.Chain, at store.Position) (*primary.Tx, error) {
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
func (b *book) named(kind primary.Chain, id primary.UTXOID) (*output, error) {
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

// founded is the last output of the genesis of a chain that one of some addresses owns or owned, nil if there is none.
func (b *book) founded(kind primary.Chain, owners []ids.ShortID) (last *store.UTXO, err error) {
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

// witnesses are a transaction's credentials, by the outputs that they let it spend.
type witnesses map[ids.ID][]UTXOCredential

// UTXOCredential is a signature, and the key that made it.
type UTXOCredential struct {
	Signature string `json:"signature,omitempty" doc:"Base64."`
	PublicKey string `json:"publicKey,omitempty" doc:"Base64, compressed."`
}

// witnesses are those of the transaction at a position.
func (b *book) witnesses(at store.Position) (witnesses, error) {
	if w, ok := b.api.memory.witnesses.Get(at); ok {
		return w, nil
	}
	tx, err := b.tx(b.kind(at.Chain()), at)
	if err != nil {
		return nil, err
	}
	w, known := witnesses{}, map[primary.Signature]UTXOCredential{}
	for _, c := range tx.Consumptions() {
		if w[c.InputID()], err = credentialsOf(tx, c.Signatures, known); err != nil {
			return nil, err
		}
	}
	b.api.memory.witnesses.Add(at, w)
	return w, nil
}

// credentialsOf finds who made signatures; those of the same key over the same transaction are the same.
func credentialsOf(tx *primary.Tx, signatures []primary.Signature, known map[primary.Signature]UTXOCredential) ([]UTXOCredential, error) {
	all := make([]UTXOCredential, len(signatures))
	for i, s := range signatures {
		if _, done := known[s]; !done {
			key, err := tx.PublicKey(s)
			if err != nil {
				return nil, err
			}
			known[s] = UTXOCredential{base64.RawStdEncoding.EncodeToString(s[:]), base64.RawStdEncoding.EncodeToString(key)}
		}
		all[i] = known[s]
	}
	return all, nil
}
