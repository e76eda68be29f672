package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	"snowglobe/sim/txs"
	webhooks "snowglobe/sim/webhook"
)

// PrimaryEvent is an event on a primary network. No document of the live service describes its shape; it is the simulator's own and follows
// the Data API's.
type PrimaryEvent struct {
	EventType      string   `json:"eventType"`
	Network        string   `json:"network"`
	ChainID        string   `json:"chainId"`
	BlockTimestamp int64    `json:"blockTimestamp"`
	Addresses      []string `json:"addresses,omitempty"` // the webhook's addresses that took part
	Transaction    any      `json:"transaction,omitempty"`
	Balance        any      `json:"balance,omitempty"` // of the addresses together, after the transaction

	BalanceType      string `json:"balanceType,omitempty"` // of a threshold
	BalanceBefore    string `json:"balanceBefore,omitempty"`
	BalanceAfter     string `json:"balanceAfter,omitempty"`
	BalanceThreshold string `json:"balanceThreshold,omitempty"`

	NodeID       string   `json:"nodeId,omitempty"`
	SubnetID     string   `json:"subnetId,omitempty"`
	ValidationID string   `json:"validationId,omitempty"`
	StakingTx    string   `json:"stakingTxHash,omitempty"`
	Rewards      []Reward `json:"rewards,omitempty"`
	Weight       string   `json:"weight,omitempty"`
	Remaining    string   `json:"remainingBalance,omitempty"` // nAVAX of an L1 validator
}

// Reward is a reward that was paid.
type Reward struct {
	Addresses []string `json:"addresses"`
	Amount    string   `json:"amount"`
}

// primaryMessage is a message about a primary network being written.
type primaryMessage struct {
	*writer
	context.Context
	webhook *outbox.Webhook
	filter  *webhooks.Filter
	message *outbox.Message
	network *sim.Network
	kind    txs.Chain
	height  uint64 // at which the effects are visible
	shown   *PrimaryEvent
}

func (m *writer) primaryActivity(ctx context.Context, w *outbox.Webhook, f *webhooks.Filter, v *outbox.Message) (*PrimaryEvent, error) {
	n, kind := m.chainOf(w.Chain)
	p := &primaryMessage{m, ctx, w, f, v, n, kind, v.Tx.Number(), &PrimaryEvent{
		EventType: v.Event, Network: n.Name, ChainID: data.ChainNames[kind], BlockTimestamp: v.Time,
	}}
	if v.Tx != 0 {
		if err := p.addTransaction(); err != nil {
			return nil, err
		}
	}
	err := p.addEvent()
	return p.shown, err
}

// chainOf returns the network and the kind of a primary chain, as the file numbers them.
func (m *writer) chainOf(number int) (*sim.Network, txs.Chain) {
	for _, n := range m.world.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			if n.Chain(kind) == number {
				return n, kind
			}
		}
	}
	return m.world.Networks[0], txs.PChain
}

func (p *primaryMessage) addTransaction() (err error) {
	row, err := p.world.DB.PrimaryTx(p, p.message.Tx)
	if err != nil {
		return err
	}
	if query.Rewards(row.Type) {
		p.height++
	}
	p.shown.Transaction, err = p.views.Transaction(p, p.network, p.kind, p.message.Tx)
	return err
}

func (p *primaryMessage) addEvent() error {
	if p.webhook.Event == outbox.PrimaryAddressActivity {
		return p.addAddresses()
	}
	if strings.HasPrefix(p.message.Event, "l1_") {
		return p.addL1Validator()
	}
	s, err := p.world.DB.StakerOfTx(p, p.message.Subject)
	if errors.Is(err, store.ErrNotFound) {
		return p.addL1Validator()
	}
	if err != nil {
		return err
	}
	return p.addStaker(s)
}

// addAddresses adds the webhook's addresses that took part, and their joint balance afterwards.
func (p *primaryMessage) addAddresses() error {
	keys, err := outbox.Keys(p, p.world.DB, p.webhook.ID, 0, maxKeys)
	if err != nil {
		return err
	}
	var owners []ids.ShortID
	for _, key := range keys {
		took, err := p.world.DB.PrimaryTouched(p, key.Watched, p.message.Tx)
		if err != nil {
			return err
		}
		if took {
			owners = append(owners, ids.ShortID(key.Watched))
		}
	}
	if len(owners) == 0 && p.message.Event == webhooks.BalanceThreshold {
		return errVoid
	}
	for _, owner := range owners {
		p.shown.Addresses = append(p.shown.Addresses, p.network.Rules.Bech32(owner))
	}
	slices.SortFunc(owners, ids.ShortID.Compare)
	var sum *query.BalanceSum
	if p.shown.Balance, sum, err = p.views.Balance(p, p.network, p.kind, owners, p.height); err != nil {
		return err
	}
	switch p.message.Event {
	case webhooks.BalanceThreshold:
		return p.addThreshold(owners, sum)
	case webhooks.RewardDistribution:
		s, err := p.world.DB.StakerOfTx(p, p.message.Subject)
		if err != nil {
			return err
		}
		return p.addStaker(s)
	}
	return nil
}

