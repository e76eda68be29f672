// make bench: requests per second, and the memory they take.

package handlers_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"snowglobe/handlers/control"
)

// serving measures requests to the default world, and the memory that serving them takes.
func (r *report) serving() {
	p := r.serve("--profile", "default", "--db", r.world("default"))
	defer p.stop()
	w := r.describe(p)
	r.requests(p, slices.Concat(targets(w), r.primaryTargets(p, w), wholeTargets(w)))
	r.speeds = r.requests(p, r.lists(p))
	maps.Copy(r.speeds, r.requests(p, r.primaryLists(p)))
	r.depths(r.speeds)
	made := r.serve("--profile", "default", "--db", filepath.Join(r.b.TempDir(), "snowglobe.db"))
	defer made.stop()
	r.table("memory, MiB\tnow\tpeak\tbudget", func(row func(string, ...any)) {
		now, peak := memory(p.cmd.Process.Pid)
		row("default, from its file, after this load\t%.0f\t%.0f\t%s", mebibytes(now), mebibytes(peak), budget("memory while serving default"))
		now, peak = memory(made.cmd.Process.Pid)
		row("default, just made\t%.0f\t%.0f\t%s", mebibytes(now), mebibytes(peak), budget("memory while serving default"))
	})
}

// journaling measures the cost of the journal: the same server with and without it, alternately.
func (r *report) journaling() {
	with, without := r.serve("--db", ":memory:", "--profile", "default"), r.serve("--db", ":memory:", "--profile", "default", "--journal", "0")
	defer with.stop()
	defer without.stop()
	r.table("journal\twith, requests/s\twithout\tratio\tbudget", func(row func(string, ...any)) {
		for _, ask := range []request{{http.MethodGet, "/v1/chains/43114/blocks/5", ""}, {http.MethodGet, "/v1/chains/43114/transactions", ""}, call("eth_blockNumber")[0]} {
			a, b := r.first(with, ask), r.first(without, ask)
			w, wo, ratio := r.compare(ask.path, side{with.address, with.cmd.Process.Pid, inTurn([]exchange{{ask.bytes(with.address), a.Body}})},
				side{without.address, without.cmd.Process.Pid, inTurn([]exchange{{ask.bytes(without.address), b.Body}})})
			row("%s %s\t%.0f\t%.0f\t%.2f\t%s", ask.path, ask.body, w.perSecond, wo.perSecond, ratio, budget("serving with the journal of requests, against serving without"))
		}
	})
}

// growth measures the same lists in the large world. Both are relative to a bare server, because a machine's speed changes within ten minutes.
func (r *report) growth() {
	p := r.serve("--profile", "large", "--db", r.world("large"))
	defer p.stop()
	p.rest() // the inspection of a large file would not yield to the bare server
	r.requests(p, wholeTargets(r.describe(p)))
	speeds := r.requests(p, r.lists(p))
	maps.Copy(speeds, r.requests(p, r.primaryLists(p)))
	r.depths(speeds)
	r.table("default against large\tratio\tbudget", func(row func(string, ...any)) {
		for _, name := range slices.Sorted(maps.Keys(r.speeds)) {
			row("%s\t%.2f\t%s", name, r.speeds[name].ratio/speeds[name].ratio, budget("the same request, in a world of a million transactions against default"))
		}
	})
	r.table("memory, MiB\tnow\tpeak\tbudget", func(row func(string, ...any)) {
		now, peak := memory(p.cmd.Process.Pid)
		row("large, after this load\t%.0f\t%.0f\t%s", mebibytes(now), mebibytes(peak), budget("memory while serving large"))
	})
}

// depths compares both ends of each list.
func (r *report) depths(speeds map[string]speed) {
	r.table("first page against the deepest\tratio\tbudget", func(row func(string, ...any)) {
		for _, name := range slices.Sorted(maps.Keys(speeds)) {
			if of, first := strings.CutSuffix(name, ", first page"); first {
				row("%s\t%.2f\t%s", of, speeds[name].perSecond/speeds[of+", deepest page"].perSecond, budget("first page of a list, against the deepest"))
			}
		}
	})
}

