package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	evmreader "snowglobe/sim/evm/reader"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Scope is what an export is about.
type Scope struct {
	Type     Type                     `json:"type"`
	From     int64                    `json:"from,omitempty"`     // Unix seconds, the beginning of a day; 0 for the beginning of time
	Until    int64                    `json:"until,omitempty"`    // Unix seconds, the end of a day, exclusive; 0 for no end
	MaxRows  int64                    `json:"maxRows,omitempty"`  // 0 for no limit
	Accounts []common.Address         `json:"accounts,omitempty"` // of EVM chains
	Owners   map[string][]ids.ShortID `json:"owners,omitempty"`   // of outputs, by network
	Chains   []ChainRef               `json:"lanes"`
}

// Kind says how a chain is read.
type Kind string

// The kinds of chains. The C-Chain has two sides: as an EVM chain, and as one of the primary network's chains.
const (
	KindEVM Kind = "EVM"
	KindP   Kind = "P"
	KindX   Kind = "X"
	KindC   Kind = "C"
)

// ChainRef is one of the chains that an export reads, as it was when it was asked for.
type ChainRef struct {
	Kind    Kind   `json:"kind"`
	Network string `json:"network"`           // mainnet or fuji
	ChainID uint64 `json:"chainId,omitempty"` // of an EVM chain
	Head    uint64 `json:"head"`              // the last block that counts
}

// ParseScope reads what Text wrote.
func ParseScope(text string) (s Scope, err error) {
	if err = json.Unmarshal([]byte(text), &s); err == nil && s.Type.table() == nil {
		err = fmt.Errorf("type %q is not known", s.Type)
	}
	return s, err
}

// Text is the scope as the file keeps it.
func (s *Scope) Text() (string, error) {
	raw, err := json.Marshal(s)
	return string(raw), err
}

// Before is the scope without the days from one on.
func (s Scope) Before(day int64) Scope {
	if day != 0 {
		s.Until = day
	}
	return s
}

// Source is what an export reads.
type Source struct {
	DB     *store.DB
	Seed   int64 // decides prices
	Chains []*evmreader.Chain
}

var errNoChain = errors.New("the chain does not exist")

// chainSource is where the rows of one of the chains are found.
type chainSource struct {
	ChainRef
	rules  *rules.Network   // of a primary chain
	evm    *evmreader.Chain // of an EVM chain and of a C-Chain
	blocks int              // the chain to which the blocks belong
	rows   int              // the chain to which the transactions belong
}

// chainSource finds the rows of a chain.
func (w *Source) chainSource(l ChainRef) (*chainSource, error) {
	s := &chainSource{ChainRef: l}
	if l.Kind == KindEVM {
		for _, c := range w.Chains {
			if c.Row.EVMID == l.ChainID {
				s.evm, s.blocks, s.rows = c, c.Row.ID, c.Row.ID
				return s, nil
			}
		}
		return nil, fmt.Errorf("chain %d: %w", l.ChainID, errNoChain)
	}
	known, err := fixtures.NetworkNamed(l.Network)
	if err != nil {
		return nil, err
	}
	if s.rules, err = rules.NetworkByID(known.ID); err != nil {
		return nil, err
	}
	s.rows = store.PrimaryChain(rules.Index(known.ID), int(s.primary()))
	s.blocks = s.rows
	if s.evm = w.cChain(s.rules); s.evm == nil {
		return nil, fmt.Errorf("C-Chain of %s: %w", l.Network, errNoChain)
	}
	if l.Kind == KindC {
		s.blocks = s.evm.Row.ID
	}
	return s, nil
}

// cChain is the EVM side of a network's C-Chain.
func (w *Source) cChain(rules *rules.Network) *evmreader.Chain {
	for _, c := range w.Chains {
		if ids.ID(c.Row.BlockchainID) == rules.CChainID {
			return c
		}
	}
	return nil
}

// primary is which of the primary network's chains a lane is.
func (l *ChainRef) primary() txs.Chain {
	return map[Kind]txs.Chain{KindP: txs.PChain, KindX: txs.XChain, KindC: txs.CChain}[l.Kind]
}

// Height is the number of the newest block on the chain of a lane.
func (w *Source) Height(ctx context.Context, l ChainRef) (uint64, error) {
	s, err := w.chainSource(l)
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
