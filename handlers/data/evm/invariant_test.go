package evm_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/evm/reader"
)

// Comparisons of the Data API's lists with the chain's node, over whole worlds.

var seeds = []int64{1, 2, datatest.ChangedByClients}

// story is a chain's history according to its node.
type story struct {
	blocks    []*reader.Block
	txs       []*reader.Transaction // with receipts
	addresses []common.Address      // that appear anywhere, in order
	parties   map[common.Address]bool
}

func (s *story) meet(addresses ...common.Address) {
	for _, a := range addresses {
		if !s.parties[a] {
			s.parties[a] = true
			s.addresses = append(s.addresses, a)
		}
	}
}

func tell(t *testing.T, c *reader.Chain) *story {
	t.Helper()
	ctx := context.Background()
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{parties: map[common.Address]bool{}}
	for n := uint64(0); n <= head.Number; n++ {
		b, err := c.Block(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		transactions, err := c.Receipts(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		s.blocks, s.txs = append(s.blocks, b), append(s.txs, transactions...)
	}
	for _, tx := range s.txs {
		s.meet(tx.Sender, target(tx))
		for _, l := range tx.Logs {
			for _, topic := range l.Topics[min(1, len(l.Topics)):] {
				if new(big.Int).SetBytes(topic[:12]).Sign() == 0 {
					s.meet(common.BytesToAddress(topic[12:]))
				}
			}
		}
	}
	return s
}

// target returns the recipient, or the contract that was created.
func target(tx *reader.Transaction) common.Address {
	if to := tx.To(); to != nil {
		return *to
	}
	return common.BytesToAddress(tx.Row.Created)
}

func eachChain(t *testing.T, check func(*testing.T, *datatest.Globe, *reader.Chain, *story)) {
	for _, number := range seeds[:datatest.Times(t, len(seeds))] {
		g := datatest.Open(t, number)
		for _, c := range g.Chains {
			t.Run(fmt.Sprintf("seed %d, chain %d", number, c.Row.EVMID), func(t *testing.T) { check(t, g, c, tell(t, c)) })
		}
	}
}

func TestBlocksAndTransactionsAreTheNodes(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		var hashes, transactions, failed, succeeded []string
		var all int
		for _, b := range s.blocks {
			hashes = append(hashes, b.Hash.Hex())
		}
		for _, tx := range s.txs {
			transactions = append(transactions, tx.Hash().Hex())
			if tx.Row.Status == 1 {
				succeeded = append(succeeded, tx.Hash().Hex())
			} else {
				failed = append(failed, tx.Hash().Hex())
			}
		}
		for _, l := range [][]string{hashes, transactions, failed, succeeded} {
			slices.Reverse(l)
		}
		blocks := g.Pages(t, datatest.Path(c, "blocks"), "blocks", 17)
		datatest.Same(t, "blocks", datatest.Text(blocks, "blockHash"), hashes)
		datatest.Same(t, "transactions", datatest.Text(g.Pages(t, datatest.Path(c, "transactions"), "transactions", 17), "txHash"), transactions)
		datatest.Same(t, "failed", datatest.Text(g.Pages(t, datatest.Path(c, "transactions?status=failed"), "transactions", 3), "txHash"), failed)
		datatest.Same(t, "succeeded", datatest.Text(g.Pages(t, datatest.Path(c, "transactions?status=success"), "transactions", 100), "txHash"), succeeded)
		for i, b := range slices.Backward(blocks) {
			n, _ := strconv.Atoi(fmt.Sprint(b["txCount"]))
			if all += n; fmt.Sprint(b["cumulativeTransactions"]) != strconv.Itoa(all) {
				t.Errorf("block %d: cumulativeTransactions is %v: want %d", i, b["cumulativeTransactions"], all)
			}
		}
	})
}

func TestFeesOfABlockAreItsTransactions(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		paid := map[string]*big.Int{}
		for _, tx := range g.Pages(t, datatest.Path(c, "transactions"), "transactions", 100) {
			price, _ := new(big.Int).SetString(tx["gasPrice"].(string), 10)
			used, _ := new(big.Int).SetString(tx["gasUsed"].(string), 10)
			block := tx["blockHash"].(string)
			if paid[block] == nil {
				paid[block] = new(big.Int)
			}
			paid[block].Add(paid[block], price.Mul(price, used))
		}
		for _, b := range g.Pages(t, datatest.Path(c, "blocks"), "blocks", 100) {
			want := paid[b["blockHash"].(string)]
			if want == nil {
				want = new(big.Int)
			}
			if b["feesSpent"] != want.String() {
				t.Errorf("block %s: feesSpent is %s: want %s", b["blockNumber"], b["feesSpent"], want)
			}
		}
	})
}

