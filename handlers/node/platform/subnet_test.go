package platform_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/simtest"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// subnet is what the transactions of the chain say about a subnet.
type subnet struct {
	owner   *txs.OutputOwners
	convert *txs.ConvertSubnetToL1Tx
	chains  []ids.ID
}

// history reads the subnets and their blockchains from the transactions of the chain, oldest first.
func (n *node) history() (order []ids.ID, subnets map[ids.ID]*subnet, blockchains []Object) {
	n.Helper()
	subnets = map[ids.ID]*subnet{}
	for _, tx := range n.transactions() {
		switch u := tx.Unsigned.(type) {
		case *txs.CreateSubnetTx:
			order = append(order, tx.ID())
			subnets[tx.ID()] = &subnet{owner: u.Owner.Owners()}
		case *txs.TransferSubnetOwnershipTx:
			subnets[u.SubnetID].owner = u.Owner.Owners()
		case *txs.ConvertSubnetToL1Tx:
			subnets[u.SubnetID].convert = u
		case *txs.CreateChainTx:
			if n.network.Rules.XChainID != tx.ID() && n.network.Rules.CChainID != tx.ID() {
				subnets[u.SubnetID].chains = append(subnets[u.SubnetID].chains, tx.ID())
				blockchains = append(blockchains, Object{"id": tx.ID(), "name": u.ChainName, "subnetID": u.SubnetID, "vmID": u.VMID})
			}
		}
	}
	return order, subnets, blockchains
}

// TestSubnets recomputes every subnet's owners and conversion from the chain's transactions.
func TestSubnets(t *testing.T) {
	permissioned, converted := 0, 0
	onEach(t, func(t testing.TB, n *node) {
		order, subnets, _ := n.history()
		var listed []Object
		for _, id := range order {
			s := subnets[id]
			one := Object{"id": id, "controlKeys": n.addresses(s.owner.Addresses), "threshold": num(s.owner.Threshold)}
			listed = append(listed, one)
			n.Want(Object{"subnets": []Object{one}}, "platform.getSubnets", Object{"ids": []ids.ID{{1}, id, id}})
			want := Object{"isPermissioned": s.convert == nil, "controlKeys": one["controlKeys"], "threshold": one["threshold"], "locktime": num(s.owner.Locktime),
				"subnetTransformationTxID": ids.Empty, "conversionID": ids.Empty, "managerChainID": ids.Empty, "managerAddress": nil}
			if permissioned++; s.convert != nil {
				permissioned, converted = permissioned-1, converted+1
				want["conversionID"], want["managerChainID"], want["managerAddress"] = must[ids.ID](t)(s.convert.ConversionID()), s.convert.ChainID, bytesText(s.convert.Address)
			}
			n.Want(want, "platform.getSubnet", Object{"subnetID": id})
		}
		own := Object{"id": ids.Empty, "controlKeys": []any{}, "threshold": "0"}
		for _, args := range []Object{nil, {}, {"ids": nil}, {"ids": []any{}}} {
			n.Want(Object{"subnets": append(slices.Clone(listed), own)}, "platform.getSubnets", args)
		}
		n.Want(Object{"subnets": append([]Object{own}, listed...)}, "platform.getSubnets", Object{"ids": append([]ids.ID{ids.Empty, ids.Empty}, order...)})
		n.Refuses("the primary network isn't a subnet", "platform.getSubnet", Object{})
		n.Refuses("not found", "platform.getSubnet", Object{"subnetID": ids.ID{1}})
		n.Refuses(rpctest.Malformed, "platform.getSubnet", Object{"subnetID": "x"})
		n.Refuses(rpctest.Malformed, "platform.getSubnets", Object{"ids": []any{"nope"}})
		for _, tx := range n.transactions() {
			if _, is := tx.Unsigned.(*txs.CreateSubnetTx); !is {
				why := fmt.Sprintf("%q is not a subnet", tx.ID())
				n.Refuses(why, "platform.getSubnet", Object{"subnetID": tx.ID()})
				n.Refuses(why, "platform.validates", Object{"subnetID": tx.ID()})
				n.Refuses(why, "platform.getSubnets", Object{"ids": []ids.ID{tx.ID()}})
			}
		}
	})
	if permissioned == 0 || converted == 0 {
		t.Errorf("%d permissioned subnets and %d L1s", permissioned, converted)
	}
}

