package seed

import (
	"crypto/sha256"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/network"
	"snowglobe/sim/primary"
)

// estate is what somebody owns on P and on X when a network begins, in AVAX.
type genesisBalance struct {
	name     string
	platform uint64
	exchange uint64
}

var genesisBalances = []genesisBalance{
	{"alice", 20_000, 20_000},
	{"bob", 4_000, 2_000},
	{"whale", 3_000_000, 2_000_000},
	{"deployer", 400_000, 50_000},
	{"collector", 1_000, 1_000},
	{"clumsy", 1_000, 1_000},
	{"spammed", 500, 500},
	{"ewoq", 1_000_000, 1_000_000},
	{"hoarder", 100, 100},
	{"traveller", 30_000, 30_000},
	{"staker", 600_000, 1_000},
	{"delegator", 100_000, 1_000},
}

// landed is how many of the nameless own something on P and X from the beginning.
const landed = 400

// supplies are how much AVAX there is when history begins.
var supplies = map[uint32]uint64{1: 455_000_000 * nanoAVAX, 5: 380_000_000 * nanoAVAX}

// endow makes the genesis. What nobody owns lies in a treasury without a key.
func (r *primaryNetwork) endow() error {
	p := &primary.PlatformGenesis{Timestamp: r.start, InitialSupply: supplies[r.rules.NetworkID], Message: "Snowglobe", Chains: []*primary.Tx{}}
	x := &primary.ExchangeGenesis{ParentID: ids.ID(sha256.Sum256([]byte("last vertex"))), Timestamp: r.start,
		Assets: []*primary.GenesisAsset{{ID: r.rules.AVAXAssetID, Name: "Avalanche", Symbol: "AVAX", Denomination: 9}}}
	r.genesis = &network.Genesis{Platform: p, Exchange: x}
	for _, e := range genesisBalances {
		r.grant(e.platform, e.exchange, primary.Owner(r.people[e.name].primary.Address()))
	}
	r.grant(0, 120, primary.Owner(r.people["fresh"].primary.Address()))
	r.grant(30_000, 30_000, r.committee().owners)
	r.lockUp()
	g := r.rng.For("estate", r.rules.NetworkID)
	for i := range min(len(r.accounts), landed) {
		rich := uint64(1_000_000 / (i + 4))
		r.grant(rich+uint64(between(g, 900, 9_000)), uint64(between(g, 100, 3_000)), primary.Owner(r.accounts[i].primary.Address()))
	}
	if err := r.settleGenesis(g); err != nil {
		return err
	}
	return r.fillTreasury()
}

// grant gives amounts in AVAX on P and on X. Whole fortunes lie in several outputs.
func (r *primaryNetwork) grant(platform, exchange uint64, owners primary.OutputOwners) {
	const hoard = 500_000
	for ; platform > 0; platform -= min(platform, hoard) {
		r.grantP(&primary.TransferOutput{Amount: min(platform, hoard) * nanoAVAX, OutputOwners: owners})
	}
	for ; exchange > 0; exchange -= min(exchange, hoard) {
		g := r.genesis.Exchange
		g.UTXOs = append(g.UTXOs, &primary.UTXO{
			UTXOID: primary.UTXOID{TxID: r.rules.AVAXAssetID, OutputIndex: uint32(len(g.UTXOs))}, AssetID: r.rules.AVAXAssetID,
			Out: &primary.TransferOutput{Amount: min(exchange, hoard) * nanoAVAX, OutputOwners: owners},
		})
	}
}

func (r *primaryNetwork) grantP(out primary.Output) {
	g := r.genesis.Platform
	g.UTXOs = append(g.UTXOs, &primary.GenesisUTXO{Message: []byte{}, UTXO: primary.UTXO{
		UTXOID: primary.UTXOID{OutputIndex: uint32(len(g.UTXOs))}, AssetID: r.rules.AVAXAssetID, Out: out,
	}})
}

// lockUp gives locked what cannot be spent yet, and what until then can only be staked.
func (r *primaryNetwork) lockUp() {
	address := r.people["locked"].primary.Address()
	r.grant(0, 40, primary.Owner(address))
	r.grant(90, 0, primary.Owner(address))
	for _, days := range []uint64{30, 180, 700} {
		later := primary.NewOwners(r.until+days*day, 1, address)
		r.grant(1_000+days, 500+days, later)
		r.grantP(&primary.StakeableLockOut{Locktime: r.until + days*day,
			Output: &primary.TransferOutput{Amount: (2_500 + days) * nanoAVAX, OutputOwners: primary.Owner(address)}})
	}
}

// committee is any two of its three members.
func (r *primaryNetwork) committee() signer {
	members := []*primary.Key{r.people["committee"].primary, r.people["committee-two"].primary, r.people["committee-three"].primary}
	owners := primary.NewOwners(0, 2, members[0].Address(), members[1].Address(), members[2].Address())
	p := signer{owners: owners, indices: []uint32{0, 2}}
	for _, index := range p.indices {
		for _, key := range members {
			if key.Address() == owners.Addresses[index] {
				p.keys = append(p.keys, key)
			}
		}
	}
	return p
}

// fillTreasury leaves the rest of the supply where nobody has a key.
func (r *primaryNetwork) fillTreasury() error {
	owned := uint64(0)
	for _, u := range r.genesis.Platform.UTXOs {
		owned += u.Amount()
	}
	for _, u := range r.genesis.Exchange.UTXOs {
		owned += u.Amount()
	}
	for _, tx := range r.genesis.Platform.Validators {
		s, err := primary.NewStaker(tx, primary.Active)
		if err != nil {
			return err
		}
		owned += s.Weight
	}
	vault := treasury(uint64(r.rules.NetworkID))
	r.grantP(&primary.TransferOutput{Amount: r.genesis.Platform.InitialSupply - owned, OutputOwners: primary.Owner(ids.ShortID(vault))})
	return nil
}
