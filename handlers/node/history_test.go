package node

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// history fills the two chains of a test network.
func (l *testNetwork) history() {
	l.assets()
	l.transfers()
	subnet := l.issueP(&txs.CreateSubnetTx{BaseTx: l.spend(txs.PChain, 0), Owner: l.ownedBy(l.alice)}, 1).ID()
	chain := l.issueP(&txs.CreateChainTx{
		BaseTx: l.spend(txs.PChain, 0), SubnetID: subnet, ChainName: "Serac", VMID: ids.ID{'s', 'e', 'r', 'a', 'c'}, FxIDs: []ids.ID{},
		GenesisData: []byte("genesis"), SubnetAuth: &first,
	}, 2).ID()
	l.delegate()
	other := l.issueP(&txs.CreateSubnetTx{BaseTx: l.spend(txs.PChain, 0), Owner: l.ownedBy(l.alice)}, 1).ID()
	l.issueP(&txs.AddSubnetValidatorTx{
		BaseTx:    l.spend(txs.PChain, 0),
		Validator: txs.SubnetValidator{Validator: l.validates(1, 42, 30*day), SubnetID: other}, SubnetAuth: &first,
	}, 2)
	l.convert(subnet, chain)
}

func (l *testNetwork) ownedBy(keys ...*txs.Key) *txs.OutputOwners {
	var addresses []ids.ShortID
	for _, key := range keys {
		addresses = append(addresses, key.Address())
	}
	owners := txs.NewOutputOwners(0, 1, addresses...)
	return &owners
}

func (l *testNetwork) validates(node int, weight, duration uint64) txs.Validator {
	return txs.Validator{NodeID: txs.NodeIDOf(l.nodes[node].Certificate), Start: l.now, End: l.now + duration, Weight: weight}
}

// assets makes an asset for alice, gives bob some, and pays bob in AVAX: from her alone, from both together, and with a locktime.
func (l *testNetwork) assets() {
	asset := l.issueX(&txs.CreateAssetTx{
		BaseTx: l.spend(txs.XChain, 0), Name: "Test Token", Symbol: "TEST", Denomination: 3,
		States: []*txs.InitialState{{Outs: []txs.Output{
			&txs.MintOutput{OutputOwners: *l.ownedBy(l.alice)}, &txs.TransferOutput{Amount: 1_000, OutputOwners: *l.ownedBy(l.alice)},
		}}},
	}, 1)
	base := l.spend(txs.XChain, 0, txs.NewTransferableOutput(asset.ID(), 400, *l.ownedBy(l.bob)), txs.NewTransferableOutput(asset.ID(), 600, *l.ownedBy(l.alice)))
	base.Ins = append(base.Ins, &txs.TransferableInput{UTXOID: txs.UTXOID{TxID: asset.ID(), OutputIndex: 2}, AssetID: asset.ID(),
		In: &txs.TransferInput{Amount: 1_000, Input: first}})
	txs.SortInputs(base.Ins)
	l.issueX(&base, 2)
	later := txs.NewOutputOwners(l.now+900*day, 1, l.bob.Address())
	paid := l.spend(txs.XChain, 6*nAVAX, l.pay(nAVAX, *l.ownedBy(l.bob)), l.pay(2*nAVAX, *l.ownedBy(l.alice, l.bob)), l.pay(3*nAVAX, later))
	l.issueX(&paid, 1)
}

func (l *testNetwork) pay(amount uint64, owners txs.OutputOwners) *txs.TransferableOutput {
	return txs.NewTransferableOutput(l.rules.AVAXAssetID, amount, owners)
}

// transfers moves alice's AVAX from X to P, and exports some of bob's in both directions without importing it.
func (l *testNetwork) transfers() {
	out := l.issueX(&txs.ExportTx{BaseTx: l.spend(txs.XChain, 9*nAVAX), ExportedOutputs: []*txs.TransferableOutput{l.pay(9*nAVAX, *l.ownedBy(l.alice))}}, 1)
	_, exported := out.Exported()
	base := l.base(txs.PChain)
	base.Outs = append(base.Outs, l.pay(8*nAVAX, *l.ownedBy(l.alice)))
	l.issueP(&txs.ImportTx{BaseTx: base, SourceChain: l.rules.XChainID, ImportedInputs: []*txs.TransferableInput{
		{UTXOID: exported[0].UTXOID, AssetID: exported[0].AssetID, In: &txs.TransferInput{Amount: 9 * nAVAX, Input: first}},
	}}, 1)
	l.issueX(&txs.ExportTx{BaseTx: l.spend(txs.XChain, 4*nAVAX), ExportedOutputs: []*txs.TransferableOutput{l.pay(4*nAVAX, *l.ownedBy(l.bob))}}, 1)
	l.issueP(&txs.ExportTx{BaseTx: l.spend(txs.PChain, 12*nAVAX), DestinationChain: l.rules.XChainID,
		ExportedOutputs: []*txs.TransferableOutput{l.pay(5*nAVAX, *l.ownedBy(l.bob)), l.pay(7*nAVAX, *l.ownedBy(l.bob))}}, 1)
}

// delegate adds to the weight of the first validator.
func (l *testNetwork) delegate() {
	weight := uint64(30 * nAVAX)
	l.issueP(&txs.AddPermissionlessDelegatorTx{
		BaseTx: l.spend(txs.PChain, weight), Validator: l.validates(0, weight, 60*day),
		StakeOuts: []*txs.TransferableOutput{l.pay(weight, *l.ownedBy(l.alice))}, RewardsOwner: l.ownedBy(l.bob),
	}, 1)
}

// convert makes an L1 of a subnet, with one validator that pays and one that doesn't.
func (l *testNetwork) convert(subnet, chain ids.ID) {
	owner := warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{l.alice.Address()}}
	var validators []*txs.ConversionValidator
	for i, balance := range []uint64{2 * nAVAX, 0} {
		node := l.nodes[i].Node
		validators = append(validators, &txs.ConversionValidator{
			NodeID: node, Weight: uint64(100 + i), Balance: balance, Signer: *l.proof(i), RemainingBalanceOwner: owner, DeactivationOwner: owner,
		})
	}
	if string(validators[0].NodeID) > string(validators[1].NodeID) {
		validators[0], validators[1] = validators[1], validators[0]
	}
	l.issueP(&txs.ConvertSubnetToL1Tx{
		BaseTx: l.spend(txs.PChain, 2*nAVAX), SubnetID: subnet, ChainID: chain, Address: []byte{0xfe, 0xed}, Validators: validators, SubnetAuth: &first,
	}, 2)
}
