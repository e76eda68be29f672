package primary

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/seed/population"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// assets are the X-Chain's own: a fixed amount, one that is minted, one with NFTs and properties, and spam. The deployer creates them; the
// proprietor mints the properties, since wallets fail on outputs of that kind.
type assets struct{ *Network }

// named returns an asset's name, after a made-up person, and its symbol of four letters.
func (n *assets) named(role, what string) (name, symbol string) {
	who := population.Surname(n.rng.Faker("asset", n.rules.NetworkID, role))
	return who + " " + what, strings.ToUpper(who[:3] + what[:1])
}

func (n *assets) schedule() {
	n.create(20, "fixed", n.fixed)
	n.create(22, "variable", n.variable)
	n.create(24, "collectible", n.collectible)
	n.create(26, "spam", n.spam)
	for i := range 3 {
		n.Network.schedule(store.XChain, n.span.At(120+250*i, 3), func(at uint64) (*txs.Tx, error) { return n.mint(uint64(i+1)*5_000, at) })
		n.Network.schedule(store.XChain, n.span.At(140+250*i, 3), func(at uint64) (*txs.Tx, error) { return n.mintNFT(i, at) })
	}
	n.Network.schedule(store.XChain, n.span.At(720, 3), n.mintProperty)
}

func (n *assets) create(thousandth int, role string, of func() *txs.CreateAssetTx) {
	n.Network.schedule(store.XChain, n.span.At(thousandth, 3), func(at uint64) (*txs.Tx, error) {
		unsigned := of()
		if err := txs.SortStates(unsigned.States); err != nil {
			return nil, err
		}
		tx, err := n.wallet.sign(txDraft{chain: store.XChain, from: singleSigner(n.personas.Deployer), fee: n.rules.CreateAssetFee, tx: unsigned}, at)
		if tx != nil {
			n.assetIDs[role] = tx.ID()
		}
		return tx, err
	})
}

// fixed gives many accounts a part of the fixed asset from the start.
func (n *assets) fixed() *txs.CreateAssetTx {
	state := &txs.InitialState{Outs: []txs.Output{&txs.TransferOutput{Amount: 50_000_000, OutputOwners: n.personas.Alice.Owner()}}}
	for i := range 24 {
		state.Outs = append(state.Outs, &txs.TransferOutput{Amount: uint64(1_000_000 + 1_000*i), OutputOwners: n.account(i).Owner()})
	}
	name, symbol := n.named("fixed", "Coin")
	return &txs.CreateAssetTx{Name: name, Symbol: symbol, Denomination: 6, States: []*txs.InitialState{state}}
}

func (n *assets) variable() *txs.CreateAssetTx {
	name, symbol := n.named("variable", "Credit")
	return &txs.CreateAssetTx{Name: name, Symbol: symbol, Denomination: 2, States: []*txs.InitialState{{Outs: []txs.Output{
		&txs.MintOutput{OutputOwners: n.personas.Deployer.Owner()},
		&txs.TransferOutput{Amount: 1_000_000, OutputOwners: n.personas.Bob.Owner()},
	}}}}
}

func (n *assets) collectible() *txs.CreateAssetTx {
	owner := n.personas.Deployer.Owner()
	nfts := &txs.InitialState{FxIndex: 1}
	for group := range uint32(3) {
		nfts.Outs = append(nfts.Outs, &txs.NFTMintOutput{GroupID: group + 1, OutputOwners: owner})
	}
	properties := &txs.InitialState{FxIndex: 2, Outs: []txs.Output{&txs.PropertyMintOutput{OutputOwners: n.personas.Proprietor.Owner()}}}
	name, symbol := n.named("collectible", "Badges")
	return &txs.CreateAssetTx{Name: name, Symbol: symbol, States: []*txs.InitialState{nfts, properties}}
}

// spam gives spammed and others an unsolicited asset.
func (n *assets) spam() *txs.CreateAssetTx {
	state := &txs.InitialState{}
	for _, who := range []*population.Account{n.personas.Spammed, n.personas.Alice, n.account(3), n.account(4)} {
		state.Outs = append(state.Outs, &txs.TransferOutput{Amount: 1_000_000_000, OutputOwners: who.Owner()})
	}
	return &txs.CreateAssetTx{Name: "Visit claim " + population.Surname(n.rng.Faker("asset", n.rules.NetworkID, "spam")) + " example", Symbol: "CLM", States: []*txs.InitialState{state}}
}

func (n *assets) operate(by *population.Account, op *txs.Operation, at uint64) (*txs.Tx, error) {
	minter := singleSigner(by)
	return n.wallet.sign(txDraft{chain: store.XChain, from: minter, auth: [][]*txs.Key{minter.keys},
		tx: &txs.OperationTx{Ops: []*txs.Operation{op}}}, at)
}

