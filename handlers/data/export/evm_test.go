package export_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/export"
)

// TestExportsEqualTheLists compares the rows about every persona with the lists for its address.
func TestExportsEqualTheLists(t *testing.T) {
	o := openOffice(t, export.Options{})
	personas, err := o.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, p := range personas {
		address := common.BytesToAddress(p.Address).Hex()
		got := o.rows(t, evmExport([]string{address}, o.chainIDs()))
		ordered(t, p.Name, got)
		var lines []string
		for _, r := range got {
			kinds[r["TransferType"]]++
			lines = append(lines, essence(r))
		}
		var want []string
		for _, c := range o.Chains {
			want = append(want, o.listed(t, c, address)...)
		}
		slices.Sort(lines)
		slices.Sort(want)
		if !slices.Equal(lines, want) {
			t.Errorf("%s: %d rows, the lists have %d; %s", p.Name, len(lines), len(want), differing(lines, want))
		}
	}
	for _, kind := range []string{"NATIVE", "INTERNAL", "ERC-20", "ERC-721", "ERC-1155"} {
		if kinds[kind] == 0 {
			t.Errorf("nobody has a row of %s: %v", kind, kinds)
		}
	}
}

// differing returns the first line that is in only one of two sorted lists.
func differing(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + " against " + b[i]
		}
	}
	return "the end"
}

// ordered fails if rows are not sorted by time, or on one chain by block, transaction and kind.
func ordered(t *testing.T, name string, rows []record) {
	t.Helper()
	last, kinds := map[string]record{}, []string{"NATIVE", "INTERNAL", "ERC-20", "ERC-721", "ERC-1155"}
	before := ""
	for _, r := range rows {
		if r["BlockTimestamp"] < before {
			t.Errorf("%s: %s comes after %s", name, r["BlockTimestamp"], before)
		}
		before = r["BlockTimestamp"]
		if l := last[r["ChainId"]]; l["TxHash"] == r["TxHash"] {
			token := min(slices.Index(kinds, r["TransferType"]), 2)
			if token < min(slices.Index(kinds, l["TransferType"]), 2) || token == 2 && l["LogIndex"] != "" && number(r["LogIndex"]).Cmp(number(l["LogIndex"])) < 0 {
				t.Errorf("%s: %v comes after %v", name, r, l)
			}
		}
		last[r["ChainId"]] = r
	}
}

