package control

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"strconv"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TransactionGas is the answer of GET /sim/transactions/{txHash}.
type TransactionGas struct {
	ChainID   string `json:"chainId"`
	Network   string `json:"network"`
	Hash      string `json:"hash"`
	Block     string `json:"block" doc:"Number of the transaction's block."`
	Status    string `json:"status" enum:"accepted,executed,settled" doc:"Status of the block. Before Helicon and on an L1, a block settles as soon as it is accepted."`
	SettledBy string `json:"settledBy,omitempty" doc:"Number of the first block whose header contains the results; absent until there is one."`

	GasLimit   string `json:"gasLimit"`
	GasUsed    string `json:"gasUsed" doc:"Gas that the execution used."`
	GasCharged string `json:"gasCharged" doc:"The receipt's gasUsed: on a C-Chain since Helicon, at least half of the limit."`
	PriceBound string `json:"priceBound" doc:"Wei: the most that the transaction could pay for gas when its block was accepted."`
	PricePaid  string `json:"pricePaid" doc:"Wei: the receipt's effectiveGasPrice."`
	FeePaid    string `json:"feePaid" doc:"Wei: gasCharged times pricePaid."`
}

// RegisterTransactions registers the operation that explains a transaction's gas.
func RegisterTransactions(s *rest.Server, w *sim.World) error {
	return s.Register(rest.Sim, rest.Operation{
		ID: "explainGas", Path: "/sim/transactions/{txHash}", Summary: "The gas that an EVM chain's transaction used, was charged for and paid, and the status of its block",
		Doc:  "Executes the transaction again. If several chains have the hash, explains mainnet's first.",
		Live: true, Answer: reflect.TypeFor[TransactionGas](), Params: []rest.Param{{Name: "txHash", Kind: schema.KindHash}},
		Handle: func(r *rest.Request) (any, error) {
			c, t, err := transactionOf(r, w)
			if err != nil {
				return nil, err
			}
			return gasOf(r.Context(), w, c, t)
		},
	})
}

// transactionOf finds the transaction that a request names, in a block of the first EVM chain that has it.
func transactionOf(r *rest.Request, w *sim.World) (*reader.Chain, *reader.Transaction, error) {
	hash := r.Hash("txHash")
	for _, c := range w.Chains {
		if t, err := c.Transaction(r.Context(), hash); !errors.Is(err, store.ErrNotFound) {
			return c, t, err
		}
	}
	return nil, nil, rest.NotFound("no EVM chain has a transaction %s in a block", hash)
}

func gasOf(ctx context.Context, w *sim.World, c *reader.Chain, t *reader.Transaction) (*TransactionGas, error) {
	executed, err := w.MinerOf(c).LastExecuted(ctx)
	if err != nil {
		return nil, err
	}
	settled, err := c.SettledBy(ctx, t.Block)
	if err != nil {
		return nil, err
	}
	used, err := c.UsedGas(ctx, t)
	if err != nil {
		return nil, err
	}
	g := &TransactionGas{
		ChainID: decimal(c.Row.EVMID), Network: c.Row.Network, Hash: hexutil.Encode(t.Row.Hash), Block: decimal(t.Block.Number), Status: "executed",
		GasLimit: decimal(t.Gas()), GasUsed: decimal(used), GasCharged: decimal(t.Row.GasUsed),
		PriceBound: t.Bound().String(), PricePaid: t.Price().String(),
		FeePaid: new(big.Int).Mul(t.Price(), new(big.Int).SetUint64(t.Row.GasUsed)).String(),
	}
	switch {
	case t.Block.Number > executed.Number:
		g.Status = "accepted"
	case settled != nil:
		g.Status, g.SettledBy = "settled", decimal(settled.Number)
	}
	return g, nil
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
