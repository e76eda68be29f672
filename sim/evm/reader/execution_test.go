package reader

import (
	"context"
	"errors"
	"testing"
	"time"
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
