// Part of TestEthclientWalksEveryChain: tokens, from their contracts and from the Data API.

package handlers_test

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// tokens asks each token contract of /sim/world for its name, symbol and so on.
func (w *walker) tokens() {
	standards := map[string]int{}
	for _, c := range w.chain.Contracts {
		if c.Token == nil {
			continue
		}
		standards[c.Token.Standard]++
		if name, symbol := w.text(c.Address, "name()"), w.text(c.Address, "symbol()"); name != c.Token.Name || symbol != c.Token.Symbol {
			w.Errorf("%s is %s (%s), /sim/world says %+v", c.Role, name, symbol, c.Token)
		}
		if (c.Token.Decimals != nil) != (c.Token.Standard == "ERC-20") {
			w.Errorf("%s: %+v", c.Role, c.Token)
		} else if c.Token.Decimals != nil && w.ask(c.Address, "decimals()")[31] != byte(*c.Token.Decimals) {
			w.Errorf("%s does not have %d decimals", c.Role, *c.Token.Decimals)
		}
	}
	if standards["ERC-20"] < 5 || standards["ERC-721"] == 0 || standards["ERC-1155"] == 0 {
		w.Errorf("tokens by standard: %v", standards)
	}
}

func (w *walker) ask(address, signature string) []byte {
	w.Helper()
	to := common.HexToAddress(address)
	answer, err := w.client.CallContract(w.Context(), ethereum.CallMsg{To: &to, Data: crypto.Keccak256([]byte(signature))[:4]}, nil)
	if err != nil || len(answer) < 32 {
		w.Fatalf("%s of %s: %x, %v", signature, address, answer, err)
	}
	return answer
}

// text decodes a string, or the zero-padded word that old contracts return.
func (w *walker) text(address, signature string) string {
	w.Helper()
	answer := w.ask(address, signature)
	if len(answer) == 32 {
		return string(bytes.TrimRight(answer, "\x00"))
	}
	return string(answer[64 : 64+new(big.Int).SetBytes(answer[32:64]).Int64()])
}