// TestBlockchains recomputes the blockchains of every subnet from the chain's transactions.
func TestBlockchains(t *testing.T) {
	onEach(t, func(t testing.TB, n *node) {
		order, subnets, blockchains := n.history()
		c, x := n.network.Rules.CChainID, n.network.Rules.XChainID
		n.Want(Object{"blockchains": append(blockchains,
			Object{"id": c, "name": "C-Chain", "subnetID": ids.Empty, "vmID": fixtures.EVMID}, Object{"id": x, "name": "X-Chain", "subnetID": ids.Empty, "vmID": fixtures.AVMID})}, "platform.getBlockchains", Object{})
		for _, id := range order {
			n.Want(Object{"blockchainIDs": append([]ids.ID{}, subnets[id].chains...)}, "platform.validates", Object{"subnetID": id})
			for _, chain := range subnets[id].chains {
				n.Want(Object{"subnetID": id}, "platform.validatedBy", Object{"blockchainID": chain})
			}
			n.Refuses(fmt.Sprintf("%q is not a blockchain", id), "platform.validatedBy", Object{"blockchainID": id})
		}
		n.Want(Object{"blockchainIDs": []ids.ID{c, x}}, "platform.validates", Object{})
		for _, chain := range []ids.ID{ids.Empty, c, x} {
			n.Want(Object{"subnetID": ids.Empty}, "platform.validatedBy", Object{"blockchainID": chain})
		}
		n.Refuses(fmt.Sprintf("problem retrieving subnet %q: not found", ids.ID{1}), "platform.validates", Object{"subnetID": ids.ID{1}})
		n.Refuses(fmt.Sprintf("problem retrieving blockchain %q: not found", ids.ID{1}), "platform.validatedBy", Object{"blockchainID": ids.ID{1}})
		n.Refuses(rpctest.Malformed, "platform.validatedBy", Object{"blockchainID": "x"})
		n.Refuses(rpctest.Malformed, "platform.validates", Object{"subnetID": "x"})
	})
}

// TestOtherNetworks: a network's chains and subnets are no other's.
func TestOtherNetworks(t *testing.T) {
	foreign := map[string][]ids.ID{}
	onEach(t, func(t testing.TB, n *node) {
		order, subnets, _ := n.history()
		for _, id := range order {
			foreign[n.network.Name] = append(foreign[n.network.Name], subnets[id].chains...)
		}
	})
	onEach(t, func(t testing.TB, n *node) {
		for _, chain := range foreign[map[string]string{"mainnet": "fuji", "fuji": "mainnet"}[n.network.Name]] {
			n.Refuses(fmt.Sprintf("problem retrieving blockchain %q: not found", chain), "platform.validatedBy", Object{"blockchainID": chain})
			n.Want(Object{"status": "Unknown"}, "platform.getBlockchainStatus", Object{"blockchainID": chain})
		}
	})
}

// TestBlockchainStatus: a node validates the chains that run here if it is among their validators, and otherwise follows them.
func TestBlockchainStatus(t *testing.T) {
	seen := map[string]int{}
	onEach(t, func(t testing.TB, n *node) {
		all, local := n.stakers(), n.network.LocalNode.ID()
		status := func(chain, want string) {
			t.Helper()
			seen[want]++
			n.Want(Object{"status": want}, "platform.getBlockchainStatus", Object{"blockchainID": chain})
		}
		for _, chain := range []string{"P", "platform", ids.Empty.String()} {
			status(chain, "Syncing")
		}
		for _, chain := range []string{"X", "avm", n.network.Rules.XChainID.String(), "C", "evm", n.network.Rules.CChainID.String()} {
			status(chain, "Validating")
		}
		order, subnets, _ := n.history()
		for _, id := range order {
			for _, chain := range subnets[id].chains {
				want := "Created"
				if _, here := n.network.Aliases.Lookup(chain.String()); here {
					want = "Syncing"
					if n.at(all, id, n.height())[local] != nil {
						want = "Validating"
					}
				}
				status(chain.String(), want)
			}
		}
		status(ids.ID{1}.String(), "Unknown")
		n.Refuses("argument 'blockchainID' not given", "platform.getBlockchainStatus", Object{})
		n.Refuses(`problem parsing blockchainID "nope": input string is smaller than the checksum size`, "platform.getBlockchainStatus", Object{"blockchainID": "nope"})
		n.Refuses(rpctest.Malformed, "platform.getBlockchainStatus", Object{"blockchainID": 7})
	})
	if seen["Created"] == 0 || seen["Syncing"] <= 6 {
		t.Errorf("%v", seen)
	}
}

