package primary

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Grant is the initial balance on P and on X of an account in a user's file, in nAVAX.
type Grant struct {
	To   txs.OutputOwners
	P, X uint64
}

// Stake is a validator or delegator in a user's file. Explain adds its place in the file to an error.
type Stake struct {
	Node       string // role of a node, or its id
	Delegates  bool
	Who        *population.Account
	Weight     uint64 // nAVAX
	Start, End uint64
	Shares     uint32 // of the rewards of delegators, in millionths
	Explain    func(error) error
}

// OwnValidator is a validator of a user's L1.
type OwnValidator struct {
	Role    string
	Who     *population.Account
	Weight  uint64
	Balance uint64 // nAVAX left when history ends
}

// own holds the parts of a user's file about a network.
type own struct {
	grants []Grant
	stakes []Stake // within history
}

// firstOwnNode is the number of a user's first node, beyond those of any profile.
const firstOwnNode = 1_000_000

// AddGrant gives an account an initial balance.
func (n *Network) AddGrant(g Grant) { n.own.grants = append(n.own.grants, g) }

// AddStake lets an account validate or delegate during the history.
func (n *Network) AddStake(s Stake) { n.own.stakes = append(n.own.stakes, s) }

// AddNode makes a node for a role in a user's file.
func (n *Network) AddNode(role string, who *population.Account) error {
	_, err := n.addNode(role, who)
	return err
}

func (n *Network) addNode(role string, who *population.Account) (*node, error) {
	if n.nodeNamed(role) != nil || slices.Contains(l1Roles[:], role) || slices.Contains(nodeRoles[:], role) {
		return nil, fmt.Errorf("%s is the role of another node", role)
	}
	node, err := newNode(n.rng, n.rules.NetworkID, firstOwnNode+len(n.nodes.all))
	if err != nil {
		return nil, err
	}
	node.row.Role, node.row.Connected, node.owner = role, true, who
	n.nodes.all, n.nodes.byID[node.id] = append(n.nodes.all, node), node
	return node, nil
}

// nodeNamed returns the node with a role or an id, or nil.
func (n *Network) nodeNamed(name string) *node {
	i := slices.IndexFunc(n.nodes.all, func(node *node) bool { return node.row.Role == name || node.id.String() == name })
	if i < 0 || name == "" {
		return nil
	}
	return n.nodes.all[i]
}

// Declare lists an L1's validators, from its conversion on.
func (l *L1) Declare(all []OwnValidator) error {
	l.declared = map[*node]OwnValidator{}
	for _, v := range all {
		node, err := l.network.addNode(v.Role, v.Who)
		if err != nil {
			return err
		}
		l.declared[node] = v
		l.validators = append(l.validators, node)
	}
	return nil
}

func (b *genesisBuilder) grantOwn() {
	for _, g := range b.own.grants {
		if g.P > 0 {
			b.grantP(&txs.TransferOutput{Amount: g.P, OutputOwners: g.To})
		}
		if g.X > 0 {
			b.x.UTXOs = append(b.x.UTXOs, &txs.UTXO{
				UTXOID: txs.UTXOID{TxID: b.rules.AVAXAssetID, OutputIndex: uint32(len(b.x.UTXOs))}, AssetID: b.rules.AVAXAssetID,
				Out: &txs.TransferOutput{Amount: g.X, OutputOwners: g.To},
			})
		}
	}
}

func (n *Network) scheduleOwn() {
	for _, s := range n.own.stakes {
		if s.End <= n.span.Until {
			n.ending++
		}
		n.schedule(store.PChain, s.Start, func(at uint64) (*txs.Tx, error) { return n.stakeTx(s, at) })
	}
}

// stakeTx returns the transaction of a stake, or the network's own reason to refuse it.
func (n *Network) stakeTx(s Stake, at uint64) (*txs.Tx, error) {
	node := n.nodeNamed(s.Node)
	if node == nil {
		return nil, s.Explain(fmt.Errorf("no node has the role or id %s", s.Node))
	}
	owners := s.Who.Owner()
	validator, out := txs.Validator{NodeID: node.id, End: s.End, Weight: s.Weight}, []*txs.TransferableOutput{n.wallet.output(s.Weight, owners)}
	var unsigned txs.Unsigned = &txs.AddPermissionlessValidatorTx{Validator: validator, SubnetID: ids.Empty, Signer: node.proof,
		StakeOuts: out, ValidationOwner: &owners, DelegationOwner: &owners, DelegationShares: s.Shares}
	if s.Delegates {
		unsigned = &txs.AddPermissionlessDelegatorTx{Validator: validator, SubnetID: ids.Empty, StakeOuts: out, RewardsOwner: &owners}
	}
	tx, err := n.wallet.sign(txDraft{chain: store.PChain, from: singleSigner(s.Who), more: s.Weight, tx: unsigned}, at)
	if err == nil && tx == nil {
		err = fmt.Errorf("the owner cannot pay the stake of %d nAVAX and the fee on P; give it a balance there", s.Weight)
	}
	if err == nil {
		err = n.net.P.VerifyTx(tx, at)
	}
	if err != nil {
		return nil, s.Explain(err)
	}
	return tx, nil
}

// Opened returns the network after its history, in an open world.
func (n *Network) Opened(live *sim.Network) *Residents {
	return &Residents{live: live, Network: &Network{
		rng: n.rng, rules: n.rules, personas: n.personas, accounts: n.accounts, size: n.size, nodes: n.nodes, wallet: &wallet{rules: n.rules, utxos: utxoSet{}},
	}}
}

