package primary_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// began is when the live service says that the primary network began.
const began = 1599696000

// TestBlockchainsAreTheTransactionsThatMadeThem compares every blockchain with its CreateChainTx, and the primary network's own with what the live
// service says of them.
func TestBlockchainsAreTheTransactionsThatMadeThem(t *testing.T) {
	g := datatest.Open(t, 1)
	elsewhere := 0
	for _, network := range datatest.Networks {
		l, base := readRows(t, g.Network(t, network)), "/v1/networks/"+network+"/blockchains/"
		evm := map[string]uint64{}
		for _, c := range g.Chains {
			evm[ids.ID(c.Row.BlockchainID).String()] = c.Row.EVMID
		}
		for alias, vm := range map[string]string{"p-chain": "platformvm", "x-chain": "avm", "c-chain": "mgj786NP7uDwBCcq6YwThhaN8FLyybkCa4zBWTQbNgmK6k9A6"} {
			kind := map[string]txs.Chain{"p-chain": txs.PChain, "x-chain": txs.XChain, "c-chain": txs.CChain}[alias]
			id := l.Rules.BlockchainID(kind).String()
			want := datatest.Object{"blockchainId": id, "vmId": vm, "blockchainName": kind.String() + "-Chain", "subnetId": ids.Empty.String(),
				"createBlockTimestamp": began, "createBlockNumber": "-1"}
			if alias == "c-chain" {
				want["evmChainId"] = map[string]int{"mainnet": 43114, "fuji": 43113}[network]
			}
			have := g.Get(t, base+alias)
			delete(have, "genesisData")
			if datatest.Encode(have) != datatest.Encode(want) {
				t.Errorf("%s is %s: want %s", alias, datatest.Encode(have), datatest.Encode(want))
			}
		}
		made := 0
		for id, p := range l.txs {
			u, ok := p.Unsigned.(*txs.CreateChainTx)
			if !ok {
				continue
			}
			made++
			want := datatest.Object{"blockchainId": id.String(), "vmId": u.VMID.String(), "blockchainName": u.ChainName, "subnetId": u.SubnetID.String(),
				"createBlockTimestamp": p.time, "createBlockNumber": fmt.Sprint(p.row.ID.Number())}
			if number := evm[id.String()]; number > 0 {
				want["evmChainId"] = number
				if byNumber := g.Get(t, fmt.Sprint(base, number)); byNumber["blockchainId"] != id.String() {
					t.Errorf("chain %d is %v", number, byNumber["blockchainId"])
				}
			}
			var genesis any
			if json.Unmarshal(u.GenesisData, &genesis) == nil {
				want["genesisData"] = liveGenesis(u.GenesisData)
			} else {
				want["genesisData"] = datatest.Object{"encoding": "hex", "data": hexutil.Encode(u.GenesisData)}
			}
			have := g.Get(t, base+id.String())
			if evm[id.String()] == 0 {
				elsewhere++
			} else { // the chain's own, which a node reads
				want["genesisData"] = have["genesisData"]
			}
			if datatest.Encode(have) != datatest.Encode(want) {
				t.Errorf("blockchain %s\nwant %s", datatest.Encode(have), datatest.Encode(want))
			}
		}
		if all := g.Pages(t, "/v1/networks/"+network+"/blockchains", "blockchains", 2); len(all) != made+3 || made == 0 {
			t.Errorf("%s has %d blockchains: want %d and the primary network's", network, len(all), made)
		}
		g.Ask(t, base+"99", 404)
	}
	if elsewhere == 0 {
		t.Error("the world simulates every blockchain")
	}
}

// TestSubnetsAreTheTransactionsThatMadeThem compares every subnet with its CreateSubnetTx, the transactions that changed it, and the list of
// blockchains.
func TestSubnetsAreTheTransactionsThatMadeThem(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		l, base := readRows(t, g.Network(t, network)), "/v1/networks/"+network
		chains := map[any][]any{}
		for _, c := range g.Pages(t, base+"/blockchains", "blockchains", 100) {
			chains[c["subnetId"]] = append(chains[c["subnetId"]], c)
		}
		describe := func(id ids.ID, index string, time int64, owner *txs.OutputOwners) datatest.Object {
			o := datatest.Object{"subnetId": id.String(), "createBlockIndex": index, "createBlockTimestamp": time, "ownerAddresses": l.bech32s(owner.Addresses),
				"threshold": owner.Threshold, "locktime": owner.Locktime, "isL1": false, "blockchains": chains[id.String()],
				"subnetOwnershipInfo": datatest.Object{"addresses": l.bech32s(owner.Addresses), "threshold": owner.Threshold, "locktime": owner.Locktime}}
			if chains[id.String()] == nil {
				o["blockchains"] = []any{}
			}
			return o
		}
		want := map[string]datatest.Object{ids.Empty.String(): describe(ids.Empty, "-1", began, &txs.OutputOwners{})}
		last := map[string]store.Position{}
		for id, p := range l.txs {
			if u, ok := p.Unsigned.(*txs.CreateSubnetTx); ok {
				owner := u.Owner.(*txs.OutputOwners)
				for _, later := range l.txs {
					if given, ok := later.Unsigned.(*txs.TransferSubnetOwnershipTx); ok && given.SubnetID == id && later.row.ID > last[id.String()] {
						owner, last[id.String()] = given.Owner.(*txs.OutputOwners), later.row.ID
					}
				}
				want[id.String()] = describe(id, fmt.Sprint(p.row.ID.Number()), p.time, owner)
			}
		}
		l1s := 0
		for id, p := range l.txs {
			if u, ok := p.Unsigned.(*txs.ConvertSubnetToL1Tx); ok {
				o := want[u.SubnetID.String()]
				o["isL1"], o["l1ConversionTransactionHash"] = true, id.String()
				o["l1ValidatorManagerDetails"] = datatest.Object{"blockchainId": u.ChainID.String(), "contractAddress": common.BytesToAddress(u.Address).Hex()}
				l1s++
			}
		}
		list := g.Pages(t, base+"/subnets", "subnets", 2)
		for _, have := range list {
			if id := have["subnetId"].(string); datatest.Encode(have) != datatest.Encode(want[id]) {
				t.Errorf("subnet %s\nwant %s", datatest.Encode(have), datatest.Encode(want[id]))
			}
		}
		if len(list) != len(want) || l1s == 0 || len(last) == 0 {
			t.Errorf("%s has %d subnets: want %d, of which %d are L1s and %d have a new owner", network, len(list), len(want), l1s, len(last))
		}
	}
}