// mintOutput returns the i-th of an account's outputs of a kind that an operation consumes, or nil.
func (n *assets) mintOutput(of *population.Account, role string, kind txs.Output, i int) (*txs.UTXO, ids.ID) {
	held := n.wallet.ofAsset(store.XChain, n.assetIDs[role], kind, singleSigner(of))
	if len(held) == 0 {
		return nil, ids.Empty
	}
	return held[i%len(held)], n.assetIDs[role]
}

var firstOwner = txs.Input{SigIndices: []uint32{0}}

func (n *assets) mint(amount, at uint64) (*txs.Tx, error) {
	u, _ := n.mintOutput(n.personas.Deployer, "variable", (*txs.MintOutput)(nil), 0)
	if u == nil {
		return nil, nil
	}
	return n.mintFor(n.personas.Deployer, u, amount*100, n.personas.Alice.Owner(), at)
}

// mintFor mints an amount for owners by an account's right to mint.
func (n *assets) mintFor(by *population.Account, right *txs.UTXO, amount uint64, owners txs.OutputOwners, at uint64) (*txs.Tx, error) {
	return n.operate(by, &txs.Operation{AssetID: right.AssetID, UTXOIDs: []*txs.UTXOID{&right.UTXOID}, Op: &txs.MintOperation{
		MintInput: firstOwner, MintOutput: txs.MintOutput{OutputOwners: *right.Owners()},
		TransferOutput: txs.TransferOutput{Amount: amount, OutputOwners: owners},
	}}, at)
}

// mintNFT mints NFTs for the collector and an account.
func (n *assets) mintNFT(i int, at uint64) (*txs.Tx, error) {
	u, asset := n.mintOutput(n.personas.Deployer, "collectible", (*txs.NFTMintOutput)(nil), i)
	if u == nil {
		return nil, nil
	}
	group, _ := u.Out.(*txs.NFTMintOutput)
	collector, other := n.personas.Collector.Owner(), n.account(i).Owner()
	return n.operate(n.personas.Deployer, &txs.Operation{AssetID: asset, UTXOIDs: []*txs.UTXOID{&u.UTXOID}, Op: &txs.NFTMintOperation{
		MintInput: firstOwner, GroupID: group.GroupID, Payload: badge(i),
		Outputs: []*txs.OutputOwners{&collector, &other},
	}}, at)
}

// badge returns the payload of the i-th NFT: its metadata as a URI that needs no server.
func badge(i int) txs.HexBytes {
	document := fmt.Appendf(nil, `{"name":"Badge %[1]d","description":"For those who reached hut %[1]d."}`, i+1)
	return txs.HexBytes("data:application/json;base64," + base64.StdEncoding.EncodeToString(document))
}

func (n *assets) mintProperty(at uint64) (*txs.Tx, error) {
	u, asset := n.mintOutput(n.personas.Proprietor, "collectible", (*txs.PropertyMintOutput)(nil), 0)
	if u == nil {
		return nil, nil
	}
	return n.operate(n.personas.Proprietor, &txs.Operation{AssetID: asset, UTXOIDs: []*txs.UTXOID{&u.UTXOID}, Op: &txs.PropertyMintOperation{
		MintInput: firstOwner, MintOutput: txs.PropertyMintOutput{OutputOwners: *u.Owners()},
		OwnedOutput: txs.PropertyOwnedOutput{OutputOwners: n.personas.Proprietor.Owner()},
	}}, at)
}

// trade sends part of an account's holding of the fixed or the minted asset.
func (n *assets) trade(who *population.Account, r *rand.Rand, at uint64) (*txs.Tx, error) {
	asset := n.assetIDs[[]string{"fixed", "variable"}[r.IntN(2)]]
	from := singleSigner(who)
	held := n.wallet.ofAsset(store.XChain, asset, (*txs.TransferOutput)(nil), from)
	if len(held) == 0 || held[0].Amount() < 10 {
		return nil, nil
	}
	u, to := held[0], n.account(population.Skewed(r, len(n.accounts))).Owner()
	part := u.Amount() / uint64(population.Between(r, 2, 9))
	return n.wallet.sign(txDraft{chain: store.XChain, from: from, extra: []*txs.UTXO{u}, tx: &txs.BaseTx{}, outs: []*txs.TransferableOutput{
		txs.NewTransferableOutput(asset, part, to), txs.NewTransferableOutput(asset, u.Amount()-part, from.owners),
	}}, at)
}
