package reader

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/store"
)

// TestExecutionsAreBounded begins as many executions as the process serves at once, on several chains.
func TestExecutionsAreBounded(t *testing.T) {
	var leave []func()
	for range maxExecutions {
		_, done, err := (&Chain{}).acquire(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, done)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := (&Chain{}).acquire(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more execution begins: %v", err)
	}
	for _, done := range leave {
		done()
	}
}

// TestLogsAreBounded stops a search that finds too many logs.
func TestLogsAreBounded(t *testing.T) {
	found := 0
	s := &logSearch{filter: &LogFilter{}, each: func(store.Position, *types.Log) { found++ }}
	var err error
	for i := 0; err == nil && i < 2*MaxLogs; i++ {
		err = s.add(&store.LogView{})
	}
	if err == nil || found != MaxLogs || !strings.Contains(err.Error(), "more than 50000 results") {
		t.Errorf("%d logs: %v", found, err)
	}
}
