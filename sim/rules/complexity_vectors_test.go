package rules

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// Avalanchego's fee.TxComplexity gives these complexities to transactions of all types, or refuses them in these words. Wallets compute the fee
// by the same table, so a byte too many makes their transactions fail. testdata/avalanchego/record wrote them.
func TestComplexitiesAsAvalanchegoCalculatesThem(t *testing.T) {
	f, err := os.Open("testdata/complexities.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Tx   string
		Want [4]uint64
		Err  string
	}
	if err := json.NewDecoder(unpacked).Decode(&all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, v := range all {
		raw, err := hex.DecodeString(v.Tx)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := txs.ParseTx(txs.PChain, raw)
		if err != nil {
			t.Fatalf("%s: %v", v.Tx, err)
		}
		seen[fmt.Sprintf("%T", tx.Unsigned)]++
		got, err := ComplexityOf(tx.Unsigned)
		want := Complexity{v.Want[0], v.Want[1], v.Want[2], v.Want[3]}
		switch {
		case v.Err != "" && (err == nil || err.Error() != v.Err):
			t.Errorf("%T is refused with %v, want %s", tx.Unsigned, err, v.Err)
		case v.Err == "" && (err != nil || got != want):
			t.Errorf("%T %s has %+v, %v; want %+v", tx.Unsigned, v.Tx, got, err, want)
		}
	}
	if len(seen) != 23 {
		t.Errorf("%d types were tried: %v", len(seen), seen)
	}
}

// A message that nobody can read has no complexity, so the transaction around it no fee.
func TestUnreadableMessagesHaveNoComplexity(t *testing.T) {
	for _, unsigned := range []txs.Unsigned{&txs.RegisterL1ValidatorTx{Message: []byte{1, 2, 3}}, &txs.SetL1ValidatorWeightTx{}} {
		if c, err := ComplexityOf(unsigned); err == nil {
			t.Errorf("%T: %+v", unsigned, c)
		}
	}
}

// TestParametersOfTheNetworks uses the numbers of avalanchego's genesis.MainnetParams and FujiParams, and the ids of the chains and of AVAX that
// explorers show.
func TestParametersOfTheNetworks(t *testing.T) {
	if Percent != 10_000 {
		t.Errorf("a percent is %d of a million", Percent)
	}
	shared := FeeConfig{
		Weights: Complexity{Bandwidth: 1, Reads: 1000, Writes: 1000, Compute: 4}, MaxCapacity: 1_000_000, MaxPerSecond: 100_000, TargetPerSecond: 50_000, MinPrice: 1,
		ExcessConversion: 2_164_043,
	}
	for i, c := range []struct {
		network               *Network
		name, hrp, x, c, avax string
		id                    uint32
		validator, delegator  uint64 // nAVAX
		conversion            uint64
		address, bech32       string
	}{
		{
			Mainnet, "mainnet", "avax", "2oYMBNV4eNHyqk2fjjV5nVQLDbtmNJzq5s3qs3Lo6ftnC6FByM", "2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5",
			"FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z", 1, 2_000_000_000_000, 25_000_000_000, 1_246_488_515,
			"X-avax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqxpdk7q", "avax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqxpdk7q",
		},
		{
			Fuji, "fuji", "fuji", "2JVSBoinj9C2J33VntvzYtVJNZdN2NKiwwKjcumHUWEb5DbBrm", "yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp",
			"U8iRqJoiJm8xZHAacmvYyZVwqQx6uDNtQeP3CQ6fcgQk3JqnK", 5, 1_000_000_000, 1_000_000_000, 51_937_021,
			"X-fuji1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq2nffjl", "fuji1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq2nffjl",
		},
	} {
		n := c.network
		if n.Name != c.name || n.HRP != c.hrp || n.NetworkID != c.id || Index(c.id) != i {
			t.Errorf("network %d is %s with %s addresses, at %d", n.NetworkID, n.Name, n.HRP, Index(c.id))
		}
		if n.XChainID.String() != c.x || n.CChainID.String() != c.c || n.AVAXAssetID.String() != c.avax {
			t.Errorf("%s: X-Chain %s, C-Chain %s, AVAX %s", n.Name, n.XChainID, n.CChainID, n.AVAXAssetID)
		}
		for chain, id := range map[txs.Chain]ids.ID{txs.PChain: ids.Empty, txs.XChain: n.XChainID, txs.CChain: n.CChainID} {
			if found, ok := n.ChainOf(id); n.BlockchainID(chain) != id || !ok || found != chain {
				t.Errorf("%s: the %s-Chain is %s, which is the %s-Chain", n.Name, chain, n.BlockchainID(chain), found)
			}
		}
		if found, ok := n.ChainOf(n.AVAXAssetID); ok {
			t.Errorf("%s: the asset is the %s-Chain", n.Name, found)
		}
		if n.TxFee != 1_000_000 || n.CreateAssetFee != 10_000_000 || n.Fees != shared {
			t.Errorf("%s: fees of %d, %d and %+v", n.Name, n.TxFee, n.CreateAssetFee, n.Fees)
		}
		if n.ValidatorFees != (ValidatorFeeConfig{Capacity: 20_000, Target: 10_000, MinPrice: 512, ExcessConversion: c.conversion}) {
			t.Errorf("%s: fees of validators %+v", n.Name, n.ValidatorFees)
		}
		s := n.BaseStaking
		if s.MinValidatorStake != c.validator || s.MinDelegatorStake != c.delegator || s.MaxValidatorStake != 3_000_000_000_000_000 || s.MinDelegationFee != 20_000 || s.MaxStakeDuration != 31_536_000 {
			t.Errorf("%s: stakes %+v", n.Name, s)
		}
		if got := n.Address(txs.XChain, ids.ShortEmpty); got != c.address {
			t.Errorf("%s: %s", n.Name, got)
		}
		if got := n.Bech32(ids.ShortEmpty); got != c.bech32 {
			t.Errorf("%s: %s", n.Name, got)
		}
	}
	if Index(12345) != -1 {
		t.Errorf("network 12345 is at %d", Index(12345))
	}
	if _, err := Load(12345, "{}"); err == nil || err.Error() != "network 12345 is not simulated" {
		t.Errorf("network 12345: %v", err)
	}
}