// balanceNames maps balances whose names differ from the Data API's.
var balanceNames = map[string]string{"unlockedUnstaked": query.Unlocked, "lockedPlatform": query.Locked}

// addThreshold adds the balance before and after, if it fell below the threshold.
func (p *primaryMessage) addThreshold(owners []ids.ShortID, after *query.BalanceSum) error {
	if p.height == 0 {
		return errVoid
	}
	_, before, err := p.views.Balance(p, p.network, p.kind, owners, p.height-1)
	if err != nil {
		return err
	}
	name := cmp.Or(balanceNames[p.filter.BalanceType], p.filter.BalanceType)
	x, y := before.AVAX(name), after.AVAX(name)
	if x < p.filter.BalanceThreshold || y >= p.filter.BalanceThreshold {
		return errVoid
	}
	p.shown.BalanceType, p.shown.BalanceThreshold = p.filter.BalanceType, data.Decimals(p.filter.BalanceThreshold)
	p.shown.BalanceBefore, p.shown.BalanceAfter = data.Decimals(x), data.Decimals(y)
	return nil
}

// addStaker adds a validator or delegator, and its rewards if the event is about them. Of a validator that renews itself the event is about
// one cycle.
func (p *primaryMessage) addStaker(s *store.Staker) error {
	var utxos []store.UTXO
	if p.message.Event == webhooks.RewardDistribution {
		row, err := p.world.DB.PrimaryTx(p, p.message.Tx)
		if err != nil {
			return err
		}
		if s, err = p.world.DB.RewardedBy(p, s.Tx, row.Hash); err != nil {
			return err
		}
		maker := s.Tx
		if s.AutoRenewed() {
			maker = row.Hash
		}
		if utxos, err = p.world.DB.UTXOsOfTx(p, p.network.Chain(txs.PChain), maker); err != nil {
			return err
		}
	}
	p.shown.NodeID, p.shown.SubnetID, p.shown.StakingTx = ids.NodeID(s.Node).String(), subnetText(s.Subnet), data.CB58(s.Tx)
	p.shown.Weight = data.Decimals(uint64(s.Weight))
	for i := range utxos {
		if !utxos[i].Reward {
			continue
		}
		output, err := query.NewChainReaders(nil).Reader(p, p.network).Output(&utxos[i])
		if err != nil {
			return err
		}
		r := Reward{[]string{}, data.Decimals(uint64(utxos[i].Amount))}
		for _, address := range output.Owners().Addresses {
			r.Addresses = append(r.Addresses, p.network.Rules.Bech32(address))
		}
		p.shown.Rewards = append(p.shown.Rewards, r)
	}
	return nil
}

// addL1Validator adds an L1 validator's state afterwards.
func (p *primaryMessage) addL1Validator() error {
	head, err := p.blockThen()
	if err != nil {
		return err
	}
	v, err := p.world.DB.L1Validator(p, p.message.Subject, head.ID.Number())
	if err != nil {
		return err
	}
	p.shown.NodeID, p.shown.SubnetID, p.shown.ValidationID = ids.NodeID(v.Node).String(), subnetText(v.Subnet), data.CB58(v.Validation)
	p.shown.Weight = data.Decimals(uint64(v.Weight))
	p.shown.Remaining = data.Decimals(v.Balance(p.network.AccruedAt(head, max(p.message.Time, head.Time))))
	if p.message.Event == webhooks.L1BalanceThreshold {
		p.shown.BalanceThreshold = data.Decimals(p.filter.L1BalanceThreshold)
	}
	return nil
}

// blockThen returns the P-Chain block after which the message describes the state: the transaction's, or the newest at its time.
func (p *primaryMessage) blockThen() (*store.PrimaryBlock, error) {
	chain := p.network.Chain(txs.PChain)
	if p.message.Tx != 0 {
		return p.world.DB.PrimaryBlock(p, chain, p.height)
	}
	next, err := p.world.DB.FirstPrimarySince(p, chain, p.message.Time+1)
	if err != nil {
		return nil, err
	}
	return p.world.DB.PrimaryBlock(p, chain, max(next, 1)-1)
}

// subnetText formats a subnet's id; the primary network's is all zeros.
func subnetText(id []byte) string {
	if bytes.Equal(id, ids.Empty[:]) {
		return ids.Empty.String()
	}
	return data.CB58(id)
}

// txName returns a message's transaction id as clients know it.
func (m *writer) txName(ctx context.Context, w *outbox.Webhook, at store.Position) (string, error) {
	if at == 0 {
		return "", nil
	}
	if w.Event == outbox.AddressActivity {
		row, err := m.world.DB.Transaction(ctx, at)
		return hexutil.Encode(row.Hash), err
	}
	row, err := m.world.DB.PrimaryTx(ctx, at)
	if err != nil {
		return "", err
	}
	return data.CB58(row.Hash), nil
}
