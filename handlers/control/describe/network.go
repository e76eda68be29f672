package describe

import (
	"context"
	"errors"
	"math"

	"github.com/ava-labs/avalanchego/utils/hashing"

	"snowglobe/sim/rules"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Network lists the contents of a network's P- and X-Chain.
type Network struct {
	Rules         *rules.Network
	PHeight       uint64
	XHeight       uint64
	PTransactions int64
	XTransactions int64
	Validators    int // of the primary network and of permissioned subnets, past ones included
	Delegators    int
	L1Validators  int
	Nodes         []Node // nodes with a role
	Subnets       []Subnet
	Assets        []store.PrimaryAsset
	Samples       map[string][]byte // example ids by what they show
}

// Node is a node with a role.
type Node struct {
	Role       string
	Node       []byte
	Validation []byte // for an L1 validator
	Tx         []byte // for a validator of the primary network
}

// Subnet is a subnet with its chains.
type Subnet struct {
	store.SubnetView
	Blockchains []store.Blockchain
}

func readNetwork(ctx context.Context, db *store.DB, id uint32) (*Network, error) {
	d := &Network{Samples: map[string][]byte{}}
	upgrades, err := db.UpgradesOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.Rules, err = rules.Load(id, upgrades); err != nil {
		return nil, err
	}
	chains := [3]int{}
	for i := range chains {
		chains[i] = store.PrimaryChain(rules.Index(id), i)
	}
	p, err := db.PrimaryHead(ctx, chains[store.PChain])
	if err != nil {
		return nil, err
	}
	x, err := db.PrimaryHead(ctx, chains[store.XChain])
	if err != nil {
		return nil, err
	}
	if d.Assets, err = db.Assets(ctx, chains[store.XChain]); err != nil {
		return nil, err
	}
	d.PHeight, d.PTransactions, d.XHeight, d.XTransactions = p.ID.Number(), p.AllTxs, x.ID.Number(), x.AllTxs
	return d, errors.Join(countStakers(ctx, db, d, chains), readRoles(ctx, db, d, chains), readSubnets(ctx, db, d, chains),
		samples(ctx, db, d, chains))
}

// countStakers counts the transactions that added stakers, which an index lists.
func countStakers(ctx context.Context, db *store.DB, d *Network, chains [3]int) error {
	p := chains[store.PChain]
	var err error
	if d.Validators, err = db.CountPrimaryTxs(ctx, p, "AddValidatorTx", "AddPermissionlessValidatorTx", "AddSubnetValidatorTx"); err != nil {
		return err
	}
	if d.Delegators, err = db.CountPrimaryTxs(ctx, p, "AddDelegatorTx", "AddPermissionlessDelegatorTx"); err != nil {
		return err
	}
	d.L1Validators, err = db.L1ValidatorCount(ctx, p)
	return err
}

// readRoles finds what the nodes with a role validate or validated.
func readRoles(ctx context.Context, db *store.DB, d *Network, chains [3]int) error {
	nodes, err := db.NodeRoles(ctx, d.Rules.NetworkID)
	if err != nil {
		return err
	}
	for i := range nodes {
		n := Node{Role: nodes[i].Role, Node: nodes[i].Node}
		if n.Tx, err = db.FirstTxOfNode(ctx, chains[store.PChain], n.Node); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		l1, err := db.L1ValidatorsOfNode(ctx, n.Node, d.PHeight)
		if err != nil {
			return err
		}
		if len(l1) > 0 {
			n.Validation = l1[0].Validation
		}
		d.Nodes = append(d.Nodes, n)
	}
	return nil
}

func readSubnets(ctx context.Context, db *store.DB, d *Network, chains [3]int) error {
	subnets, err := db.Subnets(ctx, chains[store.PChain])
	if err != nil {
		return err
	}
	for _, s := range subnets {
		blockchains, err := db.BlockchainsOfSubnet(ctx, s.Hash)
		if err != nil {
			return err
		}
		d.Subnets = append(d.Subnets, Subnet{s, blockchains})
	}
	return nil
}

// samples finds one transaction of each type, and one whose inputs needed two signatures.
func samples(ctx context.Context, db *store.DB, d *Network, chains [3]int) error {
	for i, chain := range chains {
		first := uint64(0)
		if i == store.XChain {
			first = 1 // the genesis transaction is unlike any other
		}
		found, err := db.FirstPrimaryTxs(ctx, chain, first)
		if err != nil {
			return err
		}
		for _, tx := range found {
			d.Samples[txs.Chain(i).String()+"."+tx.Type] = tx.Hash
		}
	}
	return sampleMultisig(ctx, db, d, chains[store.XChain])
}

func sampleMultisig(ctx context.Context, db *store.DB, d *Network, chain int) error {
	personas, err := db.Personas(ctx)
	if err != nil {
		return err
	}
	for _, p := range personas {
		if p.Name != "committee" {
			continue
		}
		key, err := secp256k1.NewKey(p.Key)
		if err != nil {
			return err
		}
		address := hashing.PubkeyBytesToAddress(key.Compressed())
		const few = 20
		utxos, err := db.UTXOsOfAddress(ctx, address, chain, math.MaxInt64, few)
		if err != nil {
			return err
		}
		for _, u := range utxos {
			if u.Spent == nil {
				continue
			}
			tx, err := db.PrimaryTx(ctx, *u.Spent)
			if err != nil {
				return err
			}
			d.Samples["multisigSpend"] = tx.Hash
		}
	}
	return nil
}