// Stake lets an account validate or delegate now.
func (n *Residents) Stake(ctx context.Context, s Stake) error {
	return n.onEither(ctx, txs.PChain, s.Who, func(at uint64) (*txs.Tx, error) { return n.stakeTx(s, at) }, nil)
}

// FundsError reports that an account cannot pay an amount and the fee.
type FundsError struct {
	Chain        txs.Chain
	Unit         string // nAVAX, or the id of another asset
	Amount, Owns uint64 // Owns is what the account can spend at once
}

func (e *FundsError) Error() string {
	return fmt.Sprintf("the sender cannot pay %d %s and the fee on %s", e.Amount, e.Unit, e.Chain)
}

// NewPayer returns the residents of a world's network, for Pay, PayAsset and Export only.
func NewPayer(live *sim.Network) *Residents {
	return &Residents{live: live, Network: &Network{rules: live.Rules, wallet: &wallet{rules: live.Rules, utxos: utxoSet{}}}}
}

// Pay sends an amount in nAVAX from an account on P or X now.
func (n *Residents) Pay(ctx context.Context, chain txs.Chain, from *population.Account, to txs.OutputOwners, amount uint64) (*txs.Tx, error) {
	return n.spend(ctx, chain, from, amount, func(at uint64) (*txs.Tx, error) {
		return n.wallet.sign(txDraft{chain: int(chain), from: singleSigner(from), tx: &txs.BaseTx{},
			outs: []*txs.TransferableOutput{n.wallet.output(amount, to)}}, at)
	})
}

// Export sends nAVAX from an account on P or X to owners on another chain, who import it there.
func (n *Residents) Export(ctx context.Context, from, to txs.Chain, who *population.Account, owners txs.OutputOwners, amount uint64) (*txs.Tx, error) {
	return n.spend(ctx, from, who, amount, func(at uint64) (*txs.Tx, error) {
		return n.wallet.exportTx(int(from), int(to), singleSigner(who), owners, amount, at)
	})
}

// spend issues a transaction that spends an amount of an account's AVAX on P or X, and returns it.
func (n *Residents) spend(ctx context.Context, chain txs.Chain, who *population.Account, amount uint64, write func(at uint64) (*txs.Tx, error)) (sent *txs.Tx, err error) {
	err = n.onEither(ctx, chain, who, func(at uint64) (*txs.Tx, error) {
		owns := sumOf(n.wallet.utxos[n.wallet.avax(int(chain), int(chain), singleSigner(who))])
		if amount > owns {
			return nil, &FundsError{chain, "nAVAX", amount, owns}
		}
		tx, err := write(at)
		if err == nil && tx == nil {
			err = &FundsError{chain, "nAVAX", amount, owns}
		}
		sent = tx
		return tx, err
	}, nil)
	return sent, err
}

// Move moves an amount in nAVAX of an account from one chain of the network to another now, by an export and an import.
func (n *Residents) Move(ctx context.Context, who *population.Account, from, to txs.Chain, amount uint64) error {
	moves, way := &transfers{n.Network}, &crossChainTransfer{who: who, from: int(from), to: int(to), amount: amount}
	err := n.onEither(ctx, from, who,
		func(at uint64) (*txs.Tx, error) {
			return n.wallet.exportTx(way.from, way.to, singleSigner(who), who.Owner(), amount, at)
		},
		func(p *evm.BlockExecution) (*txs.Tx, error) { return moves.exportFromC(p, way) })
	if err != nil {
		return fmt.Errorf("export of %d nAVAX from %s: %w", amount, from, err)
	}
	err = n.onEither(ctx, to, who,
		func(at uint64) (*txs.Tx, error) { return n.wallet.importTx(way.to, way.from, singleSigner(who), at) },
		func(p *evm.BlockExecution) (*txs.Tx, error) { return moves.importToC(p, way) })
	if err != nil {
		return fmt.Errorf("import to %s: %w", to, err)
	}
	return nil
}

// onEither issues a transaction on the P- or X-Chain, or on the C-Chain, built once the sender's balance is known. No transaction means
// that the sender cannot pay.
func (n *Residents) onEither(ctx context.Context, chain txs.Chain, who *population.Account, onPrimary func(at uint64) (*txs.Tx, error), onC func(*evm.BlockExecution) (*txs.Tx, error)) error {
	prepared := func(net *primary.Network, write func() (*txs.Tx, error)) (*txs.Tx, error) {
		if err := n.prepare(ctx, net, who); err != nil {
			return nil, err
		}
		tx, err := write()
		if err == nil && tx == nil {
			err = errors.New("the balance does not cover it and its fee")
		}
		return tx, err
	}
	if chain == txs.CChain {
		return n.live.IssueNextC(ctx, func(net *primary.Network, p *evm.BlockExecution) (*txs.Tx, error) {
			return prepared(net, func() (*txs.Tx, error) { return onC(p) })
		})
	}
	return n.live.IssueNext(ctx, chain, func(net *primary.Network, at uint64) (*txs.Tx, error) {
		return prepared(net, func() (*txs.Tx, error) { return onPrimary(at) })
	})
}

// prepare loads the outputs that an account can spend now.
func (n *Residents) prepare(ctx context.Context, net *primary.Network, who *population.Account) error {
	n.net, n.wallet.net = net, net
	return n.load(ctx, who)
}