// TestNewSubnet: a subnet of alice's begins without blockchains and validators, and its conversion shows at once, even without a manager's address.
func TestNewSubnet(t *testing.T) {
	n := serve(t, seedtest.Copy(t, 1).Networks[1])
	key := must[*txs.Key](t)(txs.KeyFromBytes(simtest.PersonaKey(t, n.network, "alice")))
	base := func(pays uint64) txs.BaseTx {
		base := *simtest.Payment(t, n.network, txs.PChain).Unsigned.Base()
		base.Outs[0].Out.(*txs.TransferOutput).Amount -= pays
		return base
	}
	issue := func(unsigned txs.Unsigned, more ...[]*txs.Key) ids.ID {
		tx := must[*txs.Tx](t)(txs.NewSigned(txs.PChain, unsigned, append([][]*txs.Key{{key}}, more...)...))
		n.Want(Object{"txID": tx.ID()}, "platform.issueTx", hexnc(tx.Bytes()))
		return tx.ID()
	}
	owner := txs.NewOwner(key.Address())
	subnet := issue(&txs.CreateSubnetTx{BaseTx: base(0), Owner: &owner})
	n.Want(Object{"blockchainIDs": []any{}}, "platform.validates", Object{"subnetID": subnet})
	n.Want(Object{"validators": []any{}}, "platform.getCurrentValidators", Object{"subnetID": subnet})
	chain := issue(&txs.CreateChainTx{BaseTx: base(0), SubnetID: subnet, ChainName: "New", VMID: ids.ID{2}, FxIDs: []ids.ID{}, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}}, []*txs.Key{key})
	n.Want(Object{"blockchainIDs": []ids.ID{chain}}, "platform.validates", Object{"subnetID": subnet})
	n.Want(Object{"status": "Created"}, "platform.getBlockchainStatus", Object{"blockchainID": chain})
	proof := must[*txs.ProofOfPossession](t)(txs.NewProofOfPossession(warp.NewSecretKey([32]byte{1})))
	node, who := ids.NodeID{7}, warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{key.Address()}}
	issue(&txs.ConvertSubnetToL1Tx{BaseTx: base(0), SubnetID: subnet, ChainID: chain, Address: txs.HexBytes{}, SubnetAuth: &txs.Input{SigIndices: []uint32{0}}, Validators: []*txs.ConversionValidator{
		{NodeID: node[:], Weight: 5, Signer: *proof, RemainingBalanceOwner: who, DeactivationOwner: who},
	}}, []*txs.Key{key})
	shown := rpctest.Get[struct {
		IsPermissioned bool
		ManagerChainID ids.ID
		ManagerAddress string
	}](n.Client, "platform.getSubnet", Object{"subnetID": subnet})
	if shown.IsPermissioned || shown.ManagerChainID != chain || shown.ManagerAddress != "0x" {
		t.Errorf("%+v", shown)
	}
	n.Want(Object{"stake": "5", "weight": "5"}, "platform.getTotalStake", Object{"subnetID": subnet})
	n.Want(Object{ids.EmptyNodeID.String(): member{nil, "5"}}, "platform.getValidatorsAt", Object{"height": "proposed", "subnetID": subnet})
	n.Want(Object{}, "platform.getValidatorsAt", Object{"height": n.height() - 1, "subnetID": subnet})
}
