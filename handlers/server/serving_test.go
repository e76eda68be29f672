package server_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"

	"snowglobe/handlers/control"
)

// serving measures requests against the default world, and the memory that serving them takes.
func (r *report) serving() {
	p := r.serve("--profile", "default", "--db", r.world("default"))
	defer p.stop()
	r.requests(p)
	made := r.serve("--profile", "default", "--db", filepath.Join(r.b.TempDir(), "snowglobe.db"))
	defer made.stop()
	r.table("memory, MiB\tnow\tpeak\tbudget", func(row func(string, ...any)) {
		now, peak := memory(p.cmd.Process.Pid)
		row("default, from its file, after this load\t%.0f\t%.0f\t100", mebibytes(now), mebibytes(peak))
		now, peak = memory(made.cmd.Process.Pid)
		row("default, just made\t%.0f\t%.0f\t100", mebibytes(now), mebibytes(peak))
	})
}

// requests measures every target and, in turns with it, a bare server that writes the same bytes.
func (r *report) requests(p *process) {
	all := targets(r.describe(p))
	answers := make([]answer, len(all))
	for i, t := range all {
		answers[i] = r.first(p, t)
	}
	address, pid, stop := r.bare(answers)
	defer stop()
	r.table("16 connections\tbytes\trequests/s\tp50 ms\tp99 ms\tCPU µs\tbare requests/s\tp50 ms\tp99 ms\tCPU µs\tratio", func(row func(string, ...any)) {
		for i, t := range all {
			var ours, bares []load
			var ratios []float64
			for range rounds {
				o := r.round(p.address, p.cmd.Process.Pid, t, answers[i])
				b := r.round(address, pid, target{t.name, t.method, barePath(i), t.body}, answers[i])
				ours, bares, ratios = append(ours, o), append(bares, b), append(ratios, o.perSecond/b.perSecond)
			}
			o, b := medians(ours), medians(bares)
			row("%s\t%d\t%.0f\t%.2f\t%.2f\t%d\t%.0f\t%.2f\t%.2f\t%d\t%.2f", t.name, len(answers[i].Body),
				o.perSecond, milliseconds(o.p50), milliseconds(o.p99), o.cpu.Microseconds(),
				b.perSecond, milliseconds(b.p50), milliseconds(b.p99), b.cpu.Microseconds(), median(ratios))
		}
	})
}

// describe asks a server what is in its world.
func (r *report) describe(p *process) (w control.World) {
	a := r.first(p, target{"world", http.MethodGet, "/sim/world", ""})
	if err := json.Unmarshal(a.Body, &w); err != nil {
		r.b.Fatal(err)
	}
	return w
}

// first is a target's answer, which all later ones must equal.
func (r *report) first(p *process, t target) answer {
	a, err := p.once(t)
	if err != nil {
		r.b.Fatalf("%s: %v", t.name, err)
	}
	if bytes.Contains(a.Body, []byte(`"error":`)) || bytes.Contains(a.Body, []byte(`"result":[]`)) {
		r.b.Fatalf("%s: nothing to measure: %.300s", t.name, a.Body)
	}
	return a
}

func (r *report) round(address string, pid int, t target, want answer) load {
	l, err := press(address, pid, t.request(address), want.Body)
	if err != nil {
		r.b.Fatalf("%s: %v", t.name, err)
	}
	return l
}