func number(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

// essence returns the fields that a row shares with the lists. The lists of ERC-1155 transfers leave out the token's symbol.
func essence(r record) string {
	symbol := r["TokenSymbol"]
	if r["TransferType"] == "ERC-1155" {
		symbol = ""
	}
	return fmt.Sprint(r["ChainId"], r["BlockNumber"], r["BlockTimestamp"], r["TxHash"], r["TransferType"], r["Status"], r["From"], r["To"],
		r["TokenAddress"], symbol, r["TokenDecimals"], r["TokenId"], r["Value"], r["GasUsed"], r["GasPrice"], r["LogIndex"])
}

// listed returns the essence of everything in the lists about an address on a chain.
func (o *office) listed(t *testing.T, c *reader.Chain, address string) (lines []string) {
	chain := fmt.Sprint(c.Row.EVMID)
	list := func(name string, add func(datatest.Object, record)) {
		for _, item := range o.Pages(t, datatest.Path(c, "addresses", address, "transactions:"+name), "transactions", 100) {
			unix, _ := item["blockTimestamp"].(interface{ Int64() (int64, error) }).Int64()
			r := record{"ChainId": chain, "BlockNumber": item["blockNumber"].(string), "BlockTimestamp": time.Unix(unix, 0).UTC().Format(time.RFC3339),
				"TxHash": item["txHash"].(string), "Status": "SUCCESS", "From": datatest.Dig(item, "from", "address").(string), "To": datatest.Dig(item, "to", "address").(string),
				"TokenSymbol": c.Row.TokenSymbol, "TokenDecimals": "18"}
			add(item, r)
			lines = append(lines, essence(r))
		}
	}
	list("listNative", func(item datatest.Object, r record) {
		r["TransferType"], r["Value"] = "NATIVE", item["value"].(string)
		r["GasUsed"], r["GasPrice"] = item["gasUsed"].(string), item["gasPrice"].(string)
		if item["txStatus"] == "0" {
			r["Status"] = "FAILED"
		}
	})
	list("listInternals", func(item datatest.Object, r record) {
		r["TransferType"], r["Value"] = "INTERNAL", item["value"].(string)
		if item["isReverted"] == true {
			r["Status"] = "FAILED"
		}
	})
	for _, s := range []struct{ list, kind, token string }{{"listErc20", "ERC-20", "erc20Token"}, {"listErc721", "ERC-721", "erc721Token"}, {"listErc1155", "ERC-1155", "erc1155Token"}} {
		list(s.list, func(item datatest.Object, r record) {
			r["TransferType"], r["LogIndex"], r["Value"], r["TokenDecimals"] = s.kind, fmt.Sprint(item["logIndex"]), "1", "0"
			r["TokenAddress"], r["TokenSymbol"] = datatest.Dig(item, s.token, "address").(string), fmt.Sprint(orEmpty(datatest.Dig(item, s.token, "symbol")))
			r["TokenId"] = fmt.Sprint(orEmpty(datatest.Dig(item, s.token, "tokenId")))
			if value, given := item["value"].(string); given {
				r["Value"] = value
			}
			if decimals := datatest.Dig(item, s.token, "decimals"); decimals != nil {
				r["TokenDecimals"] = fmt.Sprint(decimals)
			}
		})
	}
	return lines
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// TestExportedAmountsAreExact recomputes amounts, values and fees as fractions.
func TestExportedAmountsAreExact(t *testing.T) {
	o := openOffice(t, export.Options{})
	priced := 0
	for _, r := range o.rows(t, evmExport([]string{o.Persona(t, "alice"), o.Persona(t, "whale")}, o.chainIDs())) {
		unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), number(r["TokenDecimals"]), nil))
		amount := new(big.Rat).Quo(new(big.Rat).SetInt(number(r["Value"])), unit)
		amounts(t, r, "Amount", amount)
		if r["PriceUSD"] != "" {
			priced++
			amounts(t, r, "ValueUSD", amount.Mul(amount, fraction(r["PriceUSD"])))
		} else if r["ValueUSD"] != "" {
			t.Errorf("a value without a price: %v", r)
		}
		if r["TransferType"] != "NATIVE" {
			continue
		}
		fee := new(big.Rat).SetInt(new(big.Int).Mul(number(r["GasUsed"]), number(r["GasPrice"])))
		fee.Quo(fee, unit)
		amounts(t, r, "Fee", fee)
		amounts(t, r, "FeeUSD", fee.Mul(fee, fraction(r["PriceUSD"])))
	}
	if priced == 0 {
		t.Error("nothing has a price")
	}
}

func fraction(text string) *big.Rat {
	f, _ := new(big.Rat).SetString(text)
	return f
}

func amounts(t *testing.T, r record, column string, want *big.Rat) {
	t.Helper()
	if got := fraction(r[column]); got == nil || got.Cmp(want) != 0 {
		t.Errorf("%s is %q, it should be %s: %v", column, r[column], want.FloatString(30), r)
	}
}

// TestExportsOfSeveralAddressesHaveEachRowOnce: a transfer between two of them appears once, even though both see it.
func TestExportsOfSeveralAddressesHaveEachRowOnce(t *testing.T) {
	o := openOffice(t, export.Options{})
	alice, bob := o.Persona(t, "alice"), o.Persona(t, "bob")
	separate := map[string]int{}
	for _, address := range []string{alice, bob} {
		for _, r := range o.rows(t, evmExport([]string{address}, o.chainIDs())) {
			separate[essence(r)]++
		}
	}
	shared := 0
	together := o.rows(t, evmExport([]string{alice, bob, alice}, append(o.chainIDs(), o.chainIDs()...)))
	for _, r := range together {
		between := (r["From"] == alice || r["From"] == bob) && (r["To"] == alice || r["To"] == bob)
		if between != (r["Direction"] == "SELF") || separate[essence(r)] == 0 {
			t.Errorf("%v", r)
		}
		if between && r["From"] != r["To"] {
			shared++
		}
	}
	total := 0
	for _, n := range separate {
		total += n
	}
	if shared == 0 || len(together) != total-shared {
		t.Errorf("%d rows together, %d apart, %d shared", len(together), total, shared)
	}
}
