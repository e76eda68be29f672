package eth

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// txpoolAPI has the methods of the txpool namespace. The pool is always empty: a transaction is in a block or nowhere.
type txpoolAPI struct{}

// pool is what waits, ready or not.
type pool[T any] struct {
	Pending T `json:"pending"`
	Queued  T `json:"queued"`
}

type nothing map[string]struct{}

func emptyPool() pool[nothing] { return pool[nothing]{nothing{}, nothing{}} }

// Status counts the transactions that wait.
func (a *txpoolAPI) Status() pool[hexutil.Uint] { return pool[hexutil.Uint]{} }

// Content lists the transactions that wait.
func (a *txpoolAPI) Content() pool[nothing] { return emptyPool() }

// ContentFrom lists the transactions of one sender that wait.
func (a *txpoolAPI) ContentFrom(common.Address) pool[nothing] { return emptyPool() }

// Inspect sums up the transactions that wait.
func (a *txpoolAPI) Inspect() pool[nothing] { return emptyPool() }
