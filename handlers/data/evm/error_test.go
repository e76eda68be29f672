package evm_test

import (
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
)

const (
	absent  = "0x00000000000000000000000000000000000a11ce"
	unknown = "0x1111111111111111111111111111111111111111111111111111111111111111"
)

func TestErrorsSayWhatIsWrong(t *testing.T) {
	g := datatest.Open(t, 1)
	alice := g.Persona(t, "alice")
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"/v1/chains/99", 404, "EVM chain 99 does not exist: GET /v1/chains lists all chains"},
		{"/v1/chains/99/blocks", 404, "chain 99"},
		{"/v1/chains/99/addresses/" + alice + "/transactions:listNative", 404, "chain 99"},
		{"/v1/chains/11111111111111111111111111111111LpoYY", 404, "does not exist"},
		{"/v1/chains/2oYMBNV4eNHyqk2fjjV5nVQLDbtmNJzq5s3qs3Lo6ftnC6FByM", 404, "does not exist"},
		{"/v1/chains/C", 400, "chainId"},
		{"/v1/chains/0", 400, "chainId"},
		{"/v1/chains?network=devnet", 400, "network"},
		{"/v1/chains?feature=magic", 400, "nftIndexing"},
		{"/v1/chains/43114/blocks/4000000000", 404, "block 4000000000 does not exist"},
		{"/v1/chains/43114/blocks/99999999999999", 404, "block 99999999999999 does not exist"},
		{"/v1/chains/43114/blocks/" + unknown, 404, "does not exist"},
		{"/v1/chains/43114/blocks/-1", 400, "blockId"},
		{"/v1/chains/43114/blocks/0x12", 400, "blockId"},
		{"/v1/chains/43114/blocks?pageSize=0", 400, "from 1 to 100"},
		{"/v1/chains/43114/blocks?pageSize=101", 400, "from 1 to 100"},
		{"/v1/chains/43114/blocks?pageToken=nonsense", 400, "pageToken"},
		{"/v1/chains/43114/transactions?status=ok", 400, "failed, success"},
		{"/v1/chains/43114/transactions/" + unknown, 404, "does not exist"},
		{"/v1/chains/43114/transactions/0xzz", 400, "txHash"},
		{"/v1/chains/43114/addresses/0x12/transactions:listNative", 400, "address"},
		{"/v1/chains/43114/addresses/" + alice + "/transactions:listNative?startBlock=-1", 400, "startBlock"},
		{"/v1/chains/43114/addresses/" + alice + "/transactions:listNative?startBlock=1&startBlock=2", 400, "2 times"},
		{"/v1/chains/43114/addresses/" + alice + "/transactions:listNative?endBlock=99999999999999999999", 400, "endBlock"},
		{"/v1/chains/43114/addresses/" + alice + "/transactions?sortOrder=up", 400, "asc, desc"},
		{"/v1/chains/43114/addresses/" + alice, 404, "no contract"},
		{"/v1/chains/43114/addresses/" + absent, 404, "no contract"},
		{"/v1/chains/43114/contracts/" + alice + "/transactions:getDeployment", 404, "no contract"},
		{"/v1/chains/43114/contracts/0xcA11bde05977b3631167028862bE2a173976CA11/transactions:getDeployment", 404, "genesis"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20?pageSize=501", 400, "from 1 to 500"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20?currency=btc", 400, "usd"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20?filterSpamTokens=maybe", 400, "true or false"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20?contractAddresses=0x12", 400, "contractAddresses"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20?contractAddresses=" + alice + strings.Repeat(","+alice, 64), 400, "contractAddresses has 65 items: expected at most 64"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:listErc20?blockNumber=latest", 400, "blockNumber"},
		{"/v1/chains/43114/addresses/" + alice + "/balances:getNative?blockNumber=5000000", 404, "block 5000000"},
		{"/v1/chains/43114/nfts/collections/" + alice + "/tokens", 404, "no ERC-721"},
		{"/v1/chains/43114/nfts/collections/" + g.Contract(t, g.Chains[0], "usdx") + "/tokens", 404, "no ERC-721"},
		{"/v1/chains/43114/nfts/collections/" + g.Contract(t, g.Chains[0], "collection") + "/tokens/777777", 404, "token 777777"},
		{"/v1/chains/43114/tokens/" + alice + "/transfers", 404, "no token"},
		{"/v1/address/" + alice[:10] + "/chains", 400, "address"},
		{"/v1/chains/43114/addresses/" + alice + "/transactions:listNativ", 404, "listNative"},
		{"/sim/metadata/crystals/x.json", 404, "no metadata"},
		{"/sim/metadata/throttled/9.json", 429, "throttled"},
		{"/sim/logo/x.svg", 404, "no logo"},
	} {
		answer := g.Ask(t, c.path, c.status)
		if message := datatest.Encode(answer["message"]); !strings.Contains(message, c.says) {
			t.Errorf("GET %s says %s: want %q in it", c.path, message, c.says)
		}
		if answer["error"] != http.StatusText(c.status) {
			t.Errorf("GET %s: error is %v", c.path, answer["error"])
		}
	}
}

func TestTokensOfOtherQueriesAreRefused(t *testing.T) {
	g := datatest.Open(t, 1)
	token := g.Get(t, "/v1/chains/43114/blocks?pageSize=2")["nextPageToken"].(string)
	for _, path := range []string{"/v1/chains/43113/blocks", "/v1/chains/43114/transactions", "/v1/blocks"} {
		if says := datatest.Encode(g.Ask(t, path+"?pageToken="+token, 400)["message"]); !strings.Contains(says, "another query") {
			t.Errorf("%s says %s", path, says)
		}
	}
}
