package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
)

// Scope defines an export.
type Scope struct {
	Type     Type                     `json:"type"`
	From     int64                    `json:"from,omitempty"`     // Unix seconds, the beginning of a day; 0 for the beginning of time
	Until    int64                    `json:"until,omitempty"`    // Unix seconds, the end of a day, exclusive; 0 for no end
	MaxRows  int64                    `json:"maxRows,omitempty"`  // 0 for no limit
	Accounts []common.Address         `json:"accounts,omitempty"` // on EVM chains
	Owners   map[string][]ids.ShortID `json:"owners,omitempty"`   // of outputs, by network
	Chains   []ChainRef               `json:"lanes"`
}

// Kind is the way to read a chain.
type Kind string

// Kinds of chains. The C-Chain has two: one as an EVM chain, one as a chain of the primary network.
const (
	KindEVM Kind = "EVM"
	KindP   Kind = "P"
	KindX   Kind = "X"
	KindC   Kind = "C"
)

// ChainRef names one of an export's chains, and its head at the time of the request.
type ChainRef struct {
	Kind    Kind   `json:"kind"`
	Network string `json:"network"`           // mainnet or fuji
	ChainID uint64 `json:"chainId,omitempty"` // of an EVM chain
	Head    uint64 `json:"head"`              // the last included block
}

// ParseScope parses the output of Text.
func ParseScope(text string) (s Scope, err error) {
	if err = json.Unmarshal([]byte(text), &s); err == nil && s.Type.table() == nil {
		err = fmt.Errorf("type %q is not known", s.Type)
	}
	return s, err
}

// Text encodes the scope for the file.
func (s *Scope) Text() (string, error) {
	raw, err := json.Marshal(s)
	return string(raw), err
}

// Before returns the scope without the days from one on.
func (s Scope) Before(day int64) Scope {
	if day != 0 {
		s.Until = day
	}
	return s
}

var errNoChain = errors.New("the chain does not exist")

// chainSource locates the rows of one of the chains.
type chainSource struct {
	ChainRef
	rules  *rules.Network // of a primary chain
	evm    *reader.Chain  // of an EVM chain and of a C-Chain
	blocks int            // the chain to which the blocks belong
	rows   int            // the chain to which the transactions belong
}

func openChain(w *sim.World, ref ChainRef) (*chainSource, error) {
	s := &chainSource{ChainRef: ref}
	if ref.Kind == KindEVM {
		if s.evm = w.ChainByEVMID(ref.ChainID); s.evm == nil {
			return nil, fmt.Errorf("chain %d: %w", ref.ChainID, errNoChain)
		}
		s.blocks, s.rows = s.evm.Row.ID, s.evm.Row.ID
		return s, nil
	}
	n := w.NetworkNamed(ref.Network)
	if n == nil {
		return nil, fmt.Errorf("%s of %q: %w", ref.Kind, ref.Network, errNoChain)
	}
	s.rules, s.rows = n.Rules, n.Chain(s.primary())
	s.blocks = s.rows
	if s.evm = n.CChain(); s.evm == nil {
		return nil, fmt.Errorf("C-Chain of %s: %w", ref.Network, errNoChain)
	}
	if ref.Kind == KindC {
		s.blocks = s.evm.Row.ID
	}
	return s, nil
}

func (l *ChainRef) primary() txs.Chain {
	return map[Kind]txs.Chain{KindP: txs.PChain, KindX: txs.XChain, KindC: txs.CChain}[l.Kind]
}

// Height returns the number of the newest block on a lane's chain.
func Height(ctx context.Context, w *sim.World, l ChainRef) (uint64, error) {
	s, err := openChain(w, l)
	if err != nil {
		return 0, err
	}
	if l.Kind == KindP || l.Kind == KindX {
		head, err := w.DB.PrimaryHead(ctx, s.blocks)
		return head.ID.Number(), err
	}
	head, err := w.DB.Head(ctx, s.blocks)
	return head.ID.Number(), err
}
