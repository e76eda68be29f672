package reader

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
)

// TestLogsAreBounded stops a search that finds too many logs.
func TestLogsAreBounded(t *testing.T) {
	s := &logSearch{filter: &LogFilter{}}
	var err error
	for i := 0; err == nil && i < 2*MaxLogs; i++ {
		err = s.add(&types.Log{})
	}
	if err == nil || len(s.found) != MaxLogs+1 || !strings.Contains(err.Error(), "more than 50000 results") {
		t.Errorf("%d logs: %v", len(s.found), err)
	}
}
