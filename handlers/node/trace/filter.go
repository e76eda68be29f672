package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
)

// Limits of one search. It may have to re-execute every transaction in its blocks, within the time limit of a call.
const (
	maxBlocks = 10_000
	maxTraces = 10_000
)

// filter selects traces, as in anvil and Erigon.
type filter struct {
	FromBlock   *eth.BlockRef    `json:"fromBlock"` // default: the first block
	ToBlock     *eth.BlockRef    `json:"toBlock"`   // default: the head
	FromAddress []common.Address `json:"fromAddress"`
	ToAddress   []common.Address `json:"toAddress"`
	Mode        string           `json:"mode"`  // intersection: both addresses must match; union (the default): one of them
	After       eth.Quantity     `json:"after"` // number of matches to skip
	Count       *eth.Quantity    `json:"count"`
}

// parties returns a trace's caller, creator or destroyed contract, and its callee, created contract or beneficiary.
type parties struct {
	Type   string
	Action struct{ From, To, Address, RefundAddress *common.Address }
	Result struct{ Address *common.Address }
}

func (p *parties) addresses() (from, to *common.Address) {
	switch p.Type {
	case "create":
		return p.Action.From, p.Result.Address
	case "suicide":
		return p.Action.Address, p.Action.RefundAddress
	}
	return p.Action.From, p.Action.To
}

func isAmong(wanted []common.Address, address *common.Address) bool {
	return address != nil && slices.Contains(wanted, *address)
}

func (f *filter) wants(trace json.RawMessage) (bool, error) {
	if len(f.FromAddress) == 0 && len(f.ToAddress) == 0 {
		return true, nil
	}
	var p parties
	if err := json.Unmarshal(trace, &p); err != nil {
		return false, err
	}
	from, to := p.addresses()
	sent, received := isAmong(f.FromAddress, from), isAmong(f.ToAddress, to)
	if f.Mode == "intersection" {
		return (sent || len(f.FromAddress) == 0) && (received || len(f.ToAddress) == 0), nil
	}
	return sent || received, nil
}

// blocks returns the filter's block range, cut off at the head.
func (f *filter) blocks(ctx context.Context, a *api) (first, last uint64, err error) {
	head, err := a.miner.LastExecuted(ctx)
	if err != nil {
		return 0, 0, err
	}
	number := func(ref *eth.BlockRef, otherwise uint64) (uint64, error) {
		if ref == nil {
			return otherwise, nil
		}
		b, err := eth.ExecutedBlockOf(ctx, a.miner, ref)
		switch {
		case eth.Missing(err):
			return head.Number + 1, nil
		case err != nil:
			return 0, err
		case b.Pending():
			return 0, errPending
		}
		return b.Number, nil
	}
	if first, err = number(f.FromBlock, 0); err != nil {
		return 0, 0, err
	}
	if last, err = number(f.ToBlock, max(head.Number, first)); err != nil {
		return 0, 0, err
	}
	if first > last {
		return 0, 0, eth.ParamsError(fmt.Sprintf("fromBlock (%d) is after toBlock (%d)", first, last))
	}
	if last = min(last, head.Number); last >= first && last-first >= maxBlocks {
		return 0, 0, eth.ParamsError(fmt.Sprintf("the range has %d blocks: expected at most %d; narrow fromBlock and toBlock", last-first+1, maxBlocks))
	}
	return first, last, nil
}

// Filter returns the traces in a range of blocks that involve certain addresses, one page of them if count is given.
func (a *api) Filter(ctx context.Context, f filter) (rpc.Result, error) {
	if f.Mode != "" && f.Mode != "union" && f.Mode != "intersection" {
		return rpc.Result{}, eth.ParamsError(fmt.Sprintf("mode is %q: expected union or intersection", f.Mode))
	}
	first, last, err := f.blocks(ctx, a)
	if err != nil {
		return rpc.Result{}, err
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return rpc.Result{}, err
	}
	limits := a.miner.Chain.Limits
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, fmt.Errorf("the search took longer than %s; narrow fromBlock and toBlock", limits.Time))
	defer cancel()
	s := search{filter: f, found: []json.RawMessage{}}
	for number := first; number <= last && !s.full(); number++ {
		b, err := a.miner.Chain.Block(ctx, number)
		if err != nil {
			return rpc.Result{}, err
		}
		traces, err := a.ofBlock(ctx, b)
		if ctx.Err() != nil {
			return rpc.Result{}, context.Cause(ctx)
		}
		if err != nil {
			return rpc.Result{}, err
		}
		if err := s.add(traces, limits.Trace); err != nil {
			return rpc.Result{}, err
		}
	}
	return rpc.List(s.found), nil
}

// search collects a page of traces.
type search struct {
	filter
	passed uint64 // before the page
	found  []json.RawMessage
	size   int
}

func (s *search) full() bool { return s.Count != nil && uint64(len(s.found)) >= uint64(*s.Count) }

func (s *search) add(traces []json.RawMessage, limit int) error {
	for _, trace := range traces {
		if s.full() {
			return nil
		}
		wanted, err := s.wants(trace)
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		if s.passed < uint64(s.After) {
			s.passed++
			continue
		}
		s.found, s.size = append(s.found, trace), s.size+len(trace)
		if len(s.found) > maxTraces || s.size > limit {
			return eth.ParamsError(fmt.Sprintf("there are more than %d traces, or more than %d bytes of them; request a page with after and count", maxTraces, limit))
		}
	}
	return nil
}
