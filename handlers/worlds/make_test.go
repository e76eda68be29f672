package worlds

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// TestCopiesTakeTurns: only the allowed number of copies is made at a time, and a client that gives up no longer waits.
func TestCopiesTakeTurns(t *testing.T) {
	s := &Set{copying: make(chan struct{}, copiesAtOnce)}
	var all sync.WaitGroup
	begun, proceed := make(chan struct{}, 10), make(chan struct{})
	for range 10 {
		all.Go(func() {
			err := s.inTurn(t.Context(), func() error {
				begun <- struct{}{}
				<-proceed
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range copiesAtOnce {
		<-begun
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.inTurn(gone, func() error { t.Error("made out of turn"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was given up", err)
	}
	if len(begun) > 0 {
		t.Errorf("%d more are being made than may be", len(begun))
	}
	close(proceed)
	all.Wait()
	if len(begun) != 10-copiesAtOnce {
		t.Errorf("%d were made later", len(begun))
	}
}