// ratioBudget returns the share of a bare server's rate that a target should reach, if the budgets name one.
func ratioBudget(name string) string {
	switch {
	case name == "an object, again":
		return budget("one object, requested again")
	case strings.HasSuffix(name, ", again"):
		return budget("list, requested again")
	case strings.HasSuffix(name, " page"):
		return budget("list of 10, each request different")
	case slices.Contains([]string{"eth_blockNumber", "eth_getBalance", "eth_getBlockByNumber, one"}, name):
		return budget("eth_blockNumber, eth_getBalance, a full block")
	}
	return ""
}

// Targets with large responses get fewer requests, but more than the server caches.
const (
	leastOfTarget = 200
	mostOfTarget  = 24 << 20 // bytes
)

// speed is a server's rate in requests per second, absolute and relative to a bare server's.
type speed struct{ perSecond, ratio float64 }

// requests measures every target, alternating with a bare server that writes the same bytes.
func (r *report) requests(p *process, all []target) map[string]speed {
	speeds := map[string]speed{}
	var answers []answer
	for i, t := range all {
		for n, ask := range t.requests {
			answers = append(answers, r.first(p, ask))
			if size := len(answers[len(answers)-1].Body); n+1 >= leastOfTarget && (n+1)*size > mostOfTarget {
				all[i].requests = t.requests[:n+1]
				break
			}
		}
	}
	address, pid, stop := r.bare(answers)
	defer stop()
	r.table("16 connections\tbytes\trequests/s\tp50 ms\tp99 ms\tCPU µs\tbare requests/s\tp50 ms\tp99 ms\tCPU µs\tratio\tbudget", func(row func(string, ...any)) {
		done := 0
		for _, t := range all {
			var ours, bares []exchange
			for _, ask := range t.requests {
				want := answers[done].Body
				ours = append(ours, exchange{ask.bytes(p.address), want})
				bares = append(bares, exchange{request{ask.method, barePath(done), ask.body}.bytes(address), want})
				done++
			}
			o, b, ratio := r.compare(t.name, side{p.address, p.cmd.Process.Pid, inTurn(ours)}, side{address, pid, inTurn(bares)})
			row("%s\t%d\t%.0f\t%.2f\t%.2f\t%d\t%.0f\t%.2f\t%.2f\t%d\t%.2f\t%s", t.name, bytesOf(ours),
				o.perSecond, milliseconds(o.p50), milliseconds(o.p99), o.cpu.Microseconds(),
				b.perSecond, milliseconds(b.p50), milliseconds(b.p99), b.cpu.Microseconds(), ratio, ratioBudget(t.name))
			speeds[t.name] = speed{o.perSecond, ratio}
		}
	})
	return speeds
}

// side is one of two servers to compare.
type side struct {
	address string
	pid     int
	next    func(connection, n int) exchange
}

// compare lets two servers respond alternately, and returns each one's median and the median ratio of the pairs.
func (r *report) compare(name string, ours, bare side) (load, load, float64) {
	var os, bs []load
	var ratios []float64
	for range rounds {
		o, b := r.round(name, ours), r.round(name, bare)
		os, bs, ratios = append(os, o), append(bs, b), append(ratios, o.perSecond/b.perSecond)
	}
	return medians(os), medians(bs), median(ratios)
}

func (r *report) round(name string, s side) load {
	l, err := press(s.address, s.pid, s.next)
	if err != nil {
		r.b.Fatalf("%s: %v", name, err)
	}
	return l
}

// bytesOf returns the mean length of the answers.
func bytesOf(exchanges []exchange) (n int) {
	for _, e := range exchanges {
		n += len(e.want)
	}
	return n / len(exchanges)
}

// describe asks a server for the contents of its world.
func (r *report) describe(p *process) (w control.World) {
	a := r.first(p, request{http.MethodGet, "/sim/world", ""})
	if err := json.Unmarshal(a.Body, &w); err != nil {
		r.b.Fatal(err)
	}
	return w
}

// first returns the answer to a request, which all later answers must equal.
func (r *report) first(p *process, ask request) answer {
	a, err := p.once(ask)
	if err != nil {
		r.b.Fatalf("%s %s: %v", ask.path, ask.body, err)
	}
	if bytes.Contains(a.Body, []byte(`"error":`)) {
		r.b.Fatalf("%s %s: nothing to measure: %.300s", ask.path, ask.body, a.Body)
	}
	return a
}
