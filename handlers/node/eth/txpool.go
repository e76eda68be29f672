package eth

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/sim/evm/txpool"
)

// txpoolAPI implements the txpool namespace: internal/ethapi.TxPoolAPI.
type txpoolAPI struct{ *api }

// waiting returns the pool's transactions, ready or not.
type waiting[T any] struct {
	Pending T `json:"pending"`
	Queued  T `json:"queued"`
}

// byNonce maps nonces to an account's transactions, in one form or another; bySender maps accounts to these.
type (
	byNonce[T any]  map[string]T
	bySender[T any] map[string]byNonce[T]
)

type jsonText = json.RawMessage

// Status counts the pool's transactions.
func (a *txpoolAPI) Status() waiting[hexutil.Uint] {
	pending, queued := a.miner.Pool.Count()
	return waiting[hexutil.Uint]{hexutil.Uint(pending), hexutil.Uint(queued)}
}

// Content lists the pool's transactions.
func (a *txpoolAPI) Content() waiting[bySender[jsonText]] {
	return contentOf(a.miner.Pool, marshal.Pooled)
}

// ContentFrom lists one sender's transactions in the pool.
func (a *txpoolAPI) ContentFrom(address common.Address) waiting[byNonce[jsonText]] {
	pending, queued := a.miner.Pool.Of(address)
	return waiting[byNonce[jsonText]]{nonces(pending, marshal.Pooled), nonces(queued, marshal.Pooled)}
}

// Inspect summarises the pool's transactions.
func (a *txpoolAPI) Inspect() waiting[bySender[string]] { return contentOf(a.miner.Pool, summary) }

func contentOf[T any](p *txpool.Pool, form func(*txpool.Transaction) T) waiting[bySender[T]] {
	all := waiting[bySender[T]]{bySender[T]{}, bySender[T]{}}
	for _, address := range p.Senders() {
		pending, queued := p.Of(address)
		if len(pending) > 0 {
			all.Pending[address.Hex()] = nonces(pending, form)
		}
		if len(queued) > 0 {
			all.Queued[address.Hex()] = nonces(queued, form)
		}
	}
	return all
}

func nonces[T any](all []*txpool.Transaction, form func(*txpool.Transaction) T) byNonce[T] {
	forms := byNonce[T]{}
	for _, t := range all {
		forms[strconv.FormatUint(t.Nonce(), 10)] = form(t)
	}
	return forms
}

func summary(t *txpool.Transaction) string {
	to := "contract creation"
	if t.To() != nil {
		to = t.To().Hex()
	}
	return fmt.Sprintf("%s: %v wei + %v gas × %v wei", to, t.Value(), t.Gas(), t.GasPrice())
}
