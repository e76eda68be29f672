package textlog_test

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"snowglobe/handlers/textlog"
)

func TestLines(t *testing.T) {
	var b bytes.Buffer
	for _, color := range []bool{false, true} {
		b.Reset()
		log := slog.New(textlog.New(&b, slog.LevelInfo, color))
		log.Info("request", "method", "GET", "path", "/v1/chains/abc", "query", "a=1", "interface", "data", "operation", "getChain", "status", 400, "took_ms", 0.26, "cause", "chainId \"abc\" is\x1b[2J not allowed")
		log.Info("request", "method", "POST", "path", "/ext/bc/C/rpc", "interface", "node", "operation", "batch", "calls", []string{"eth_chainId", "eth_call: 3 execution reverted"}, "status", 200, "took_ms", 1234.5, "fault", "rule 1: delay 1s")
		log.With("logger", "C").Error("no block", "error", "disk is full")
		log.Debug("nothing")
		got := b.String()
		if color {
			if !strings.Contains(got, "\x1b[33m400\x1b[0m") {
				t.Errorf("in colour: %q", got)
			}
			continue
		}
		for i, want := range []string{
			`GET /v1/chains/abc?a=1 400 0.3ms "chainId \"abc\" is\x1b[2J not allowed"`,
			`POST /ext/bc/C/rpc batch[eth_chainId, eth_call: 3 execution reverted] 200 1.235s fault: rule 1: delay 1s`,
			`level=ERROR msg="no block" logger=C error="disk is full"`,
		} {
			_, line, _ := strings.Cut(strings.Split(got, "\n")[i], " ") // after the time
			if line != want {
				t.Errorf("line %d is %s: want %s", i, line, want)
			}
		}
	}
}

func TestColorIsForTerminalsOnly(t *testing.T) {
	if textlog.Color(&bytes.Buffer{}) {
		t.Error("a buffer gets colours")
	}
	null, err := os.Open(os.DevNull) // a character device, like a terminal
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	if textlog.Color(null) {
		t.Error("NO_COLOR is not heeded")
	}
}
