package module_test

import (
	"testing"
	"time"

	"snowglobe/handlers/snowglobetest"
)

// TestBobIsPaid runs a simulator inside the test, which needs a clone of Snowglobe beside the project:
//
//	git clone … ../snowglobe
//	go mod edit -require snowglobe@v0.0.0 -replace snowglobe=../snowglobe
//	go mod tidy
func TestBobIsPaid(t *testing.T) {
	s := snowglobetest.Run(t)
	if alice := s.Persona("alice"); alice.Key == nil || alice.Addresses[snowglobetest.Mainnet].P == "" {
		t.Errorf("%+v", alice)
	}
	before, snapshot := s.Now(), s.Snapshot()
	s.Advance(36 * time.Hour)
	s.Mine(snowglobetest.C, 2)
	s.Revert(snapshot)
	if !s.Now().Equal(before) {
		t.Errorf("it is %s, it was %s", s.Now(), before)
	}
}
