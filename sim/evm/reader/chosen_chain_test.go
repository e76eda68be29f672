package reader_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// payment is a transaction of the chain's only sender, a transfer of nothing to nobody in particular unless it says otherwise.
type payment struct {
	tip, most int64 // per unit of gas; most is 0 for no bound
	gas       uint64
	value     int64
	to        *common.Address
	create    bool
	data      []byte
}

var nobody = common.HexToAddress("0x0b0d1")

// newChosenChain makes a chain without blocks after the first, for blocks with chosen transactions.
func newChosenChain(t testing.TB, kind evm.Kind, helicon bool) *randomChain {
	c := newRandomChain(t, kind, 1, 0)
	if helicon {
		at := uint64(1_775_000_000)
		c.NetworkContext.Helicon = &at
		c.builder.SetNetworkContext(c.NetworkContext)
	}
	return c
}

// newPaidChain makes a chain whose newest block has one payment.
func newPaidChain(t testing.TB, kind evm.Kind) (*randomChain, *reader.Block) {
	t.Helper()
	c := newChosenChain(t, kind, false)
	c.with(1_775_000_010, payment{})
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, head
}

// with adds a block with transactions, and returns them with their logs.
func (c *randomChain) with(time uint64, payments ...payment) (made []*types.Transaction) {
	c.t.Helper()
	p, err := c.builder.Open(1000 * time)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, pay := range payments {
		to, most, gas := &nobody, big.NewInt(1e12), uint64(21_000)
		if pay.to != nil || pay.create {
			to = pay.to
		}
		if pay.most > 0 {
			most = big.NewInt(pay.most)
		}
		if pay.gas > 0 {
			gas = pay.gas
		}
		tx := types.MustSignNewTx(c.key, types.LatestSignerForChainID(big.NewInt(43114)), &types.DynamicFeeTx{ChainID: big.NewInt(43114), Nonce: p.Nonce(c.from),
			GasTipCap: big.NewInt(pay.tip), GasFeeCap: most, Gas: gas, To: to, Value: big.NewInt(pay.value), Data: pay.data})
		if r, err := p.Apply(tx, c.from); err != nil || r.Status != 1 {
			c.t.Fatal(err, r)
		}
		made = append(made, tx)
	}
	delta, err := p.Seal()
	if err != nil {
		c.t.Fatal(err)
	}
	publish(c.t, c.db, c.Chain, delta)
	return made
}
