package explain

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm/reader"
)

// GasReport is what transactions to contracts used since a server began.
type GasReport struct {
	Functions []FunctionGas `json:"functions" doc:"Sorted by network, chain, contract and function."`
	Left      int           `json:"left,omitempty" doc:"Number of older transactions that the report leaves out; absent if none."`
}

// FunctionGas is the gas of the transactions that called a function.
type FunctionGas struct {
	Network  string `json:"network"`
	ChainID  string `json:"chainId"`
	Contract string `json:"contract" doc:"Name or, without an artifact, address."`
	Function string `json:"function" doc:"Name with the types of its parameters; constructor for deployments; the selector if no function is known."`
	Calls    int    `json:"calls"`
	Failed   int    `json:"failed"`
	Used     Spread `json:"used" doc:"Gas that the executions used."`
	Charged  Spread `json:"charged" doc:"Gas as in receipts: on a C-Chain since Helicon, at least half of the limit."`
}

// Spread describes several amounts of gas.
type Spread struct {
	Least  string `json:"least"`
	Median string `json:"median"`
	Most   string `json:"most"`
}

// mostReported bounds the transactions of a report, the newest ones: each is executed again on a C-Chain since Helicon.
const mostReported = 5_000

// Session is the beginning of a server's session: its chains with their heads.
type Session struct {
	chains []*reader.Chain
	heads  []uint64
}

// Begin returns the session that begins now.
func Begin(ctx context.Context, chains []*reader.Chain) (*Session, error) {
	s := &Session{chains, make([]uint64, len(chains))}
	for i, c := range chains {
		head, err := c.Head(ctx)
		if err != nil {
			return nil, err
		}
		s.heads[i] = head.Number
	}
	return s, nil
}

type functionKey struct {
	chain              int
	contract, function string
}

type amounts struct {
	used, charged []uint64
	failed        int
}

// Gas reports on the transactions to contracts since a session began.
func (e *Explainer) Gas(ctx context.Context, s *Session) (*GasReport, error) {
	all, report := map[functionKey]*amounts{}, &GasReport{Functions: []FunctionGas{}}
	count := 0
	for i, c := range s.chains {
		head, err := c.Head(ctx)
		if err != nil {
			return nil, err
		}
		names := map[common.Address]string{}
		for number := head.Number; number > s.heads[i]; number-- {
			b, err := c.Block(ctx, number)
			if err != nil {
				return nil, err
			}
			transactions, err := c.Transactions(ctx, b)
			if err != nil {
				return nil, err
			}
			for _, t := range transactions {
				if count++; count > mostReported {
					report.Left++
					continue
				}
				contract, function, err := e.called(ctx, c, head, t, names)
				if err != nil {
					return nil, err
				}
				if contract == "" {
					continue
				}
				used, err := c.UsedGas(ctx, t)
				if err != nil {
					return nil, err
				}
				key := functionKey{i, contract, function}
				if all[key] == nil {
					all[key] = &amounts{}
				}
				a := all[key]
				a.used, a.charged = append(a.used, used), append(a.charged, t.Row.GasUsed)
				if t.Row.Status == types.ReceiptStatusFailed {
					a.failed++
				}
			}
		}
	}
	for key, a := range all {
		row := &s.chains[key.chain].Row
		report.Functions = append(report.Functions, FunctionGas{row.Network, strconv.FormatUint(row.EVMID, 10), key.contract, key.function, len(a.used), a.failed, spreadOf(a.used), spreadOf(a.charged)})
	}
	slices.SortFunc(report.Functions, func(a, b FunctionGas) int {
		return cmp.Or(cmp.Compare(a.Network, b.Network), cmp.Compare(a.ChainID, b.ChainID), cmp.Compare(a.Contract, b.Contract), cmp.Compare(a.Function, b.Function))
	})
	return report, nil
}

func spreadOf(gas []uint64) Spread {
	slices.Sort(gas)
	middle := gas[len(gas)/2]
	if len(gas)%2 == 0 {
		middle = (gas[len(gas)/2-1] + middle) / 2
	}
	text := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return Spread{text(gas[0]), text(middle), text(gas[len(gas)-1])}
}

// called names what a transaction called: nothing if it only sent coins.
func (e *Explainer) called(ctx context.Context, c *reader.Chain, head *reader.Block, t *reader.Transaction, names map[common.Address]string) (contract, function string, err error) {
	to := t.To()
	if to == nil {
		if known := e.Registry.Creation(t.Data()); known != nil {
			return known.Name, "constructor", nil
		}
		return "unknown", "constructor", nil
	}
	own, target, err := e.ContractAt(ctx, c, head, *to)
	if err != nil {
		return "", "", err
	}
	name, known := names[*to]
	if !known {
		switch {
		case target != nil:
			name = target.Name
		case own != nil:
			name = own.Name
		default:
			states, err := c.State(ctx, head)
			if err != nil {
				return "", "", err
			}
			if states.GetCodeSize(*to) > 0 {
				name = to.Hex()
			}
		}
		names[*to] = name
	}
	target = cmp.Or(target, own)
	switch d := e.Registry.Call(target, t.Data()); {
	case d != nil:
		function = d.Signature
	case len(t.Data()) >= 4:
		function = hexutil.Encode(t.Data()[:4])
	default:
		function = "receive"
	}
	return name, function, nil
}
