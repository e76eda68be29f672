package control

import (
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/control/describe"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// TestPersonaHasOneKeyOnEveryChain compares with the addresses of the well-known key ewoq.
func TestPersonaHasOneKeyOnEveryChain(t *testing.T) {
	key := common.FromHex("0x56289e99c94b6912bfc12adc093c9b51124f0dc54ac7a766b2bc5ccf558d8027")
	private, err := crypto.ToECDSA(key)
	if err != nil {
		t.Fatal(err)
	}
	address := crypto.PubkeyToAddress(private.PublicKey)
	got, err := persona(&store.Persona{Name: "ewoq", Key: key, Address: address[:]})
	if err != nil {
		t.Fatal(err)
	}
	const evm = "0x8db97C7cEcE249c2b98bDC0226Cc4C2A57BF52FC"
	if got.Address != evm || got.ChainAddresses["fuji"]["C"] != evm {
		t.Errorf("EVM address is %s, %v", got.Address, got.ChainAddresses)
	}
	for network, want := range map[string]string{
		"mainnet": "avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5", "fuji": "fuji18jma8ppw3nhx5r4ap8clazz0dps7rv5u6wmu4t",
	} {
		if got.Addresses[network] != want || got.ChainAddresses[network]["P"] != "P-"+want || got.ChainAddresses[network]["X"] != "X-"+want {
			t.Errorf("on %s the addresses are %s, %v", network, got.Addresses[network], got.ChainAddresses[network])
		}
	}
	if _, err := persona(&store.Persona{Key: []byte{1}}); err == nil {
		t.Error("a key of one byte is accepted")
	}
}

func TestNetworksHaveTheirIdsAndAliases(t *testing.T) {
	subnet := ids.GenerateTestID()
	described := []describe.Network{{Rules: rules.Mainnet, PHeight: 7, Samples: map[string][]byte{"P CreateSubnetTx": subnet[:]}}, {Rules: rules.Fuji}}
	got := networks(described, 1_785_250_800, func(string) string { return "" })
	if len(got) != 2 || got[0].Name != "mainnet" || got[0].ID != 1 || len(got[0].Aliases) != 0 || got[0].PHeight != 7 {
		t.Fatalf("networks are %+v", got)
	}
	if got[1].Name != "fuji" || got[1].ID != 5 || got[1].Aliases[0] != "testnet" || got[1].HRP != "fuji" {
		t.Errorf("fuji is %+v", got[1])
	}
	if want := (Activation{"helicon", "2026-07-28T15:00:00Z"}); got[0].Upgrade != "granite" || got[1].Upgrade != "helicon" || got[1].Upgrades[1] != want {
		t.Errorf("when fuji's Helicon activates, mainnet has %s, and fuji %s since %v", got[0].Upgrade, got[1].Upgrade, got[1].Upgrades)
	}
	if got[0].Samples["P CreateSubnetTx"] != subnet.String() || idText(nil) != "" {
		t.Errorf("samples are %v", got[0].Samples)
	}
}

func TestDecimalsAreThoseOfFungibleTokensOnly(t *testing.T) {
	if token(nil) != nil {
		t.Error("a contract that is no token has one")
	}
	for standard, decimals := range map[store.Standard]bool{store.ERC20: true, store.ERC721: false, store.ERC1155: false} {
		row := &store.Token{ID: store.NewTokenID(1, standard, 1), Name: "Snow", Symbol: "SNOW", Decimals: 6}
		got := token(row)
		if got.Standard != standard.String() || got.Name != "Snow" || got.Symbol != "SNOW" || (got.Decimals != nil) != decimals {
			t.Errorf("token is %+v", got)
		}
	}
}

// TestProgressTellsRateAndTimeLeft, with a bar on a terminal, elsewhere with a line every ten seconds.
func TestProgressTellsRateAndTimeLeft(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{false, "making: 500 of 1000 blocks, 50 %, 50/s, 10s left\nmaking: 1000 of 1000 blocks, 100 %, 50/s, ready\n"},
		{true, "\r\x1b[K████████████░░░░░░░░░░░░ making: 500 of 1000 blocks, 50 %, 50/s, 10s left\r\x1b[K████████████████████████ making: 1000 of 1000 blocks, 100 %, 50/s, ready\n"},
	} {
		var b strings.Builder
		clock := time.Unix(0, 0)
		p := &progress{w: &b, what: "making", unit: "blocks", terminal: c.terminal, now: func() time.Time { return clock }, begun: clock}
		for _, step := range []struct{ after, done int }{{0, 1}, {10, 500}, {0, 501}, {10, 1000}} {
			clock = clock.Add(time.Duration(step.after) * time.Second)
			p.show(step.done, 1000)
		}
		if b.String() != c.want {
			t.Errorf("it shows %q", b.String())
		}
	}
}

func TestProgressIsSilentWithoutAFile(t *testing.T) {
	var b strings.Builder
	if Progress(&b, "verifying", "blocks") != nil || b.Len() > 0 {
		t.Errorf("progress is shown where there is no file: %q", b.String())
	}
}

func TestVersionNamesTheGenerator(t *testing.T) {
	if v := Version(); !strings.Contains(v, ", generator ") {
		t.Errorf("version is %s", v)
	}
}

func TestTimesAreUTC(t *testing.T) {
	if got := rfc3339(1782864000); got != "2026-07-01T00:00:00Z" {
		t.Errorf("time is %s", got)
	}
}
