package debug_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
)

// TestStatesAreWhatTheNodeDumps compares the dump of every account that changed in each chain's last blocks with its single values.
func TestStatesAreWhatTheNodeDumps(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		head := c.Head()
		var changed []string
		if c.Call(&changed, "debug_getModifiedAccountsByNumber", head.Number-5, head.Number); len(changed) == 0 {
			t.Fatal(c.Chain.Row.Name)
		}
		type dump struct {
			Root     string
			Next     string
			Accounts map[string]struct {
				Balance string
				Nonce   uint64
				Code    string
				Storage map[string]string
			}
		}
		accounts := map[string]bool{}
		for start := "0x"; ; {
			var page dump
			c.Call(&page, "debug_accountRange", "latest", start, 100, false, false, false)
			for address, account := range page.Accounts {
				if accounts[strings.ToLower(address)] {
					t.Errorf("%s: %s is on two pages", c.Chain.Row.Name, address)
				}
				accounts[strings.ToLower(address)] = true
				if !slices.Contains(changed, strings.ToLower(address)) {
					continue
				}
				var balance, nonce, code string
				c.Call(&balance, "eth_getBalance", address, "latest")
				c.Call(&nonce, "eth_getTransactionCount", address, "latest")
				c.Call(&code, "eth_getCode", address, "latest")
				if decimal(t, balance) != account.Balance || nonce != fmt.Sprintf("%#x", account.Nonce) || account.Code != "" && code != account.Code {
					t.Errorf("%s: %s is %+v: want %s %s", c.Chain.Row.Name, address, account, balance, nonce)
				}
				for key, value := range account.Storage {
					var slot string
					if c.Call(&slot, "eth_getStorageAt", address, key, "latest"); !strings.HasSuffix(slot, value) {
						t.Errorf("%s: slot %s of %s is %s: want %s", c.Chain.Row.Name, key, address, value, slot)
					}
				}
			}
			if page.Next == "" {
				break
			}
			start = "0x" + base16(t, page.Next)
		}
		for _, address := range changed {
			if !accounts[address] {
				t.Errorf("%s: %s changed and is on no page", c.Chain.Row.Name, address)
			}
		}
		var raw string
		var traces, again []any
		c.Call(&raw, "debug_getRawBlock", fmt.Sprintf("%#x", head.Number))
		c.Call(&traces, "debug_traceBlock", raw, object{"tracer": "callTracer"})
		c.Call(&again, "debug_traceBlockByNumber", "latest", object{"tracer": "callTracer"})
		if fmt.Sprint(traces) != fmt.Sprint(again) {
			t.Errorf("%s: a block by its bytes is traced as %.200v: want %.200v", c.Chain.Row.Name, traces, again)
		}
	}
}

// decimal parses a number from an EVM chain.
func decimal(t *testing.T, quantity string) string {
	t.Helper()
	n, ok := new(big.Int).SetString(quantity, 0)
	if !ok {
		t.Fatalf("%q is no number", quantity)
	}
	return n.String()
}

// base16 converts base64 to hexadecimal.
func base16(t *testing.T, text string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}
