package primary

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/metric"
	"snowglobe/sim/pchain"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
	"snowglobe/sim/xchain"
)

// errUndecided means that a file ends with a reward that no block decides.
var errUndecided = errors.New("the last block of the P-Chain is a proposal")

// Rules loads the rules of a world's network.
func Rules(ctx context.Context, db *store.DB, networkID uint32) (*rules.Network, error) {
	upgrades, err := db.UpgradesOf(ctx, networkID)
	if err != nil {
		return nil, err
	}
	return rules.Load(networkID, upgrades)
}

// Restore loads a network with its state after the newest blocks of a file, from the rows.
func Restore(ctx context.Context, db *store.DB, networkID uint32) (*Network, error) {
	networkRules, err := Rules(ctx, db, networkID)
	if err != nil {
		return nil, err
	}
	n := empty(networkRules)
	r := &restoration{Network: n, db: db}
	for _, load := range []func(context.Context) error{r.platform, r.exchange, r.exports} {
		if err := load(ctx); err != nil {
			return nil, fmt.Errorf("network %d: %w", networkID, err)
		}
	}
	n.P = pchain.New(networkRules, n.shared, r.at)
	n.X = xchain.New(networkRules, n.shared, r.assets, nil)
	n.C = utxo.NewAtomicBackend(networkRules, n.shared)
	n.P.SetTip(ids.ID(r.heads[txs.PChain].Hash), r.heads[txs.PChain].ID.Number(), uint64(r.heads[txs.PChain].Time))
	n.X.SetTip(ids.ID(r.heads[txs.XChain].Hash), r.heads[txs.XChain].ID.Number(), uint64(r.heads[txs.XChain].Time))
	n.db = db
	n.P.SetStored(storedUTXOs{n, txs.PChain})
	n.X.SetStored(storedUTXOs{n, txs.XChain})
	return n, nil
}

// restoration is a network during the load of its state from rows.
type restoration struct {
	*Network
	db     *store.DB
	heads  [2]*store.PrimaryBlock // of P and X
	at     pchain.Snapshot
	assets []*xchain.Asset
}

// head loads the last block of the P-Chain or the X-Chain and the state that the next one builds on.
func (r *restoration) head(ctx context.Context, chain txs.Chain) error {
	head, err := r.db.PrimaryHead(ctx, r.Chain(chain))
	if err != nil {
		return err
	}
	r.heads[chain] = head
	outer := head.OuterID
	if outer == nil {
		outer = head.Hash
	}
	r.tips[chain] = tip{
		digest: head.Digest, allTxs: head.AllTxs, outer: ids.ID(outer), pHeight: head.PHeight, time: uint64(head.Time),
		epoch: txs.Epoch{PHeight: head.EpochHeight, Number: head.Epoch, Start: head.EpochStart}, validatorFees: ValidatorFeeStateOf(head),
	}
	return nil
}

func (r *restoration) platform(ctx context.Context) error {
	if err := r.head(ctx, txs.PChain); err != nil {
		return err
	}
	head := r.heads[txs.PChain]
	if head.Type == "Proposal" {
		return errUndecided
	}
	r.at = pchain.Snapshot{
		Time: uint64(head.Time), Supply: uint64(head.Supply), Fees: rules.FeeState{Capacity: head.GasCapacity, Excess: head.GasExcess},
		Excess: head.L1Excess, Accrued: uint64(head.AccruedFees), Registered: map[ids.ID]uint64{},
	}
	return errors.Join(r.loadStakers(ctx), r.loadSubnets(ctx), r.loadL1Validators(ctx))
}

func (r *restoration) loadStakers(ctx context.Context) error {
	rows, err := r.db.Stakers(ctx, r.Chain(txs.PChain))
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		if !row.Delegator && row.Began != nil && ids.ID(row.Subnet) == ids.Empty {
			node := ids.NodeID(row.Node)
			r.periods[node] = append(r.periods[node], stakingPeriod{uint64(row.Start), uint64(row.End)})
		}
		if row.Status > store.StakerActive {
			continue
		}
		s, err := r.loadStaker(ctx, row)
		if err != nil {
			return fmt.Errorf("staker %x: %w", row.Tx, err)
		}
		r.at.Stakers = append(r.at.Stakers, s)
		r.stakers[s.TxID] = row
	}
	return nil
}

