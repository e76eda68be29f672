// Set-up shared by the tests of a whole server.

package handlers_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// leftover is the folder of the built program, if a test needed it. The race detector does not instrument that program, so tests that only run it are
// left out under the detector.
var leftover string

// roles lists what this binary does instead of testing, as a separate process, if a variable names a role.
var roles = map[string]func() error{}

const roleVariable = "HANDLERS_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(bareVariable) != "" {
		if err := serveBare(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		if err := role(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if leftover != "" {
		os.RemoveAll(leftover)
	}
	os.Exit(code)
}

var update = flag.Bool("update", false, "write down what the program says to mistakes, and a session of random actions")

// times returns the number of tries: a quarter of n in a short run.
func times(t testing.TB, n int) int {
	if testing.Short() {
		t.Log("left out of a short run: three of four")
		return (n + 3) / 4
	}
	return n
}
