package primary_test

import (
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
)

func TestPrimaryErrorsSayWhatIsWrong(t *testing.T) {
	g := datatest.Open(t, 1)
	fuji := g.Network(t, "fuji").Rules.Bech32(ids.ShortID{1})
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"/v1/networks/mainnet/addresses:listChainIds", 400, "addresses is required"},
		{"/v1/networks/mainnet/addresses:listChainIds?addresses=" + fuji, 400, "mainnet"},
		{"/v1/networks/fuji/addresses:listChainIds?addresses=C-" + fuji, 400, "P- or X-Chain"},
		{"/v1/networks/mainnet/blockchains/z-chain/blocks", 400, "p-chain"},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions?addresses=" + fuji, 400, "avax1"},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions?addresses=0x12", 400, "40 hexadecimal digits"},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions?txTypes=importTx", 400, "ImportTx"},
		{"/v1/networks/mainnet/blockchains/x-chain/transactions?l1ValidationId=" + ids.ID{7}.String(), 400, "works only on the p-chain"},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions/0x" + strings.Repeat("0", 64), 400, "cb58"},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions/" + ids.ID{7}.String(), 404, "does not exist on the p-chain of mainnet"},
		{"/v1/networks/mainnet/blockchains/x-chain/transactions:listStaking", 400, "p-chain"},
		{"/v1/networks/mainnet/blockchains/p-chain/assets/" + ids.ID{7}.String() + "/transactions", 400, "x-chain"},
		{"/v1/networks/mainnet/blockchains/x-chain/assets/" + ids.ID{7}.String() + "/transactions", 404, "does not exist"},
		{"/v1/networks/mainnet/blockchains/x-chain/utxos", 400, "addresses is required"},
		{"/v1/networks/mainnet/blockchains/x-chain/utxos?addresses=X-" + fuji, 400, "avax1"},
		{"/v1/networks/mainnet/blockchains/x-chain/utxos?addresses=" + strings.Repeat(g.Network(t, "mainnet").Rules.Bech32(ids.ShortID{1})+",", 64) + "avax1", 400, "addresses"},
		{"/v1/networks/mainnet/blockchains/x-chain/utxos?addresses=0x" + strings.Repeat("1", 40), 400, "bech32"},
		{"/v1/networks/fuji/blockchains/x-chain/utxos?minUtxoAmount=-1&addresses=" + fuji, 400, "minUtxoAmount"},
		{"/v1/networks/fuji/blockchains/x-chain/utxos?sortBy=age&addresses=" + fuji, 400, "timestamp, amount"},
		{"/v1/networks/fuji/blockchains/p-chain/balances", 400, "addresses is required"},
		{"/v1/networks/fuji/blockchains/p-chain/balances?blockTimestamp=-1&addresses=" + fuji, 400, "blockTimestamp"},
		{"/v1/networks/fuji/blockchains/p-chain/lastActivityTimestampByAddresses?addresses=" + fuji, 404, "neither a transaction nor the genesis of the p-chain of fuji involves the addresses"},
		{"/v1/networks/mainnet/blockchains/yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp/blocks", 404, "is not on network mainnet"},
		{"/v1/networks/mainnet/blockchains/p-chain/blocks?startTimestamp=-1", 400, "startTimestamp"},
		{"/v1/networks/mainnet/blockchains/p-chain/transactions/" + ids.Empty.String(), 404, "the genesis, block 0 of the p-chain of mainnet"},
		{"/v1/networks/mainnet/blockchains/x-chain/transactions/" + ids.Empty.String(), 404, "does not exist on the x-chain of mainnet"},
		{"/v1/networks/mainnet/blockchains/p-chain/blocks/99999", 404, "block 99999 does not exist on the p-chain"},
		{"/v1/networks/mainnet/blockchains/c-chain/blocks/99999", 404, "block 99999 does not exist on the c-chain"},
		{"/v1/networks/mainnet/blockchains/x-chain/blocks/latest", 400, "blockId"},
	} {
		if says := datatest.Encode(g.Ask(t, c.path, c.status)["message"]); !strings.Contains(says, c.says) {
			t.Errorf("GET %s says %s: want %q in it", c.path, says, c.says)
		}
	}
}
