package etherscan

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/price"
	"snowglobe/sim/store"
)

// dollars returns the price of a token now in units of 1e-8 dollars, the native one's for the zero address; nil without a market.
func (s *scanner) dollars(chain int, token common.Address) *big.Int {
	s.Helper()
	markets, err := s.world.DB.Markets(s.Context(), chain)
	s.check(err)
	for _, m := range markets {
		if common.BytesToAddress(m.Address) == token && m.Series != "" {
			series := price.Series{Name: m.Series, Middle: m.Price, Amplitude: m.Amplitude}
			return big.NewInt(series.At(s.world.Meta.Seed, s.world.Clock.Unix()/3600))
		}
	}
	return nil
}

// point writes a number of the smallest units in decimal, without zeros at its end.
func point(n *big.Int, decimals int64) string {
	text := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)).FloatString(int(decimals))
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// TestPrices of the chain's token in dollars and in bitcoin, which is a token of the mainnet's C-Chain.
func TestPrices(t *testing.T) {
	reading(t).each(func(s *scanner, _ *history) {
		now := fmt.Sprint(s.world.Clock.Unix())
		native, bitcoin := s.dollars(s.chain.Row.ID, common.Address{}), s.dollars(s.world.Chains[0].Row.ID, common.HexToAddress("0x152b9D0FdC40C096757F570A51E494bd4b943E50"))
		if bitcoin == nil || bitcoin.Cmp(big.NewInt(1000*price.Unit)) < 0 {
			t.Fatalf("a bitcoin costs %s", bitcoin)
		}
		want := row{"ethbtc": "0", "ethbtc_timestamp": now, "ethusd": "0", "ethusd_timestamp": now}
		if native != nil {
			want["ethusd"] = point(native, 8)
			want["ethbtc"] = point(new(big.Int).Div(new(big.Int).Mul(native, big.NewInt(1e8)), bitcoin), 8)
		}
		for range 4 { // of several tokens that stand for bitcoin, the same each time
			s.want("module=stats&action=ethprice", want)
			s.want("module=stats&action=avaxprice", want)
		}
	})
}

// TestBitcoin is a token whose symbol says so and that costs more than a thousand dollars; the first one counts.
func TestBitcoin(t *testing.T) {
	s := writing(t)
	h := s.history()
	cheap := s.dollars(s.chain.Row.ID, common.Address{})
	price := func(token common.Address, middle int64) {
		t.Helper()
		s.check(s.world.Write(t.Context(), func(b *store.Batch) error {
			return b.AddMarket(store.Market{Chain: s.chain.Row.ID, Address: token[:], Series: "other", Price: middle})
		}))
	}
	tokens := h.sorted(store.ERC20)
	slices.SortFunc(tokens, func(a, b *store.Token) int { return bytes.Compare(a.Address, b.Address) })
	before := tokens[:slices.IndexFunc(tokens, func(t *store.Token) bool { return t.Symbol == "BTC.b" })]
	unpriced := before[:0:0]
	for _, token := range before {
		if s.dollars(s.chain.Row.ID, common.BytesToAddress(token.Address)) == nil {
			unpriced = append(unpriced, token)
		}
	}
	if len(unpriced) == 0 {
		t.Fatal("every token before BTC.b has a price")
	}
	price(common.BytesToAddress(unpriced[0].Address), 5000*dollar) // not a bitcoin by its symbol
	price(common.Address{1}, 5000*dollar)                          // no token
	dear := s.dollars(s.chain.Row.ID, common.HexToAddress("0x152b9D0FdC40C096757F570A51E494bd4b943E50"))
	now := fmt.Sprint(s.world.Clock.Unix())
	s.want("module=stats&action=ethprice", row{
		"ethbtc": point(new(big.Int).Div(new(big.Int).Mul(cheap, big.NewInt(1e8)), dear), 8), "ethbtc_timestamp": now, "ethusd": point(cheap, 8), "ethusd_timestamp": now,
	})
}

const dollar = price.Unit

// TestTokenInformation compares each token's row with the index, its contract and its market.
func TestTokenInformation(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		priced := 0
		for id, token := range h.tokens {
			cost := "0"
			if dollars := s.dollars(s.chain.Row.ID, common.BytesToAddress(token.Address)); dollars != nil {
				priced++
				cost = point(dollars, 8)
			}
			s.want("module=token&action=tokeninfo&contractaddress="+lower(token.Address), []row{{
				"contractAddress": lower(token.Address), "tokenName": token.Name, "symbol": token.Symbol, "divisor": fmt.Sprint(token.Decimals),
				"tokenType":     []string{"ERC20", "ERC721", "ERC1155"}[id.Standard()],
				"totalSupply":   s.call(h.blocks[h.head()], token.Address, crypto.Keccak256([]byte("totalSupply()"))[:4]).String(),
				"blueCheckmark": "false", "description": "", "website": "", "email": "", "blog": "", "twitter": "", "tokenPriceUSD": cost,
			}})
		}
		if priced < 3 {
			t.Errorf("%d tokens have a price", priced)
		}
	})
}

// TestGas: the oracle adds none, one or two tips to the base fee of the next block, which decides whether it takes a transaction.
func TestGas(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		base, tip, err := s.world.MinerOf(s.chain).Prices(t.Context())
		s.check(err)
		if tip.Sign() == 0 {
			t.Error("no tip")
		}
		var used []string
		for _, b := range h.blocks[len(h.blocks)-5:] {
			used = append(used, strconv.FormatFloat(float64(b.Header.GasUsed)/float64(b.Header.GasLimit), 'f', -1, 64))
		}
		sum := func(tips int64) string {
			return point(new(big.Int).Add(base, new(big.Int).Mul(tip, big.NewInt(tips))), 9)
		}
		s.want("module=gastracker&action=gasoracle", row{
			"LastBlock": fmt.Sprint(h.head()), "SafeGasPrice": sum(0), "ProposeGasPrice": sum(1), "FastGasPrice": sum(2), "suggestBaseFee": sum(0), "gasUsedRatio": strings.Join(used, ","),
		})
		const query = "module=gastracker&action=gasestimate&gasprice="
		s.want(query+base.String(), "1")
		s.want(query+new(big.Int).Mul(base, big.NewInt(1e12)).String(), "1")
		for _, low := range []string{"0", new(big.Int).Sub(base, common.Big1).String()} {
			s.rejects(query+low, "Error! The gas price is below the base fee: no block takes the transaction")
		}
		for _, wrong := range []string{"", "-1", "0x12", "1.5"} {
			s.rejects(query+wrong, "Error! Invalid gasprice: expected wei")
		}
	})
}
