package rest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const (
	alice     = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	blockHash = "0x4444444444444444444444444444444444444444444444444444444444444444"
	cChain    = "2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5"
	block     = "/v1/chains/43114/blocks/7"
)

func TestParametersAreUnderstood(t *testing.T) {
	s := newServer(t, nil)
	cases := []struct {
		target string
		want   []string
	}{
		{block, []string{"43114", "7"}},
		{"/v1/chains/" + cChain + "/blocks/" + blockHash, []string{cChain, blockHash}},
		{block + "?contracts=" + strings.ToLower(alice), []string{"43114", "7", alice}},
		{block + "?contracts=0x" + strings.ToUpper(alice[2:]), []string{"43114", "7", alice}},
		{block + "?contracts=" + alice + "%2C%20" + alice, []string{"43114", "7", alice, alice}},
		{block + "?contracts=" + alice + "&contracts=" + alice + "," + alice, []string{"43114", "7", alice, alice, alice}},
		{block + "?nodeIds=NodeID-1,abc", []string{"43114", "7", "NodeID-1", "abc"}},
		{block + "?capacity=720000000000000000&fee=2.5", []string{"43114", "7", "720000000000000000", "2.500"}},
		{block + "?network=testnet&strict=false", []string{"43114", "7", "fuji", "lax"}},
		{block + "?network=fuji&strict=true", []string{"43114", "7", "fuji", "strict"}},
		{block + "?subnetId=" + cChain, []string{"43114", "7", cChain}},
		{block + "?unknown=1&unknown=2&rltoken=x", []string{"43114", "7"}},
		{"//v1///chains/43114//blocks/7/", []string{"43114", "7"}},
	}
	for _, c := range cases {
		w := get(t, s, c.target)
		var e echo
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || !slices.Equal(e.Values, c.want) {
			t.Errorf("%s: answer is %d %s: want %q", c.target, w.Code, w.Body, c.want)
		}
	}
}

