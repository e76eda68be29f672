package seed

import (
	"math/rand/v2"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// assets are the X-Chain's own: one of a fixed amount, one that is minted, one of NFTs and properties, one of spam. The deployer
// creates them.
type assets struct{ *Network }

// schedule plans the creation and the minting of assets.
func (n *assets) schedule() {
	n.create(20, "fixed", n.fixed)
	n.create(22, "variable", n.variable)
	n.create(24, "collectible", n.collectible)
	n.create(26, "spam", n.spam)
	for i := range 3 {
		n.Network.schedule(store.XChain, n.span.At(120+250*i, 3), func(at uint64) (*primary.Tx, error) { return n.mint(uint64(i+1)*5_000, at) })
		n.Network.schedule(store.XChain, n.span.At(140+250*i, 3), func(at uint64) (*primary.Tx, error) { return n.mintNFT(i, at) })
	}
	n.Network.schedule(store.XChain, n.span.At(720, 3), n.mintProperty)
}

// create plans the creation of an asset.
func (n *assets) create(thousandth int, role string, of func() *primary.CreateAssetTx) {
	n.Network.schedule(store.XChain, n.span.At(thousandth, 3), func(at uint64) (*primary.Tx, error) {
		unsigned := of()
		if err := primary.SortStates(unsigned.States); err != nil {
			return nil, err
		}
		tx, err := n.wallet.sign(txDraft{chain: store.XChain, from: singleSigner(n.personas.Deployer), fee: n.rules.CreateAssetFee, tx: unsigned}, at)
		if tx != nil {
			n.assetIDs[role] = tx.ID()
		}
		return tx, err
	})
}

// fixed is spread among accounts from the start.
func (n *assets) fixed() *primary.CreateAssetTx {
	state := &primary.InitialState{Outs: []primary.Output{&primary.TransferOutput{Amount: 50_000_000, OutputOwners: n.personas.Alice.Owner()}}}
	for i := range 24 {
		state.Outs = append(state.Outs, &primary.TransferOutput{Amount: uint64(1_000_000 + 1_000*i), OutputOwners: n.account(i).Owner()})
	}
	return &primary.CreateAssetTx{Name: "Flake Coin", Symbol: "FLKC", Denomination: 6, States: []*primary.InitialState{state}}
}

func (n *assets) variable() *primary.CreateAssetTx {
	return &primary.CreateAssetTx{Name: "Snow Credit", Symbol: "SNWC", Denomination: 2, States: []*primary.InitialState{{Outs: []primary.Output{
		&primary.MintOutput{OutputOwners: n.personas.Deployer.Owner()},
		&primary.TransferOutput{Amount: 1_000_000, OutputOwners: n.personas.Bob.Owner()},
	}}}}
}

func (n *assets) collectible() *primary.CreateAssetTx {
	owner := n.personas.Deployer.Owner()
	nfts := &primary.InitialState{FxIndex: 1}
	for group := range uint32(3) {
		nfts.Outs = append(nfts.Outs, &primary.NFTMintOutput{GroupID: group + 1, OutputOwners: owner})
	}
	properties := &primary.InitialState{FxIndex: 2, Outs: []primary.Output{&primary.PropertyMintOutput{OutputOwners: owner}}}
	return &primary.CreateAssetTx{Name: "Alpine Badges", Symbol: "ALPB", States: []*primary.InitialState{nfts, properties}}
}

// spam is an asset that spammed and others get without having asked for it.
func (n *assets) spam() *primary.CreateAssetTx {
	state := &primary.InitialState{}
	for _, who := range []*Account{n.personas.Spammed, n.personas.Alice, n.account(3), n.account(4)} {
		state.Outs = append(state.Outs, &primary.TransferOutput{Amount: 1_000_000_000, OutputOwners: who.Owner()})
	}
	return &primary.CreateAssetTx{Name: "Visit claim frost example", Symbol: "CLM", States: []*primary.InitialState{state}}
}

// operate makes an OperationTx of the deployer's.
func (n *assets) operate(op *primary.Operation, at uint64) (*primary.Tx, error) {
	deployer := singleSigner(n.personas.Deployer)
	return n.wallet.sign(txDraft{chain: store.XChain, from: deployer, auth: [][]*primary.Key{deployer.keys},
		tx: &primary.OperationTx{Ops: []*primary.Operation{op}}}, at)
}

// mintOutput is the i-th of the deployer's outputs of a kind that an operation consumes, or nil.
func (n *assets) mintOutput(role string, kind primary.Output, i int) (*primary.UTXO, ids.ID) {
	held := n.wallet.ofAsset(store.XChain, n.assetIDs[role], kind, singleSigner(n.personas.Deployer))
	if len(held) == 0 {
		return nil, ids.Empty
	}
	return held[i%len(held)], n.assetIDs[role]
}

var firstOwner = primary.Input{SigIndices: []uint32{0}}

func (n *assets) mint(amount, at uint64) (*primary.Tx, error) {
	u, asset := n.mintOutput("variable", (*primary.MintOutput)(nil), 0)
	if u == nil {
		return nil, nil
	}
	return n.operate(&primary.Operation{AssetID: asset, UTXOIDs: []*primary.UTXOID{&u.UTXOID}, Op: &primary.MintOperation{
		MintInput: firstOwner, MintOutput: primary.MintOutput{OutputOwners: *u.Owners()},
		TransferOutput: primary.TransferOutput{Amount: amount * 100, OutputOwners: n.personas.Alice.Owner()},
	}}, at)
}

// mintNFT mints NFTs for the collector and an account.
func (n *assets) mintNFT(i int, at uint64) (*primary.Tx, error) {
	u, asset := n.mintOutput("collectible", (*primary.NFTMintOutput)(nil), i)
	if u == nil {
		return nil, nil
	}
	group, _ := u.Out.(*primary.NFTMintOutput)
	collector, other := n.personas.Collector.Owner(), n.account(i).Owner()
	return n.operate(&primary.Operation{AssetID: asset, UTXOIDs: []*primary.UTXOID{&u.UTXOID}, Op: &primary.NFTMintOperation{
		MintInput: firstOwner, GroupID: group.GroupID, Payload: primary.HexBytes(MetadataBase + "badges/" + string(rune('1'+i)) + ".json"),
		Outputs: []*primary.OutputOwners{&collector, &other},
	}}, at)
}

func (n *assets) mintProperty(at uint64) (*primary.Tx, error) {
	u, asset := n.mintOutput("collectible", (*primary.PropertyMintOutput)(nil), 0)
	if u == nil {
		return nil, nil
	}
	return n.operate(&primary.Operation{AssetID: asset, UTXOIDs: []*primary.UTXOID{&u.UTXOID}, Op: &primary.PropertyMintOperation{
		MintInput: firstOwner, MintOutput: primary.PropertyMintOutput{OutputOwners: *u.Owners()},
		OwnedOutput: primary.PropertyOwnedOutput{OutputOwners: n.personas.Collector.Owner()},
	}}, at)
}

// trade sends a part of what somebody holds of the fixed asset or of the minted one.
func (n *assets) trade(who *Account, r *rand.Rand, at uint64) (*primary.Tx, error) {
	asset := n.assetIDs[[]string{"fixed", "variable"}[r.IntN(2)]]
	from := singleSigner(who)
	held := n.wallet.ofAsset(store.XChain, asset, (*primary.TransferOutput)(nil), from)
	if len(held) == 0 || held[0].Amount() < 10 {
		return nil, nil
	}
	u, to := held[0], n.account(Skewed(r, len(n.accounts))).Owner()
	part := u.Amount() / uint64(Between(r, 2, 9))
	return n.wallet.sign(txDraft{chain: store.XChain, from: from, extra: []*primary.UTXO{u}, tx: &primary.BaseTx{}, outs: []*primary.TransferableOutput{
		primary.Pay(asset, part, to), primary.Pay(asset, u.Amount()-part, from.owners),
	}}, at)
}