func (r *restoration) loadStaker(ctx context.Context, row *store.Staker) (*pchain.Staker, error) {
	tx, err := r.tx(ctx, row.Tx)
	if err != nil {
		return nil, err
	}
	s, err := pchain.NewStaker(tx, pchain.StakerStatus(row.Status))
	if err != nil {
		return nil, err
	}
	s.Start, s.PotentialReward, s.DelegateeReward = uint64(row.Start), uint64(row.PotentialReward), uint64(row.DelegateeReward)
	if row.AutoRenewed() {
		s.Weight, s.End = uint64(row.Weight), uint64(row.End)
		s.Renewal = &pchain.Renewal{
			NextPeriod: uint64(row.NextPeriod), AutoCompoundRewardShares: row.AutoCompoundRewardShares,
			AccruedValidationRewards: uint64(row.AccruedValidationRewards), AccruedDelegateeRewards: uint64(row.AccruedDelegateeRewards),
		}
	}
	return s, nil
}

func (r *restoration) tx(ctx context.Context, id []byte) (*txs.Tx, error) {
	raw, err := r.db.PrimaryTxByHash(ctx, r.Chain(txs.PChain), id)
	if err != nil {
		return nil, err
	}
	return txs.ParseTx(txs.PChain, raw.Bytes)
}

func (r *restoration) loadSubnets(ctx context.Context) error {
	subnets, err := r.db.Subnets(ctx, r.Chain(txs.PChain))
	if err != nil {
		return err
	}
	for _, row := range subnets {
		s := &pchain.Subnet{ID: ids.ID(row.Hash), Owner: ownersOf(row.State.Owner)}
		if row.State.Conversion != nil {
			s.Conversion = &pchain.Conversion{ID: ids.ID(row.State.Conversion), ChainID: ids.ID(row.State.ManagerChain), Address: row.State.ManagerAddress}
		}
		r.at.Subnets = append(r.at.Subnets, s)
		r.subnets[s.ID] = row.ID
	}
	chains, err := r.db.Blockchains(ctx, r.Chain(txs.PChain))
	for _, row := range chains {
		r.at.Blockchains = append(r.at.Blockchains, &pchain.Blockchain{ID: ids.ID(row.Hash), SubnetID: ids.ID(row.Subnet), Name: row.Name, VMID: ids.ID(row.VM)})
	}
	return err
}

func ownersOf(raw []byte) txs.OutputOwners {
	o := store.ParseOutputOwners(raw)
	owners := txs.OutputOwners{Locktime: o.Locktime, Threshold: o.Threshold, Addresses: make([]ids.ShortID, len(o.Addresses))}
	for i, address := range o.Addresses {
		owners.Addresses[i] = ids.ShortID(address)
	}
	return owners
}

func (r *restoration) loadL1Validators(ctx context.Context) error {
	rows, err := r.db.L1Validators(ctx, r.Chain(txs.PChain), r.heads[txs.PChain].ID.Number())
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		if err := r.loadRegistration(ctx, row); err != nil {
			return fmt.Errorf("L1 validator %x: %w", row.Validation, err)
		}
		if row.Weight == 0 {
			continue
		}
		if err := r.loadActivity(ctx, row); err != nil {
			return fmt.Errorf("L1 validator %x: %w", row.Validation, err)
		}
		balance, deactivation := ownersOf(row.BalanceOwner), ownersOf(row.DeactivationOwner)
		r.at.L1Validators = append(r.at.L1Validators, &pchain.L1Validator{
			ValidationID: ids.ID(row.Validation), SubnetID: ids.ID(row.Subnet), NodeID: ids.NodeID(row.Node), PublicKey: [48]byte(row.BLS),
			RemainingBalanceOwner: warp.PChainOwner{Threshold: balance.Threshold, Addresses: balance.Addresses},
			DeactivationOwner:     warp.PChainOwner{Threshold: deactivation.Threshold, Addresses: deactivation.Addresses},
			Start:                 uint64(row.Start), Weight: uint64(row.Weight), MinNonce: uint64(row.Nonce), EndAccumulatedFee: uint64(row.EndAccumulatedFee),
		})
	}
	return nil
}