func TestMalformedParametersAreNamed(t *testing.T) {
	s := newServer(t, nil)
	cases := []struct{ target, message string }{
		{"/v1/chains/avalanche/blocks/7", `chainId "avalanche" is not allowed: expected an EVM chain id or a blockchain id`},
		{"/v1/chains/0/blocks/7", `chainId "0" is not allowed: expected an EVM chain id or a blockchain id`},
		{"/v1/chains/" + cChain[:len(cChain)-1] + "6/blocks/7", `is not allowed: expected an EVM chain id or a blockchain id in cb58 with its checksum`},
		{"/v1/chains/43114/blocks/-1", `blockId "-1" is not allowed: expected a block number, or a block hash of 0x and 64 hexadecimal digits`},
		{"/v1/chains/43114/blocks/18446744073709551616", `blockId "18446744073709551616" is not allowed`},
		{"/v1/chains/43114/blocks/0xzz", `blockId "0xzz" is not allowed`},
		{"/v1/chains/1/tokens/0x123", `address "0x123" is not allowed: expected 0x and 40 hexadecimal digits`},
		{"/v1/chains/1/tokens/" + alice[2:] + "00", `expected 0x and 40 hexadecimal digits`},
		{"/v1/chains/1/tokens/0xg39Fd6e51aad88F6F4ce6aB8827279cffFb92266", `expected 0x and 40 hexadecimal digits`},
		{block + "?capacity=-1", `capacity "-1" is not allowed: expected an integer from 0 to 720000000000000000`},
		{block + "?capacity=720000000000000001", `capacity "720000000000000001" is not allowed`},
		{block + "?capacity=" + strings.Repeat("9", 79), `capacity "` + strings.Repeat("9", 79) + `" is not allowed`},
		{block + "?capacity=1e3", `capacity "1e3" is not allowed`},
		{block + "?fee=1.9", `fee "1.9" is not allowed: expected a decimal number from 2 to 100`},
		{block + "?fee=1e999999999", `fee "1e999999999" is not allowed`},
		{block + "?fee=NaN", `fee "NaN" is not allowed`},
		{block + "?startTimestamp=-5", `startTimestamp "-5" is not allowed: expected Unix seconds, not negative`},
		{block + "?startBlock=9223372036854775808", `startBlock "9223372036854775808" is not allowed: expected an integer from 0 to 9223372036854775807`},
		{block + "?startBlock=%2B5", `startBlock "+5" is not allowed`},
		{block + "?startBlock=1.0", `startBlock "1.0" is not allowed`},
		{block + "?startBlock=", `startBlock is empty: expected an integer from 0 to 9223372036854775807`},
		{block + "?startBlock=1&startBlock=1", `startBlock is given 2 times: expected an integer from 0 to 9223372036854775807, once`},
		{block + "?strict=yes", `strict "yes" is not allowed: expected true or false`},
		{block + "?network=local", `network "local" is not allowed: expected one of mainnet, fuji, testnet`},
		{block + "?currency=USD", `currency "USD" is not allowed: expected one of usd, eur,`},
		{block + "?sortOrder=up", `sortOrder "up" is not allowed: expected one of asc, desc`},
		{block + "?contracts=" + alice + ",,", `has an empty item: expected a list, each item 0x and 40 hexadecimal digits`},
		{block + "?contracts=,", `contracts "," has an empty item`},
		{block + "?contracts=", `contracts is empty: expected 0x and 40 hexadecimal digits`},
		{"/v1/chains/43114/blocks/007", `blockId "007" is not allowed`},
		{"/v1/chains/043114/blocks/7", `chainId "043114" is not allowed`},
		{"/v1/numbers?pageSize=010", `pageSize "010" is not allowed`},
		{"/v1/numbers?pageSize=-0", `pageSize "-0" is not allowed`},
		{block + "?capacity=0720000000000000000", `capacity "0720000000000000000" is not allowed`},
		{block + "?fee=02.5", `fee "02.5" is not allowed`},
		{"/v1/chains/43114/blocks/7%2Ftransactions", `blockId "7%2Ftransactions" is not allowed`},
		{block + "?contracts=" + strings.Repeat(alice+",", 3) + alice, `contracts has 4 items: expected at most 3`},
		{block + "?nodeIds=a%20b", `nodeIds "a b" is not allowed: expected a node id or part of one`},
		{block + "?addresses=Z-avax1abc", `addresses "Z-avax1abc" is not allowed: expected a P-, X- or C-Chain address in bech32`},
		{block + "?subnetId=111", `subnetId "111" is not allowed: expected an id in cb58 with its checksum`},
		{block + "?nodeId=NodeID-1", `nodeId "NodeID-1" is not allowed: expected NodeID- and a node id in cb58 with its checksum`},
		{block + "?operationId=1-2", `operationId "1-2" is not allowed: expected a UUID`},
		{block + "?sortOrder=" + strings.Repeat("x", 5000), strings.Repeat("x", 100) + `…" is not allowed`},
		{block + "?sortOrder=%zz", `the query string is malformed`},
		{"/v1/networks/fuji/addresses:listChainIds", `addresses is required: expected a list, each item a P-, X- or C-Chain address in bech32`},
		{"/v1/numbers?pageSize=0", `pageSize "0" is not allowed: expected an integer from 1 to 100`},
		{"/v1/numbers?pageSize=1000", `pageSize "1000" is not allowed: expected an integer from 1 to 100`},
	}
	for _, c := range cases {
		w := get(t, s, c.target)
		var e struct {
			Message, Error string
			StatusCode     int
		}
		err := json.Unmarshal(w.Body.Bytes(), &e)
		if err != nil || w.Code != 400 || e.StatusCode != 400 || e.Error != "Bad Request" || !strings.Contains(e.Message, c.message) {
			t.Errorf("%s: answer is %d %s: want %s", c.target, w.Code, w.Body, c.message)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	s := newServer(t, nil)
	w := get(t, s, "/v1/numbers?pageSize=0&status=odd&pageToken=x")
	expect(t, w, 400, `"message":"pageToken \"x\" is not allowed: expected the nextPageToken of an earlier answer to the same query; pageSize \"0\" is not allowed: expected an integer from 1 to 100; status \"odd\" is not allowed: expected one of failed, success"`)
	w = get(t, s, "/v2/chains/half/metrics/txcount?startTimestamp=-1&pageSize=2161")
	var e struct{ Message []string }
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || len(e.Message) != 4 {
		t.Errorf("metrics answer is %s: want an array of four problems", w.Body)
	}
}

func TestBodyProblems(t *testing.T) {
	s := newServer(t, nil)
	const path = "/v1/operations/transactions:export"
	good := `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["` + alice + `"]},"more":1}`
	expect(t, ask(t, s, "POST", path, good, "Content-Type", "application/json; charset=UTF-8"), 200, alice)
	expect(t, ask(t, s, "POST", path, good), 200, alice)
	other := strings.Replace(good, `"more":1`, `"Options":{"addresses":["0x1"]},"TYPE":5,"Quorum":500`, 1)
	expect(t, ask(t, s, "POST", path, other), 200, alice) // members in another case are unknown, and ignored
	for _, same := range []string{"67.0", "6.7e1", "670E-1", "0.67e+2", "100.000", "1e2", "0e9", "-0.0"} {
		expect(t, ask(t, s, "POST", path, strings.Replace(good, `"more":1`, `"quorum":`+same, 1)), 200, alice)
	}
	for _, other := range []string{"67.5", "6.75e1", "67.00000000000000000000001", "100.1", "1.01e2", "-1.0", "1e-1", "1e99"} {
		wrong := `quorum ` + other + ` is not allowed: expected an integer from 0 to 100`
		expect(t, ask(t, s, "POST", path, strings.Replace(good, `"more":1`, `"quorum":`+other, 1)), 400, wrong)
	}
	cases := []struct{ body, message string }{
		{"", "the body is empty: expected a JSON object"},
		{"{", "the body is not JSON: unexpected EOF"},
		{good + "{}", "the body continues after its JSON value"},
		{"[]", "the body [] is not allowed: expected an object"},
		{"{}", "options is required"},
		{"{}", "type is required"},
		{`{"type":"X","options":{"addresses":["0x1",2]},"quorum":101}`, `options.addresses[0] \"0x1\" is not allowed`},
		{`{"type":"X","options":{"addresses":["0x1",2]},"quorum":101}`, `options.addresses[1] 2 is not allowed: expected a string`},
		{`{"type":"X","options":{"addresses":["0x1",2]},"quorum":101}`, `quorum 101 is not allowed: expected an integer from 0 to 100`},
		{`{"type":"X","options":{"addresses":["0x1",2]},"quorum":101}`, `type \"X\" is not allowed: expected one of TRANSACTION_EXPORT_EVM`},
		{`{"type":null,"options":[],"quorum":1e99999999,"lastDate":"May"}`, `quorum 1e99999999 is not allowed`},
		{`{"type":null,"options":[],"quorum":1.5,"lastDate":"May"}`, `lastDate \"May\" is not allowed`},
	}
	for _, c := range cases {
		expect(t, ask(t, s, "POST", path, c.body, "Content-Type", "application/json"), 400, c.message)
	}
	expect(t, ask(t, s, "POST", path, good, "Content-Type", "application/x-www-form-urlencoded"), 415, "expected application/json")
	expect(t, ask(t, s, "POST", path, good, "Content-Type", "application/json; charset=latin1"), 415, "Unsupported Media Type")
	expect(t, ask(t, s, "POST", path, "\x1f\x8b", "Content-Encoding", "gzip"), 415, `content-encoding \"gzip\" is not supported`)
	expect(t, ask(t, s, "POST", path, good, "Content-Encoding", "identity"), 200, alice)
	expect(t, ask(t, s, "POST", path, strings.Repeat(" ", 1<<20+1)), 413, "the body is larger than 1048576 bytes")
}
