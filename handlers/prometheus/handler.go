package prometheus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"snowglobe/fixtures"
	"snowglobe/handlers/node"
	"snowglobe/sim"
)

// Handler serves the counts, the chains' heights, the execution of the C-Chains and the process's resources, in Prometheus's text format.
func (m *Requests) Handler(w *sim.World, n *node.Node, worlds func() int) http.Handler {
	executions := newExecutionMetrics(w)
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		var text bytes.Buffer
		if err := errors.Join(writeHeights(r.Context(), &text, w, n), writeExecution(r.Context(), &text, w, executions)); err != nil {
			http.Error(answer, "the world's file could not be read", http.StatusInternalServerError)
			return
		}
		describe(&text, "snowglobe_worlds", "gauge", "Worlds of this process.")
		fmt.Fprintf(&text, "snowglobe_worlds %d\n", worlds())
		describe(&text, "snowglobe_repeated_calls_total", "counter", "JSON-RPC calls answered with remembered results.")
		fmt.Fprintf(&text, "snowglobe_repeated_calls_total %d\n", n.Repeated())
		writeProcess(&text)
		m.write(&text)
		answer.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = answer.Write(text.Bytes()) // the client has gone
	})
}

func writeHeights(ctx context.Context, text *bytes.Buffer, w *sim.World, n *node.Node) error {
	describe(text, "snowglobe_clock_seconds", "gauge", "The world's time, Unix.")
	fmt.Fprintf(text, "snowglobe_clock_seconds %d\n", w.Clock.Unix())
	describe(text, "snowglobe_height", "gauge", "Number of a chain's last block.")
	for _, network := range fixtures.Networks {
		heads, err := n.Heights(ctx, network.Name)
		if err != nil {
			return err
		}
		for _, h := range heads {
			fmt.Fprintf(text, "snowglobe_height{network=%q,chain=%q} %d\n", h.Network, h.Chain, h.Height)
		}
	}
	return nil
}

func describe(text *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// escape escapes a label value.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func label(value string) string { return `"` + escape.Replace(value) + `"` }