// loadActivity follows an L1 validator from its beginning to its present state.
func (r *restoration) loadActivity(ctx context.Context, row *store.L1ValidatorView) error {
	states, err := r.db.L1ValidatorHistory(ctx, row.ID)
	if err != nil {
		return err
	}
	m := &l1Validator{number: row.ID}
	for _, s := range states {
		b, err := r.db.PrimaryBlock(ctx, r.Chain(txs.PChain), s.Height)
		if err != nil {
			return err
		}
		m.weight = uint64(s.Weight)
		m.activate(uint64(s.EndAccumulatedFee), uint64(b.Time))
	}
	r.l1[ids.ID(row.Validation)] = m
	return nil
}

// loadRegistration loads the expiry of an unexpired RegisterL1Validator message, so that it cannot be used again (ACP-77).
func (r *restoration) loadRegistration(ctx context.Context, row *store.L1ValidatorView) error {
	const longest = metric.SecondsPerDay // a message expires within a day of its use
	if uint64(row.Start)+longest < r.at.Time {
		return nil
	}
	raw, err := r.db.PrimaryTx(ctx, row.Tx)
	if err != nil {
		return err
	}
	tx, err := txs.ParseTx(txs.PChain, raw.Bytes)
	if err != nil {
		return err
	}
	u, ok := tx.Unsigned.(*txs.RegisterL1ValidatorTx)
	if !ok {
		return nil
	}
	message, err := warp.ParseMessage(u.Message)
	if err != nil {
		return err
	}
	_, event, err := message.L1Message()
	if request, ok := event.(*warp.RegisterL1Validator); ok && request.Expiry > r.at.Time {
		r.at.Registered[ids.ID(row.Validation)] = request.Expiry
	}
	return err
}

func (r *restoration) exchange(ctx context.Context) error {
	if err := r.head(ctx, txs.XChain); err != nil {
		return err
	}
	rows, err := r.db.Assets(ctx, r.Chain(txs.XChain))
	for _, row := range rows {
		a := &xchain.Asset{ID: ids.ID(row.Hash), Name: row.Name, Symbol: row.Symbol, Denomination: row.Denomination}
		for _, fx := range row.Fxs {
			a.Fxs = append(a.Fxs, uint32(fx))
		}
		r.assets = append(r.assets, a)
	}
	return err
}

func (r *restoration) exports(ctx context.Context) error {
	for _, source := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		rows, err := r.db.SharedUTXOs(ctx, r.Chain(source))
		if err != nil {
			return err
		}
		for i := range rows {
			u, err := parseUTXO(source, &rows[i])
			if err != nil {
				return err
			}
			peer := txs.Chain(rows[i].Chain - r.Chain(txs.PChain))
			r.shared.Put(r.Rules.BlockchainID(source), r.Rules.BlockchainID(peer), u)
		}
	}
	return nil
}

func parseUTXO(source txs.Chain, row *store.UTXO) (*txs.UTXO, error) {
	u, err := txs.ParseUTXO(source, row.Bytes())
	if err != nil {
		return nil, fmt.Errorf("UTXO %d of transaction %x: %w", row.Output, row.Tx, err)
	}
	owners := u.Owners() // the codec makes room for sixteen
	owners.Addresses = slices.Clone(owners.Addresses)
	return u, nil
}

// storedUTXOs are the outputs of the P-Chain or the X-Chain in the network's file.
type storedUTXOs struct {
	*Network
	chain txs.Chain
}

// UTXO loads an unspent output.
func (s storedUTXOs) UTXO(inputID ids.ID) (*txs.UTXO, error) {
	row, err := s.db.UTXOByHash(context.Background(), s.Chain(s.chain), inputID[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && (row.Spent != nil || row.Chain != s.Chain(s.chain)) {
		return nil, utxo.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return parseUTXO(s.chain, row)
}

// UTXOs loads all unspent outputs.
func (s storedUTXOs) UTXOs() iter.Seq2[*txs.UTXO, error] {
	return func(yield func(*txs.UTXO, error) bool) {
		rows, err := s.db.UnspentUTXOsMadeBy(context.Background(), s.Chain(s.chain))
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range rows {
			if !yield(parseUTXO(s.chain, &rows[i])) {
				return
			}
		}
	}
}
