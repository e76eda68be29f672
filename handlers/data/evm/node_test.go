package evm_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// TestChainsAreTheirRows compares every member of each chain, in the list and alone.
func TestChainsAreTheirRows(t *testing.T) {
	g := datatest.Open(t, 1)
	list := datatest.Objects(g.Get(t, "/v1/chains")["chains"])
	for i, c := range g.Chains {
		row, node := c.Row, "://example.com/ext/bc/"+ids.ID(c.Row.BlockchainID).String()
		logo := func(name string) string {
			return "http://example.com/sim/logo/" + fixtures.LogoName(name) + ".svg"
		}
		want := datatest.Object{
			"chainId": fmt.Sprint(row.EVMID), "status": "OK", "chainName": row.Name, "description": row.Description, "platformChainId": ids.ID(row.BlockchainID).String(),
			"subnetId": ids.ID(row.SubnetID).String(), "vmId": ids.ID(row.VMID).String(), "vmName": "EVM", "explorerUrl": fmt.Sprint("http://example.com/sim/explorer/", row.EVMID),
			"rpcUrl": "http" + node + "/rpc", "wsUrl": "ws" + node + "/ws", "isTestnet": row.Network != "mainnet", "private": false,
			"utilityAddresses": datatest.Object{"multicall": "0xcA11bde05977b3631167028862bE2a173976CA11"}, "enabledFeatures": []string{"nftIndexing", "webhooks", "teleporter"},
			"networkToken": datatest.Object{"name": row.TokenName, "symbol": row.TokenSymbol, "decimals": 18, "logoUri": logo(row.TokenSymbol),
				"description": "The token that pays for gas on " + row.Name + "."},
			"chainLogoUri": logo(row.Name),
		}
		for _, have := range []datatest.Object{list[i], g.Get(t, strings.TrimSuffix(datatest.Path(c), "/"))} {
			if datatest.Encode(have) != datatest.Encode(want) {
				t.Errorf("chain\n%s\nwant\n%s", datatest.Encode(have), datatest.Encode(want))
			}
		}
	}
}

// TestBlocksAreTheHeaders compares every member of every block, in both lists and alone, with the header and the transactions.
func TestBlocksAreTheHeaders(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		all, transactions := map[string]datatest.Object{}, 0
		fees := map[common.Hash]*big.Int{}
		for _, tx := range s.txs {
			cost := new(big.Int).Mul(price(tx), new(big.Int).SetUint64(tx.Row.GasUsed))
			if fees[tx.Block.Hash] == nil {
				fees[tx.Block.Hash] = new(big.Int)
			}
			fees[tx.Block.Hash].Add(fees[tx.Block.Hash], cost)
		}
		for _, b := range s.blocks {
			h := b.Header
			used, count := b.Row.GasUsed, 0
			for _, tx := range s.txs {
				if tx.Block.Hash == b.Hash {
					count++
				}
			}
			transactions += count
			spent := fees[b.Hash]
			if spent == nil {
				spent = new(big.Int)
			}
			all[b.Hash.Hex()] = datatest.Object{"chainId": fmt.Sprint(c.Row.EVMID), "blockNumber": h.Number.String(), "blockTimestamp": h.Time, "blockTimestampMilliseconds": h.TimeMilliseconds,
				"blockMinDelayExcess": h.MinDelayExcess, "blockHash": b.Hash.Hex(), "txCount": count, "baseFee": h.BaseFee.String(), "gasUsed": fmt.Sprint(used),
				"gasLimit": fmt.Sprint(h.GasLimit), "gasCost": h.BlockGasCost.String(), "parentHash": h.ParentHash.Hex(), "feesSpent": spent.String(), "cumulativeTransactions": fmt.Sprint(transactions)}
		}
		list := g.Pages(t, datatest.Path(c, "blocks"), "blocks", 40)
		everywhere := g.Pages(t, "/v1/blocks?network="+c.Row.Network, "blocks", 100)
		everywhere = slices.DeleteFunc(everywhere, func(o datatest.Object) bool { return o["chainId"] != fmt.Sprint(c.Row.EVMID) })
		for _, have := range slices.Concat(list, everywhere) {
			if want := all[have["blockHash"].(string)]; datatest.Encode(have) != datatest.Encode(want) {
				t.Fatalf("block\n%s\nwant\n%s", datatest.Encode(have), datatest.Encode(want))
			}
		}
		for i := 0; i < len(s.blocks); i += 7 {
			b := s.blocks[i]
			for _, id := range []string{fmt.Sprint(b.Number), b.Hash.Hex()} {
				if have := g.Get(t, datatest.Path(c, "blocks", id)); datatest.Encode(have) != datatest.Encode(all[b.Hash.Hex()]) {
					t.Errorf("block %s is %s", id, datatest.Encode(have))
				}
			}
		}
		if len(list) != len(s.blocks) || len(everywhere) != len(s.blocks) {
			t.Errorf("%d and %d blocks: want %d", len(list), len(everywhere), len(s.blocks))
		}
	})
}

