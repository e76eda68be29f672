package prometheus

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"sync"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// executionMetrics writes a C-Chain's acceptance, execution and settlement since Helicon under the names of avalanchego v1.15.0 (vms/saevm/saexec,
// sae and cchain, metrics.go). As there, counters begin with the process. Durations are left out: a block is executed when it is accepted.
type executionMetrics struct {
	miner *miner.Miner

	mu                 sync.Mutex
	accepted, executed blockCounter
}

// blockCounter sums the gas of a chain's blocks after those that it began with.
type blockCounter struct {
	number         uint64
	limit, charged uint64
}

func newExecutionMetrics(w *sim.World) (all []*executionMetrics) {
	for _, n := range w.Networks {
		m := w.MinerOf(n.CChain())
		e := &executionMetrics{miner: m}
		if head, err := m.Chain.Head(context.Background()); err == nil { // otherwise the client who asks gets the error
			e.accepted.number, e.executed.number = head.Number, head.Number
		}
		all = append(all, e)
	}
	return all
}

// count adds the blocks up to one. After a revert it goes on with the chain's present blocks.
func (c *blockCounter) count(ctx context.Context, chain *reader.Chain, last uint64) error {
	for c.number = min(c.number, last); c.number < last; c.number++ {
		b, err := chain.Block(ctx, c.number+1)
		if err != nil {
			return err
		}
		if b.Header.Asynchronous() {
			c.limit, c.charged = c.limit+b.Header.GasUsed, c.charged+b.Results.GasCharged
		}
	}
	return nil
}

// metric is a metric with its value on each network.
type metric struct {
	name, kind, help string
	values           []string
}

// writeExecution writes the metrics of the C-Chains that execute blocks after they accept them.
func writeExecution(ctx context.Context, text *bytes.Buffer, w *sim.World, all []*executionMetrics) error {
	var written []metric
	for _, e := range all {
		metrics, err := e.read(ctx, w)
		if err != nil {
			return err
		}
		for i, m := range metrics {
			if i == len(written) {
				written = append(written, metric{name: m.name, kind: m.kind, help: m.help})
			}
			written[i].values = append(written[i].values, fmt.Sprintf("{network=%q} %s", e.miner.Chain.Row.Network, m.values[0]))
		}
	}
	for _, m := range written {
		describe(text, m.name, m.kind, m.help)
		for _, value := range m.values {
			fmt.Fprintf(text, "%s%s\n", m.name, value)
		}
	}
	return nil
}

func (e *executionMetrics) read(ctx context.Context, w *sim.World) (all []metric, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	chain := e.miner.Chain
	head, err := chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	executed, err := e.miner.LastExecuted(ctx)
	if err != nil || !executed.Header.Asynchronous() {
		return nil, err
	}
	settled, err := e.miner.LastSettled(ctx)
	if err != nil {
		return nil, err
	}
	bound, err := chain.PriceBound(ctx, executed)
	if err != nil {
		return nil, err
	}
	if err := e.accepted.count(ctx, chain, head.Number); err != nil {
		return nil, err
	}
	if err := e.executed.count(ctx, chain, executed.Number); err != nil {
		return nil, err
	}
	waiting := uint64(0)
	for number := executed.Number + 1; number <= head.Number; number++ {
		b, err := chain.Block(ctx, number)
		if err != nil {
			return nil, err
		}
		waiting += b.Header.GasUsed
	}
	add := func(name, kind, help, format string, value any) {
		all = append(all, metric{"avalanche_evm_transition_" + name, kind, help, []string{fmt.Sprintf(format, value)}})
	}
	gauge := func(name, help string, value uint64) { add("sae_"+name, "gauge", help, "%d", value) }
	wei := func(name, help string, value *big.Int) { add("sae_"+name, "gauge", help, "%s", value) }
	seconds := func(name, help string, value float64) { add(name, "gauge", help, "%.3f", value) }
	counter := func(name, help string, value uint64) { add("sae_"+name, "counter", help, "%d", value) }
	gauge("last_executed_height", "Number of the last executed block.", executed.Number)
	gauge("last_settled_height", "Number of the last settled block.", settled.Number)
	gauge("execution_queue_blocks", "Accepted blocks that are not executed yet.", head.Number-executed.Number)
	gauge("execution_queue_gas_limit", "Worst-case gas of accepted blocks that are not executed yet.", waiting)
	counter("executed_gas_charged_total", "Gas charged by executed blocks.", e.executed.charged)
	counter("executed_gas_limit_total", "Worst-case gas of executed blocks.", e.executed.limit)
	counter("accepted_gas_limit_total", "Worst-case gas of accepted blocks.", e.accepted.limit)
	gasTime := executed.Results.GasTime(executed.Header)
	seconds("sae_last_executed_gas_time_seconds", "Gas time after the last executed block, Unix.", gasTime)
	seconds("sae_gas_time_wall_time_gap_seconds", "Gas time minus the world's time.", gasTime-float64(w.Clock.UnixMilli())/1000)
	wei("worst_case_base_fee", "Base fee in wei with which consensus accepted the last executed block.", executed.Header.BaseFee)
	wei("executed_base_fee", "Base fee in wei of the last executed block.", executed.Results.BaseFee)
	gauge("worst_case_gas_excess", "Gas excess after the last executed block at worst.", bound.Excess())
	gauge("executed_gas_excess", "Gas excess after the last executed block.", executed.Results.Excess)
	gauge("gas_target", "Gas target per second after the last executed block.", executed.Header.GasTarget())
	seconds("cchain_min_block_delay_seconds", "Least time from the last executed block to the next one (ACP-226).",
		float64(executed.Header.EarliestChild()-executed.Header.TimeMilliseconds)/1000)
	return all, nil
}