func TestNativeListsAreTheTransactionsOfEachAddress(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		for _, a := range s.addresses {
			var want []string
			for _, tx := range slices.Backward(s.txs) {
				if tx.Sender == a || target(tx) == a {
					want = append(want, tx.Hash().Hex())
				}
			}
			list := g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "transactions:listNative"), "transactions", 100)
			datatest.Same(t, "native transactions of "+a.Hex(), datatest.Text(list, "txHash"), want)
		}
	})
}

var selectors = map[string][]byte{}

// call calls a contract after a block.
func call(t *testing.T, c *reader.Chain, b *reader.Block, to common.Address, signature string, words ...[]byte) []byte {
	t.Helper()
	if selectors[signature] == nil {
		selectors[signature] = crypto.Keccak256([]byte(signature))[:4]
	}
	input := hexutil.Bytes(slices.Clone(selectors[signature]))
	for _, w := range words {
		input = append(input, common.LeftPadBytes(w, 32)...)
	}
	result, err := c.Call(context.Background(), b, &reader.Call{To: &to, Input: &input}, reader.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Failed() {
		return nil
	}
	return result.Return()
}

// TestBalancesAreWhatTheContractsSay compares the balances of every address with every ERC-20 at several blocks.
func TestBalancesAreWhatTheContractsSay(t *testing.T) {
	number := int64(1)
	if testing.Short() {
		t.Log("left out of a short run: the worlds that clients changed")
	} else {
		number = datatest.ChangedByClients
	}
	g := datatest.Open(t, number)
	for _, c := range g.Chains {
		s := tell(t, c)
		tokens := erc20s(t, g, c)
		last := len(s.blocks) - 1
		for _, n := range []int{last, last / 2, last / 3, 0}[:datatest.Times(t, 4)] {
			b := s.blocks[n]
			for _, a := range s.addresses {
				if a == (common.Address{}) {
					continue
				}
				want := map[string]string{}
				for _, token := range tokens {
					if balance := new(big.Int).SetBytes(call(t, c, b, token, "balanceOf(address)", a[:])); balance.Sign() > 0 {
						want[token.Hex()] = balance.String()
					}
				}
				url := datatest.Path(c, "addresses", a.Hex(), "balances:listErc20?filterSpamTokens=false&blockNumber="+strconv.Itoa(n))
				have := map[string]string{}
				for _, item := range g.Pages(t, url, "erc20TokenBalances", 500) {
					have[item["address"].(string)] = item["balance"].(string)
				}
				if fmt.Sprint(have) != fmt.Sprint(want) {
					t.Fatalf("chain %d, block %d: %s holds\n%v: want\n%v", c.Row.EVMID, n, a, have, want)
				}
			}
		}
	}
}

// erc20s returns the ERC-20s of a chain, found by calling every contract that was ever deployed.
func erc20s(t *testing.T, g *datatest.Globe, c *reader.Chain) []common.Address {
	t.Helper()
	var all []common.Address
	contracts, err := g.DB.Contracts(context.Background(), c.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range contracts {
		a := common.BytesToAddress(r.Address)
		if g.Get(t, datatest.Path(c, "addresses", a.Hex()))["ercType"] == "ERC-20" {
			all = append(all, a)
		}
	}
	if len(all) < 15 {
		t.Fatalf("chain %d has %d ERC-20s", c.Row.EVMID, len(all))
	}
	return all
}

func TestNativeBalancesAreTheStates(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		for _, b := range []*reader.Block{s.blocks[0], s.blocks[len(s.blocks)/2], s.blocks[len(s.blocks)-1]} {
			state, err := c.State(context.Background(), b)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range s.addresses {
				have := g.Get(t, datatest.Path(c, "addresses", a.Hex(), "balances:getNative?blockNumber="+strconv.FormatUint(b.Number, 10)))
				if want := state.GetBalance(a).Dec(); datatest.Dig(have, "nativeTokenBalance", "balance") != want {
					t.Fatalf("block %d: %s holds %v: want %s", b.Number, a, have, want)
				}
			}
		}
	})
}

