package seed

import (
	"math/rand/v2"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// bazaar is what the deployer and the collector do with assets of the X-chain's own: one of a fixed amount, one that is
// minted, one of NFTs and properties.
func (r *primaryNetwork) issueAssets() {
	r.add(store.XChain, r.moment(20, 3), singleTx(func(at uint64) (*primary.Tx, error) { return r.issue("fixed", r.fixed(), at) }))
	r.add(store.XChain, r.moment(22, 3), singleTx(func(at uint64) (*primary.Tx, error) { return r.issue("variable", r.variable(), at) }))
	r.add(store.XChain, r.moment(24, 3), singleTx(func(at uint64) (*primary.Tx, error) { return r.issue("collectible", r.collectible(), at) }))
	r.add(store.XChain, r.moment(26, 3), singleTx(func(at uint64) (*primary.Tx, error) { return r.issue("spam", r.spamAsset(), at) }))
	for i := range 3 {
		r.add(store.XChain, r.moment(120+250*i, 3), singleTx(func(at uint64) (*primary.Tx, error) { return r.mint(uint64(i+1)*5_000, at) }))
		r.add(store.XChain, r.moment(140+250*i, 3), singleTx(func(at uint64) (*primary.Tx, error) { return r.mintNFT(i, at) }))
	}
	r.add(store.XChain, r.moment(720, 3), singleTx(r.mintProperty))
}

func (r *primaryNetwork) issue(role string, d *primary.CreateAssetTx, at uint64) (*primary.Tx, error) {
	if err := primary.SortStates(d.States); err != nil {
		return nil, err
	}
	tx, err := r.write(txDraft{chain: store.XChain, from: singleSigner(r.people["deployer"]), fee: r.rules.CreateAssetFee, build: func(base primary.BaseTx) primary.Unsigned {
		d.BaseTx = base
		return d
	}}, at)
	if tx != nil {
		r.assets[role] = tx.ID()
	}
	return tx, err
}

func (r *primaryNetwork) ownerOf(name string) primary.OutputOwners {
	return primary.Owner(r.people[name].primary.Address())
}

// fixed is spread among the nameless from the start.
func (r *primaryNetwork) fixed() *primary.CreateAssetTx {
	state := &primary.InitialState{Outs: []primary.Output{&primary.TransferOutput{Amount: 50_000_000, OutputOwners: r.ownerOf("alice")}}}
	for i := range 24 {
		state.Outs = append(state.Outs, &primary.TransferOutput{Amount: uint64(1_000_000 + 1_000*i), OutputOwners: primary.Owner(r.other(i).primary.Address())})
	}
	return &primary.CreateAssetTx{Name: "Flake Coin", Symbol: "FLKC", Denomination: 6, States: []*primary.InitialState{state}}
}

func (r *primaryNetwork) variable() *primary.CreateAssetTx {
	return &primary.CreateAssetTx{Name: "Snow Credit", Symbol: "SNWC", Denomination: 2, States: []*primary.InitialState{{Outs: []primary.Output{
		&primary.MintOutput{OutputOwners: r.ownerOf("deployer")},
		&primary.TransferOutput{Amount: 1_000_000, OutputOwners: r.ownerOf("bob")},
	}}}}
}

func (r *primaryNetwork) collectible() *primary.CreateAssetTx {
	owner := r.ownerOf("deployer")
	nfts := &primary.InitialState{FxIndex: 1}
	for group := range uint32(3) {
		nfts.Outs = append(nfts.Outs, &primary.NFTMintOutput{GroupID: group + 1, OutputOwners: owner})
	}
	properties := &primary.InitialState{FxIndex: 2, Outs: []primary.Output{&primary.PropertyMintOutput{OutputOwners: owner}}}
	return &primary.CreateAssetTx{Name: "Alpine Badges", Symbol: "ALPB", States: []*primary.InitialState{nfts, properties}}
}

// leaflet is an asset that spammed and others get without having asked.
func (r *primaryNetwork) spamAsset() *primary.CreateAssetTx {
	state := &primary.InitialState{}
	for _, who := range []*account{r.people["spammed"], r.people["alice"], r.other(3), r.other(4)} {
		state.Outs = append(state.Outs, &primary.TransferOutput{Amount: 1_000_000_000, OutputOwners: primary.Owner(who.primary.Address())})
	}
	return &primary.CreateAssetTx{Name: "Visit claim frost example", Symbol: "CLM", States: []*primary.InitialState{state}}
}

// operate carries out operations on behalf of the deployer.
func (r *primaryNetwork) operate(op *primary.Operation, at uint64) (*primary.Tx, error) {
	deployer := singleSigner(r.people["deployer"])
	return r.write(txDraft{chain: store.XChain, from: deployer, auth: [][]*primary.Key{deployer.keys}, build: func(base primary.BaseTx) primary.Unsigned {
		return &primary.OperationTx{BaseTx: base, Ops: []*primary.Operation{op}}
	}}, at)
}

// right is the n-th of the deployer's outputs of a kind that an operation consumes.
func (r *primaryNetwork) right(role string, kind primary.Output, n int) (*primary.UTXO, ids.ID) {
	held := r.asset(store.XChain, r.assets[role], kind, singleSigner(r.people["deployer"]))
	if len(held) == 0 {
		return nil, ids.Empty
	}
	return held[n%len(held)], r.assets[role]
}

var first = primary.Input{SigIndices: []uint32{0}}

func (r *primaryNetwork) mint(amount, at uint64) (*primary.Tx, error) {
	u, asset := r.right("variable", (*primary.MintOutput)(nil), 0)
	if u == nil {
		return nil, nil
	}
	return r.operate(&primary.Operation{AssetID: asset, UTXOIDs: []*primary.UTXOID{&u.UTXOID}, Op: &primary.MintOperation{
		MintInput: first, MintOutput: primary.MintOutput{OutputOwners: *u.Owners()},
		TransferOutput: primary.TransferOutput{Amount: amount * 100, OutputOwners: r.ownerOf("alice")},
	}}, at)
}

// paint mints NFTs for the collector and one of the nameless.
func (r *primaryNetwork) mintNFT(n int, at uint64) (*primary.Tx, error) {
	u, asset := r.right("collectible", (*primary.NFTMintOutput)(nil), n)
	if u == nil {
		return nil, nil
	}
	group, _ := u.Out.(*primary.NFTMintOutput)
	collector, other := r.ownerOf("collector"), primary.Owner(r.other(n).primary.Address())
	return r.operate(&primary.Operation{AssetID: asset, UTXOIDs: []*primary.UTXOID{&u.UTXOID}, Op: &primary.NFTMintOperation{
		MintInput: first, GroupID: group.GroupID, Payload: primary.HexBytes(MetadataBase + "badges/" + string(rune('1'+n)) + ".json"),
		Outputs: []*primary.OutputOwners{&collector, &other},
	}}, at)
}

func (r *primaryNetwork) mintProperty(at uint64) (*primary.Tx, error) {
	u, asset := r.right("collectible", (*primary.PropertyMintOutput)(nil), 0)
	if u == nil {
		return nil, nil
	}
	return r.operate(&primary.Operation{AssetID: asset, UTXOIDs: []*primary.UTXOID{&u.UTXOID}, Op: &primary.PropertyMintOperation{
		MintInput: first, MintOutput: primary.PropertyMintOutput{OutputOwners: *u.Owners()},
		OwnedOutput: primary.PropertyOwnedOutput{OutputOwners: r.ownerOf("collector")},
	}}, at)
}

// trade passes on a part of what somebody holds of the fixed asset or of the minted one.
func (r *primaryNetwork) trade(who *account, g *rand.Rand, at uint64) (*primary.Tx, error) {
	asset := r.assets[[]string{"fixed", "variable"}[g.IntN(2)]]
	from := singleSigner(who)
	held := r.asset(store.XChain, asset, (*primary.TransferOutput)(nil), from)
	if len(held) == 0 || held[0].Amount() < 10 {
		return nil, nil
	}
	u, to := held[0], primary.Owner(r.other(skewed(g, len(r.accounts))).primary.Address())
	part := u.Amount() / uint64(between(g, 2, 9))
	return r.write(txDraft{chain: store.XChain, from: from, extra: []*primary.UTXO{u}, build: plain, outs: []*primary.TransferableOutput{
		primary.Pay(asset, part, to), primary.Pay(asset, u.Amount()-part, from.owners),
	}}, at)
}
