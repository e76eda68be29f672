package datatest

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// Sender makes blocks of alice's transactions on a chain, like a client.
type Sender struct {
	t       testing.TB
	g       *Globe
	c       *reader.Chain
	builder *evm.Builder
	key     []byte
}

// NewSender continues after the newest block of a chain.
func NewSender(t testing.TB, g *Globe, c *reader.Chain) *Sender {
	t.Helper()
	b, err := reader.Restore(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Sender{t, g, c, b, g.persona(t, "alice").Key}
}

// Send puts one transaction into its own block and returns the created contract.
func (s *Sender) Send(to *common.Address, value *big.Int, data []byte) common.Address {
	s.t.Helper()
	key, err := crypto.ToECDSA(s.key)
	if err != nil {
		s.t.Fatal(err)
	}
	alice := crypto.PubkeyToAddress(key.PublicKey)
	head, _ := s.builder.Head()
	p, err := s.builder.Open(1000 * (head.Time + 10))
	if err != nil {
		s.t.Fatal(err)
	}
	fee := new(big.Int).Mul(p.Header().BaseFee, big.NewInt(2))
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(s.c.Row.EVMID)), &types.DynamicFeeTx{
		Nonce: p.Nonce(alice), GasFeeCap: fee, GasTipCap: big.NewInt(1), Gas: 3_000_000, To: to, Value: value, Data: data,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	receipt, err := p.Apply(tx, alice)
	if err != nil || receipt.Status != 1 {
		s.t.Fatalf("%v, status %d", err, receipt.Status)
	}
	delta, err := p.Seal()
	if err != nil {
		s.t.Fatal(err)
	}
	batch, err := s.g.DB.Begin()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := batch.End(batch.AddBlock(delta)); err != nil {
		s.t.Fatal(err)
	}
	return receipt.ContractAddress
}