// TestCollectiblesAreWhatTheContractsSay asks the collections about every item that has a holder in the lists.
func TestCollectiblesAreWhatTheContractsSay(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		head, held := s.blocks[len(s.blocks)-1], 0
		for _, a := range s.addresses {
			for _, item := range g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "balances:listCollectibles"), "collectibleBalances", 100) {
				id, _ := new(big.Int).SetString(item["tokenId"].(string), 10)
				token := common.HexToAddress(item["address"].(string))
				held++
				if item["ercType"] == "ERC-721" {
					if owner := common.BytesToAddress(call(t, c, head, token, "ownerOf(uint256)", id.Bytes())); owner != a || item["ownerAddress"] != a.Hex() {
						t.Errorf("token %s of %s belongs to %s, listed with %s as %v", id, token, owner, a, item["ownerAddress"])
					}
				} else if n := new(big.Int).SetBytes(call(t, c, head, token, "balanceOf(address,uint256)", a[:], id.Bytes())); n.String() != item["balance"] {
					t.Errorf("%s has %s of %s of %s, listed as %v", a, n, id, token, item["balance"])
				}
			}
		}
		if held < 50 {
			t.Errorf("%d items are held", held)
		}
	})
}

// TestHistoryIsTheUnionOfTheLists compares the list of all kinds with the lists of each kind, in both orders.
func TestHistoryIsTheUnionOfTheLists(t *testing.T) {
	eachChain(t, func(t *testing.T, g *datatest.Globe, c *reader.Chain, s *story) {
		for _, a := range s.addresses[:min(len(s.addresses), 40)] {
			places := map[string]string{}
			parts := 0
			for _, name := range []string{"listNative", "listInternals", "listErc20", "listErc721", "listErc1155"} {
				for _, item := range g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "transactions:"+name), "transactions", 100) {
					places[item["txHash"].(string)] = item["blockNumber"].(string)
					if name != "listNative" {
						parts++
					}
				}
			}
			newest := g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "transactions"), "transactions", 9)
			oldest := g.Pages(t, datatest.Path(c, "addresses", a.Hex(), "transactions?sortOrder=asc"), "transactions", 9)
			if len(newest) != len(places) {
				t.Fatalf("%s has %d transactions: want %d", a, len(newest), len(places))
			}
			slices.Reverse(oldest)
			datatest.Same(t, "history of "+a.Hex(), datatest.Text(newest, "nativeTransaction", "txHash"), datatest.Text(oldest, "nativeTransaction", "txHash"))
			for _, tx := range newest {
				for _, key := range []string{"erc20Transfers", "erc721Transfers", "erc1155Transfers", "internalTransactions"} {
					l, _ := tx[key].([]any)
					parts -= len(l)
				}
				if places[datatest.Dig(tx, "nativeTransaction", "txHash").(string)] == "" {
					t.Errorf("%s has a transaction that no list has", a)
				}
			}
			if parts != 0 {
				t.Errorf("history of %s lacks %d transfers or calls", a, parts)
			}
		}
	})
}

// TestListsAcrossChainsHoldEverything follows the lists of all chains to their end.
func TestListsAcrossChainsHoldEverything(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range []string{"", "mainnet", "fuji"} {
		query := ""
		if network != "" {
			query = "?network=" + network
		}
		blocks, transactions := 0, 0
		for _, c := range g.Chains {
			if network == "" || c.Row.Network == network {
				s := tell(t, c)
				blocks, transactions = blocks+len(s.blocks), transactions+len(s.txs)
			}
		}
		for key, want := range map[string]int{"blocks": blocks, "transactions": transactions} {
			list := g.Pages(t, "/v1/"+key+query, key, 13)
			if len(list) != want {
				t.Errorf("%s%s: %d items: want %d", key, query, len(list), want)
			}
			times := datatest.Text(list, "blockTimestamp")
			if !slices.IsSortedFunc(times, func(a, b string) int { return strings.Compare(b, a) }) {
				t.Errorf("%s%s is not newest first", key, query)
			}
			datatest.Distinct(t, key, list)
		}
	}
}
