package metrics_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

const composite = "/v2/lookingGlass/compositeQuery"

func post(t testing.TB, s *rest.Server, body string) (int, []byte) {
	t.Helper()
	r := httptest.NewRequest("POST", composite, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := s.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		t.Errorf("%s: %v", body, err)
	}
	return w.Code, w.Body.Bytes()
}

// find requests all pages of the addresses that meet conditions.
func find(t testing.TB, s *rest.Server, operator string, size int, conditions ...string) (all []string, counts map[string]int) {
	t.Helper()
	for token := ""; ; {
		code, body := post(t, s, fmt.Sprintf(`{"operator":%q,"pageSize":%d,"pageToken":%q,"queries":[%s]}`, operator, size, token, strings.Join(conditions, ",")))
		var answer metrics.CompositeAddresses
		if err := json.Unmarshal(body, &answer); code != 200 || err != nil {
			t.Fatalf("answer is %d %s", code, body)
		}
		all, counts = append(all, answer.Addresses...), answer.SubQueryCounts
		if token = answer.NextPageToken; token == "" {
			if len(all) != answer.TotalCount {
				t.Errorf("%d addresses, of %d", len(all), answer.TotalCount)
			}
			return all, counts
		}
		if len(answer.Addresses) != size {
			t.Fatalf("a page that is not the last has %d addresses", len(answer.Addresses))
		}
	}
}

