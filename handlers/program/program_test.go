package program_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"snowglobe/handlers/program"
	"snowglobe/sim/store"
)

// TestTheCauseIsToldOnce: an error's cause follows its sentence on a separate line, in the words of the engine or the system.
func TestTheCauseIsToldOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		said string
		code int
	}{
		{"nothing", nil, "", 0},
		{"an error without a cause", errors.New("no such profile"), "snowglobe: no such profile\n", 1},
		{"an error that hides its cause", fmt.Errorf("generate: %w", store.FailedDisk(errors.New("quota exceeded"))),
			"snowglobe: generate: " + store.ErrDisk.Error() + "\nsnowglobe: cause: quota exceeded\n", 1},
		{"an error that tells its cause", fmt.Errorf("quota exceeded: %w", store.FailedDisk(errors.New("quota exceeded"))),
			"snowglobe: quota exceeded: " + store.ErrDisk.Error() + "\n", 1},
		{"a command's own code", &program.ExitError{Code: 5}, "", 5},
	} {
		var stderr strings.Builder
		if code := program.ExitCode(c.err, &stderr); code != c.code || stderr.String() != c.said {
			t.Errorf("%s: %d %q, want %d %q", c.name, code, &stderr, c.code, c.said)
		}
	}
}
