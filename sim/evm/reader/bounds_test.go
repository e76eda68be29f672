package reader_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestExecutionsAreBounded starts as many executions as the process allows at a time, on several chains.
func TestExecutionsAreBounded(t *testing.T) {
	c, b, call, _ := bomb(t, loopCode)
	begins := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := c.Call(ctx, b, call, reader.Overrides{})
		return err
	}
	ctx, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	execute := func() {
		c, b, call, endless := bomb(t, loopCode)
		c.Limits.Gas, c.Limits.Time = math.MaxUint64/2, time.Minute
		all.Go(func() { _, _ = c.Call(ctx, b, call, endless) }) // never ends
	}
	for range 2 {
		execute()
	}
	time.Sleep(10 * time.Millisecond)
	if err := begins(10 * time.Second); err != nil {
		t.Errorf("the third execution: %v", err)
	}
	execute()
	err := begins(100 * time.Millisecond)
	for end := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(end); err = begins(100 * time.Millisecond) {
		time.Sleep(time.Millisecond) // until the third runs
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more execution begins: %v", err)
	}
	leave()
	all.Wait()
	if err := begins(10 * time.Second); err != nil {
		t.Errorf("after the others: %v", err)
	}
}

// TestLogsAreBounded stops a search that finds too many logs.
func TestLogsAreBounded(t *testing.T) {
	c := newRandomChain(t, evm.KindC, 1, 0)
	delta := c.sealed(1_775_000_010)
	if len(delta.Logs) == 0 {
		t.Fatal("the block has no logs")
	}
	for log := delta.Logs[len(delta.Logs)-1]; len(delta.Logs) <= reader.MaxLogs; {
		log.ID++
		delta.Logs = append(delta.Logs, log)
	}
	publish(t, c.db, c.Chain, delta)
	found := 0
	err := c.EachLog(t.Context(), &reader.LogFilter{}, 0, 1, func(store.Position, *types.Log) { found++ })
	if err == nil || found != reader.MaxLogs || !strings.Contains(err.Error(), "more than 50000 results") {
		t.Errorf("%d logs: %v", found, err)
	}
}