func condition(id, kind, params string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"params":{%s}}`, id, kind, params)
}

// TestConditionsAreWhatTheChainSays compares the addresses that meet conditions with every account's balance after every block of a range.
func TestConditionsAreWhatTheChainSays(t *testing.T) {
	w := shared(t, "tiny", 1)
	s := serve(t, w)
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last := time.Unix(int64(head.Header.Time), 0).UTC()
		first := last.AddDate(0, 0, -1)
		for _, least := range []string{"0", "1", "1000000000000000000", "1000000000000000000000"} {
			days := fmt.Sprintf(`"evmChainId":"%d","minBalance":%q,"firstDate":%q,"lastDate":%q`, c.Row.EVMID, least, first.Format(time.DateOnly), last.Format(time.DateOnly))
			always, once, now := heldNative(t, w, c, first.Truncate(24*time.Hour).Unix(), uint256.MustFromDecimal(least))
			for kind, want := range map[string][]string{"AllTimeNativeBalance": always, "AnyTimeNativeBalance": once} {
				if have, _ := find(t, s, "AND", 7, condition("a", kind, days)); !slices.Equal(have, want) {
					t.Errorf("chain %d: %s of %s finds %d addresses, want %d", c.Row.EVMID, kind, least, len(have), len(want))
				}
			}
			latest := fmt.Sprintf(`"evmChainId":"%d","minBalance":%q,"tokenType":"NATIVE"`, c.Row.EVMID, least)
			if have, _ := find(t, s, "OR", 50, condition("a", "LatestBalance", latest)); !slices.Equal(have, now) {
				t.Errorf("chain %d: %s finds %d addresses now, want %d", c.Row.EVMID, least, len(have), len(now))
			}
		}
	}
}

// heldNative reads the balances of every account after every block since a time and after the one before.
func heldNative(t *testing.T, w *sim.World, c *reader.Chain, since int64, least *uint256.Int) (always, once, now []string) {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	from, err := w.DB.FirstSince(t.Context(), c.Row.ID, since)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.DB.AccountsAt(t.Context(), c.Row.ID, head.Number)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string][]bool{}
	for n := max(from, 1) - 1; n <= head.Number; n++ {
		b, err := c.Block(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		state, err := c.State(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			address := common.BytesToAddress(rows[i].Address)
			held[address.Hex()] = append(held[address.Hex()], !state.GetBalance(address).Lt(least))
		}
	}
	for address, blocks := range held {
		if !slices.Contains(blocks, false) {
			always = append(always, address)
		}
		if slices.Contains(blocks, true) {
			once = append(once, address)
		}
		if blocks[len(blocks)-1] {
			now = append(now, address)
		}
	}
	for _, list := range [][]string{always, once, now} {
		slices.SortFunc(list, func(a, b string) int { return common.HexToAddress(a).Cmp(common.HexToAddress(b)) })
	}
	return always, once, now
}

// TestHoldersOfTokensAreThoseOfTheLists compares the addresses that meet conditions with the lists of their balances.
func TestHoldersOfTokensAreThoseOfTheLists(t *testing.T) {
	w := shared(t, "tiny", 1)
	s := serve(t, w)
	tokens := 0
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		accounts, err := w.DB.AccountsAt(t.Context(), c.Row.ID, head.Number)
		if err != nil {
			t.Fatal(err)
		}
		today := time.Unix(int64(head.Header.Time), 0).UTC().AddDate(0, 0, 1).Format(time.DateOnly)
		for _, standard := range []store.Standard{store.ERC20, store.ERC721, store.ERC1155} {
			all, err := w.DB.Tokens(t.Context(), c.Row.ID, standard, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, token := range all {
				owners := map[string]bool{}
				for i := range accounts {
					rows, err := w.DB.TokenBalancesOf(t.Context(), accounts[i].Address, token.ID, store.MaxNumber)
					if err != nil {
						t.Fatal(err)
					}
					last := map[string]int{}
					for _, r := range slices.Backward(rows) { // the newest row of an asset comes first
						last[string(r.Asset)] = len(r.Amount)
					}
					for _, n := range last {
						if n > 0 {
							owners[common.BytesToAddress(accounts[i].Address).Hex()] = true
						}
					}
				}
				at := fmt.Sprintf(`"evmChainId":"%d","contractAddress":"0x%x"`, c.Row.EVMID, token.Address)
				kinds := map[string]string{"AllTimeNftHolders": at + fmt.Sprintf(`,"firstDate":%q,"lastDate":%q`, today, today)}
				if standard == store.ERC20 {
					kinds = map[string]string{
						"LatestBalance":       at + `,"minBalance":"1","tokenType":"ERC20"`,
						"AllTimeErc20Balance": at + fmt.Sprintf(`,"minBalance":"1","firstDate":%q,"lastDate":%q`, today, today),
					}
				}
				for kind, params := range kinds {
					have, _ := find(t, s, "AND", 10, condition("x", kind, params))
					have = slices.DeleteFunc(have, func(a string) bool { // an address that never had a transaction or native token has no account
						return !slices.ContainsFunc(accounts, func(row store.Account) bool { return common.BytesToAddress(row.Address).Hex() == a })
					})
					if len(have) != len(owners) || slices.ContainsFunc(have, func(a string) bool { return !owners[a] }) {
						t.Errorf("chain %d, token %x: %s finds %v, want %v", c.Row.EVMID, token.Address, kind, have, owners)
					}
				}
				tokens++
				if standard == store.ERC721 { // times in place of dates, and a standard that this type does not take
					times := at + fmt.Sprintf(`,"startTs":%d,"endTs":%d`, head.Header.Time, head.Header.Time+1)
					if have, _ := find(t, s, "AND", 10, condition("x", "AnyTimeNftHolders", times)); len(have) < len(owners) {
						t.Errorf("chain %d, token %x: at the head are %v, want %v", c.Row.EVMID, token.Address, have, owners)
					}
					times = at + `,"startTs":1,"endTs":2`
					if have, _ := find(t, s, "AND", 10, condition("x", "AnyTimeNftHolders", times)); len(have) != 0 {
						t.Errorf("chain %d, token %x: before it began are %v", c.Row.EVMID, token.Address, have)
					}
					code, body := post(t, s, `{"operator":"OR","queries":[`+condition("x", "LatestBalance", at+`,"minBalance":"1","tokenType":"ERC20"`)+`]}`)
					if code != 400 || !strings.Contains(string(body), "there is no such token") {
						t.Errorf("chain %d, token %x: as ERC20 it answers %d %s", c.Row.EVMID, token.Address, code, body)
					}
				}
			}
		}
	}
	if tokens < 5 {
		t.Errorf("%d tokens", tokens)
	}
}

func TestConditionsCombine(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	native := func(id, least string) string {
		return condition(id, "LatestBalance", `"evmChainId":"43114","tokenType":"NATIVE","minBalance":"`+least+`"`)
	}
	some, few := native("some", "1"), native("few", "1000000000000000000000")
	both, counts := find(t, s, "AND", 100, some, few)
	either, _ := find(t, s, "OR", 100, some, few)
	if len(both) != counts["few"] || len(either) != counts["some"] || len(both) == 0 || len(both) >= len(either) {
		t.Errorf("both find %d, either %d, each %v", len(both), len(either), counts)
	}
	if stars, counts := find(t, s, "OR", 100, condition("s", "LatestBalanceStarsArena", `"subjectAddress":"0x152b9d0FdC40C096757F570A51E494bd4b943E50","minBalance":"1"`)); len(stars) != 0 || counts["s"] != 0 {
		t.Errorf("shares of Stars Arena have %v", stars)
	}
	var most []string
	for i := range 16 {
		most = append(most, native(strconv.Itoa(i), "1"))
	}
	if all, counts := find(t, s, "AND", 100, most...); len(all) != len(either) || len(counts) != 16 {
		t.Errorf("sixteen times the same finds %d, want %d", len(all), len(either))
	}
	for body, want := range map[string]string{
		`{"operator":"AND","queries":[]}`:                                            "queries is empty",
		`{"operator":"XOR","queries":[` + some + `]}`:                                "operator",
		`{"operator":"AND","queries":[` + some + `,` + some + `]}`:                   "appears twice",
		`{"operator":"AND","queries":[{"id":"a","type":"Other","params":{}}]}`:       "type",
		`{"operator":"AND","pageToken":"x","queries":[` + some + `]}`:                "pageToken",
		`{"operator":"AND","pageSize":10001,"queries":[` + some + `]}`:               "pageSize",
		`{"operator":"AND","queries":[` + native("a", "-1") + `]}`:                   "minBalance",
		`{"operator":"AND","queries":[` + strings.Repeat(some+",", 16) + some + `]}`: "17 items",
		`{"operator":"AND","queries":[` + condition("a", "AnyTimeNativeBalance", `"evmChainId":"43114","minBalance":"1","firstDate":"today","lastDate":"2026-01-01"`) + `]}`:                                 "queries[0].params.firstDate",
		`{"operator":"AND","queries":[` + condition("a", "AnyTimeNativeBalance", `"evmChainId":"43114","minBalance":"1","firstDate":"2026-01-02","lastDate":"2026-01-01"`) + `]}`:                            "lastDate 2026-01-01 is before firstDate 2026-01-02",
		`{"operator":"AND","queries":[` + condition("a", "AnyTimeNativeBalance", `"evmChainId":"43114","minBalance":"1","startTs":1,"lastDate":"2026-01-01"`) + `]}`:                                         "queries[0].params.firstDate",
		`{"operator":"AND","queries":[` + condition("a", "AnyTimeNftHolders", `"evmChainId":"43114","startTs":1,"endTs":2`) + `]}`:                                                                           `contractAddress \"\" is not allowed: expected 0x and 40`,
		`{"operator":"AND","queries":[` + condition("a", "LatestBalance", `"evmChainId":"43114","minBalance":"1"`) + `]}`:                                                                                    "tokenType is required",
		`{"operator":"AND","queries":[` + condition("a", "AnyTimeNativeBalance", `"evmChainId":"1","minBalance":"1","firstDate":"2026-01-02","lastDate":"2026-01-01"`) + `]}`:                                "evmChainId",
		`{"operator":"AND","queries":[` + condition("a", "LatestBalance", `"evmChainId":"43114","tokenType":"ERC20","contractAddress":"0x0000000000000000000000000000000000000001","minBalance":"1"`) + `]}`: "no such token",
	} {
		if code, answer := post(t, s, body); code != 400 || !strings.Contains(string(answer), want) {
			t.Errorf("%s: answer is %d %s, want %s", body, code, answer, want)
		}
	}
	// A page token works only with its own conditions.
	_, first := post(t, s, `{"operator":"OR","pageSize":1,"queries":[`+some+`]}`)
	var page metrics.CompositeAddresses
	if err := json.Unmarshal(first, &page); err != nil || page.NextPageToken == "" {
		t.Fatalf("first page is %s", first)
	}
	if code, answer := post(t, s, `{"operator":"OR","pageToken":"`+page.NextPageToken+`","queries":[`+few+`]}`); code != 400 {
		t.Errorf("the token of other conditions answers %d %s", code, answer)
	}
}