// price returns what a transaction paid for its gas (EIP-1559).
func price(tx *reader.Transaction) *big.Int {
	base := tx.Block.Results.BaseFee
	sum := new(big.Int).Add(base, tx.GasTipCap())
	if sum.Cmp(tx.GasFeeCap()) > 0 {
		return tx.GasFeeCap()
	}
	return sum
}

// names returns what references to a chain's addresses show: names of contracts, and the tokens' own.
func names(t *testing.T, g *datatest.Globe, c *reader.Chain) func(common.Address) datatest.Object {
	t.Helper()
	rows, err := g.DB.Contracts(t.Context(), c.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	markets, err := query.ReadMarkets(t.Context(), g.DB, c.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	all := map[common.Address]datatest.Object{}
	for _, row := range rows {
		all[common.BytesToAddress(row.Address)] = datatest.Object{"name": row.Artifact}
	}
	for standard := store.ERC20; standard <= store.ERC1155; standard++ {
		tokens, err := g.DB.Tokens(t.Context(), c.Row.ID, standard, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range tokens {
			address := common.BytesToAddress(token.Address)
			o := datatest.Object{}
			if token.Name != "" {
				o["name"] = token.Name
			}
			if token.Symbol != "" {
				o["symbol"] = token.Symbol
			}
			if standard == store.ERC20 {
				o["decimals"] = token.Decimals
			}
			if markets.Tokens[address].Reputation != "Malicious" {
				o["logoUri"] = true // the address is compared elsewhere
			}
			all[address] = o
		}
	}
	return func(a common.Address) datatest.Object {
		o := datatest.Object{"address": a.Hex()}
		for name, value := range all[a] {
			o[name] = value
		}
		return o
	}
}

// unlink replaces logos by whether there is one.
func unlink(o any) any {
	if of, ok := o.(datatest.Object); ok && of["logoUri"] != nil {
		of["logoUri"] = true
	}
	return o
}

// TestTransactionsAreTheNodes compares every member of every transaction, in the list and alone, with the node's transaction, receipt and block.
func TestTransactionsAreTheNodes(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		known, now := names(t, g, c), g.Clock.Unix()
		list := g.Pages(t, datatest.Path(c, "transactions"), "transactions", 50)
		slices.Reverse(list)
		moves := transfersIn(t, s.txs)
		for i, tx := range s.txs {
			h := tx.Block.Header
			method := datatest.Object{"callType": "CONTRACT_CALL", "methodHash": ""}
			switch data := tx.Data(); {
			case tx.To() == nil:
				method["callType"], method["methodName"] = "CONTRACT_CREATION", "Contract Created"
			case len(data) < 4:
				method["callType"], method["methodName"] = "NATIVE_TRANSFER", "Native Transfer"
			default:
				method["methodHash"] = hexutil.Encode(data[:4])
				if name, ok := contracts.MethodName([4]byte(data[:4])); ok {
					method["methodName"] = name
				}
			}
			want := datatest.Object{"blockNumber": h.Number.String(), "blockTimestamp": h.Time, "blockTimestampMilliseconds": h.TimeMilliseconds, "blockMinDelayExcess": h.MinDelayExcess,
				"blockHash": tx.Block.Hash.Hex(), "chainId": fmt.Sprint(c.Row.EVMID), "blockIndex": tx.Index(), "txHash": tx.Hash().Hex(), "txStatus": fmt.Sprint(tx.Row.Status),
				"txType": tx.Type(), "gasLimit": fmt.Sprint(tx.Gas()), "gasUsed": fmt.Sprint(tx.Row.GasUsed), "gasPrice": price(tx).String(), "nonce": fmt.Sprint(tx.Nonce()),
				"from": known(tx.Sender), "to": known(target(tx)), "method": method, "value": tx.Value().String()}
			have := list[i]
			unlink(have["from"])
			unlink(have["to"])
			if datatest.Encode(have) != datatest.Encode(want) {
				t.Fatalf("transaction\n%s\nwant\n%s", datatest.Encode(have), datatest.Encode(want))
			}
			if i%5 > 0 && len(tx.Logs) == 0 {
				continue
			}
			whole := g.Get(t, datatest.Path(c, "transactions", tx.Hash().Hex()+"?currency=chf"))
			want["input"], want["baseFeePerGas"] = hexutil.Encode(tx.Data()), h.BaseFee.String()
			want["maxFeePerGas"], want["maxPriorityFeePerGas"] = want["gasPrice"], want["gasPrice"]
			if tx.Type() == 2 {
				want["maxFeePerGas"], want["maxPriorityFeePerGas"] = tx.GasFeeCap().String(), tx.GasTipCap().String()
			}
			native := whole["nativeTransaction"].(datatest.Object)
			unlink(native["from"])
			unlink(native["to"])
			if datatest.Encode(native) != datatest.Encode(want) {
				t.Fatalf("alone, the transaction is\n%s\nwant\n%s", datatest.Encode(native), datatest.Encode(want))
			}
			details := datatest.Object{"currentPrice": g.Price(t, c.Row.ID, common.Address{}, "chf", now)}
			if int64(h.Time) < now-24*60*60 {
				details["historicalPrice"] = g.Price(t, c.Row.ID, common.Address{}, "chf", int64(h.Time))
			}
			for name, value := range details {
				if datatest.Encode(datatest.Dig(whole, "networkTokenDetails", name)) != datatest.Encode(value) {
					t.Errorf("%s of %s is %v: want %v", name, tx.Hash(), datatest.Dig(whole, "networkTokenDetails", name), value)
				}
			}
			if datatest.Dig(whole, "networkTokenDetails", "historicalPrice") != nil && details["historicalPrice"] == nil {
				t.Errorf("%s, of today, has a historical price", tx.Hash())
			}
			sameMoves(t, tx, whole, moves)
		}
	})
}

// sameMoves compares the transfers that a transaction shows with its logs.
func sameMoves(t *testing.T, tx *reader.Transaction, whole datatest.Object, moves []moved) {
	t.Helper()
	for standard, list := range map[string]string{"ERC-20": "erc20Transfers", "ERC-721": "erc721Transfers", "ERC-1155": "erc1155Transfers"} {
		var have, want []string
		for _, o := range datatest.Objects(whole[list]) {
			o["txHash"] = tx.Hash().Hex()
			have = append(have, seen(o).String())
		}
		for _, m := range moves {
			if m.tx == tx.Hash() && m.standard == standard {
				want = append(want, m.String())
			}
		}
		datatest.Same(t, list+" of "+tx.Hash().Hex(), have, want)
	}
}

// TestItemsAreWhatTheContractsAndTheirDocumentsSay asks the collections for the owner and the URI of each item, and compares its metadata with the
// document in the URI.
func TestItemsAreWhatTheContractsAndTheirDocumentsSay(t *testing.T) {
	text, err := abi.NewType("string", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	g := datatest.Open(t, 1)
	indexed := map[string]int{}
	for _, c := range g.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []string{"collection", "items", "launched-collection", "launched-items", "spam-collection"} {
			contract := common.HexToAddress(g.Contract(t, c, role))
			for _, item := range g.Pages(t, datatest.Path(c, "nfts/collections", contract.Hex(), "tokens"), "tokens", 30) {
				id, _ := new(big.Int).SetString(item["tokenId"].(string), 10)
				uri, method := "", "tokenURI(uint256)"
				if item["ercType"] == "ERC-1155" {
					method = "uri(uint256)"
				}
				if raw := call(t, c, head, contract, method, id.Bytes()); raw != nil {
					values, err := abi.Arguments{{Type: text}}.Unpack(raw)
					if err != nil {
						t.Fatal(err)
					}
					uri = strings.ReplaceAll(values[0].(string), "{id}", hex.EncodeToString(common.LeftPadBytes(id.Bytes(), 32)))
				}
				if status := datatest.Dig(item, "metadata", "indexStatus"); status != "missing_token" && item["tokenUri"] != uri {
					t.Errorf("the URI of %s %s is %v: want %s", role, id, item["tokenUri"], uri)
				} else if status == "indexed" {
					indexed[role]++
					sameDocument(t, g, c, contract, item, uri)
				}
				alone := g.Get(t, datatest.Path(c, "nfts/collections", contract.Hex(), "tokens", id.String()))
				if datatest.Encode(alone) != datatest.Encode(item) {
					t.Errorf("alone, the item is %s: want %s", datatest.Encode(alone), datatest.Encode(item))
				}
			}
		}
	}
	if len(indexed) != 5 {
		t.Errorf("items with metadata: %v", indexed)
	}
}

// sameDocument compares an item's metadata with the document in its URI.
func sameDocument(t *testing.T, g *datatest.Globe, c *reader.Chain, contract common.Address, item datatest.Object, uri string) {
	t.Helper()
	kind, content, _ := strings.Cut(uri, ",")
	raw := []byte(content)
	if strings.HasSuffix(kind, ";base64") {
		var err error
		if raw, err = base64.StdEncoding.DecodeString(content); err != nil {
			t.Fatal(err)
		}
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatalf("%v in %s", err, uri)
	}
	metadata := datatest.Dig(item, "metadata").(datatest.Object)
	for member, name := range map[string]string{"name": "name", "description": "description", "imageUri": "image", "animationUri": "animation_url", "externalUrl": "external_url",
		"background": "background_color"} {
		var want string
		if document[name] != nil {
			if err := json.Unmarshal(document[name], &want); err != nil {
				t.Fatal(err)
			}
		}
		if have, _ := metadata[member].(string); have != want {
			t.Errorf("%s of %v is %q: want %q", member, item["tokenId"], have, want)
		}
	}
	for member, name := range map[string]string{"attributes": "attributes", "properties": "properties"} {
		if have, shown := metadata[member].(string); shown && have != string(document[name]) {
			t.Errorf("%s of %v is %s: want %s", member, item["tokenId"], have, document[name])
		} else if !shown && document[name] != nil && (member == "attributes") == (item["ercType"] == "ERC-721") {
			t.Errorf("%v does not show its %s", item["tokenId"], member)
		}
	}
	if symbol, _ := metadata["symbol"].(string); symbol == "" || metadata["metadataLastUpdatedTimestamp"] == nil {
		t.Errorf("metadata is %v", metadata)
	}
	token := call(t, c, headOf(t, c), contract, "symbol()")
	if len(token) > 64 && !strings.Contains(string(token), metadata["symbol"].(string)) {
		t.Errorf("symbol is %v", metadata["symbol"])
	}
}

func headOf(t *testing.T, c *reader.Chain) *reader.Block {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// TestNewOwnersAreInOldTransactions: a transaction that moved an item shows who owns it now, also when it was shown before.
func TestNewOwnersAreInOldTransactions(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 7))
	c := g.Chains[0]
	collection, err := contracts.Load("Collection")
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.NewSender(t, g, c)
	alice, friend := common.HexToAddress(g.Persona(t, "alice")), common.HexToAddress("0x00000000000000000000000000000000000F71e9")
	contract := common.HexToAddress(g.Contract(t, c, "collection"))
	mine := g.Pages(t, datatest.Path(c, "addresses", alice.Hex(), "balances:listErc721?contractAddress="+contract.Hex()), "erc721TokenBalances", 50)
	if len(mine) == 0 {
		t.Fatal("alice has no item")
	}
	id, _ := new(big.Int).SetString(mine[0]["tokenId"].(string), 10)
	var path string
	for _, m := range g.Pages(t, datatest.Path(c, "addresses", alice.Hex(), "transactions:listErc721"), "transactions", 50) {
		if datatest.Dig(m, "erc721Token", "tokenId") == id.String() && datatest.Dig(m, "erc721Token", "address") == contract.Hex() {
			path = datatest.Path(c, "transactions", m["txHash"].(string))
		}
	}
	owner := func() (owner any) {
		for _, m := range datatest.Objects(g.Get(t, path)["erc721Transfers"]) {
			if datatest.Dig(m, "erc721Token", "tokenId") == id.String() {
				owner = datatest.Dig(m, "erc721Token", "ownerAddress")
			}
		}
		return owner
	}
	if have := owner(); have != alice.Hex() {
		t.Errorf("item %s belongs to %v: want alice", id, have)
	}
	data, err := collection.ABI.Pack("transferFrom", alice, friend, id)
	if err != nil {
		t.Fatal(err)
	}
	s.Send(&contract, nil, data)
	if have := owner(); have != friend.Hex() {
		t.Errorf("item %s belongs to %v: want its new owner", id, have)
	}
}