func TestBridgersOfBitcoin(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	all := ask[metrics.Bridgers](t, s, "/v2/chains/43114/btcb/bridged:getAddresses?threshold=0")
	for i, b := range all.Addresses {
		if i > 0 && uint256.MustFromDecimal(b.SortKey).Gt(uint256.MustFromDecimal(all.Addresses[i-1].SortKey)) {
			t.Errorf("%s comes after one who bridged less", b.Address)
		}
	}
	if code, body := get(t, s, "/v2/chains/43114/btcb/bridged:getAddresses"); code != 400 || !strings.Contains(string(body), "threshold") {
		t.Errorf("without a threshold: %d %s", code, body)
	}
	if code, body := get(t, s, "/v2/chains/43113/btcb/bridged:getAddresses?threshold=0"); code != 404 {
		t.Errorf("of Fuji: %d %s", code, body)
	}
}

func TestAddressesOfValidators(t *testing.T) {
	w := shared(t, "tiny", 1)
	s := serve(t, w)
	for _, n := range w.Networks {
		target := "/v2/subnets/11111111111111111111111111111111LpoYY/validators:getAddresses?network=" + n.Name
		var all []metrics.PChainAddressDetails
		for token := ""; ; {
			page := ask[metrics.ValidatorAddresses](t, s, target+"&pageSize=3&pageToken="+token)
			all = append(all, page.Addresses...)
			if token = page.NextPageToken; token == "" {
				break
			}
		}
		rows, err := w.DB.StakersOfSubnet(t.Context(), n.Chain(txs.PChain), make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for i := range rows {
			if !rows[i].Delegator {
				count++
			}
		}
		if len(all) != count || count == 0 {
			t.Errorf("%s: %d validators, want %d", n.Name, len(all), count)
		}
		for i, v := range all {
			if len(v.Addresses) == 0 || !strings.Contains(v.Addresses[0], n.Rules.HRP+"1") {
				t.Errorf("%s: addresses are %v", n.Name, v.Addresses)
			}
			if i > 0 && v.SortKey > all[i-1].SortKey {
				t.Errorf("%s: %s comes after %s", n.Name, v.SortKey, all[i-1].SortKey)
			}
		}
		first, _ := strconv.ParseInt(all[0].SortKey, 10, 64)
		if some := ask[metrics.ValidatorAddresses](t, s, fmt.Sprintf("%s&startTimestamp=%d", target, int64(1)<<50)); len(some.Addresses) != 0 {
			t.Errorf("%s: far in the future are %v", n.Name, some.Addresses)
		}
		if some := ask[metrics.ValidatorAddresses](t, s, fmt.Sprintf("%s&endTimestamp=%d", target, first)); len(some.Addresses) >= len(all) {
			t.Errorf("%s: before the last began are %d", n.Name, len(some.Addresses))
		}
	}
	v := readChain(t, w.Networks[0]).members[0]
	l1 := ask[metrics.ValidatorAddresses](t, s, "/v2/subnets/"+ids.ID(v.Subnet).String()+"/validators:getAddresses")
	if len(l1.Addresses) == 0 {
		t.Error("an L1 has no validators")
	}
	if code, body := get(t, s, "/v2/subnets/"+ids.ID{1}.String()+"/validators:getAddresses"); code != 404 {
		t.Errorf("of no subnet: %d %s", code, body)
	}
}
