// make bench: moving the clock while readers wait.

package handlers_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// readTime is how long clients read while the clock runs.
const readTime = time.Minute

// clock measures how long it takes to advance the clock, how much memory the server has then, and how long readers wait meanwhile.
func (r *report) clock() {
	r.table("moving the clock\tms\tbudget\tMiB afterwards\tbudget", func(row func(string, ...any)) {
		for _, profile := range []string{"default", "large"} {
			for _, move := range []struct{ name, body string }{
				{"a day", `{"advance":"24h"}`}, {"a month", `{"advance":"720h"}`}, {"a year", `{"advance":"365d"}`}, {"ten years", `{"advance":"3650d"}`}, {"a day with people", `{"populate":true,"advance":"24h"}`},
			} {
				p := r.serve("--quiet", "--db", r.copyOf(profile))
				begin := time.Now()
				p.moveClock(move.body)
				took, limit, memoryLimit := time.Since(begin), "", ""
				switch profile + " " + move.name {
				case "default ten years":
					limit = budget("moving the clock of default by ten years")
				case "large a month":
					memoryLimit = budget("memory of large after a month of moved time")
				}
				now, _ := memory(p.cmd.Process.Pid)
				row("%s, %s\t%.0f\t%s\t%.0f\t%s", profile, move.name, milliseconds(took), limit, mebibytes(now), memoryLimit)
				p.stop()
			}
		}
	})
	r.table(fmt.Sprintf("reading for %s, %d connections\trequests/s\tp50 ms\tp99 ms\tslowest ms\tworld's time", readTime, connections), func(row func(string, ...any)) {
		for _, c := range []struct{ name, body string }{
			{"the clock stands still", `{"rate":0}`}, {"rate 1", `{"rate":1}`}, {"rate 3600", `{"rate":3600}`}, {"rate 3600, with people", `{"populate":true,"rate":3600}`},
		} {
			p := r.serve("--quiet", "--db", r.copyOf("default"))
			before := p.moveClock(c.body)
			took := r.readers(p)
			passed := p.moveClock(`{"freeze":true}`).Sub(before)
			slices.Sort(took)
			row("%s\t%.0f\t%.2f\t%.2f\t%.1f\t%s", c.name, float64(len(took))/readTime.Seconds(), milliseconds(took[len(took)/2]), milliseconds(took[len(took)*99/100]),
				milliseconds(took[len(took)-1]), passed.Round(time.Second))
			p.stop()
		}
	})
}

// copyOf returns a new file with a profile's world.
func (r *report) copyOf(profile string) string {
	from, err := os.Open(r.world(profile))
	if err != nil {
		r.b.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(r.b.TempDir(), "copy.db")
	to, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err != nil {
		r.b.Fatal(err)
	}
	if err := to.Close(); err != nil {
		r.b.Fatal(err)
	}
	return path
}

// moveClock advances the clock of a server and returns the new time.
func (p *process) moveClock(body string) time.Time {
	answer, err := http.Post("http://"+p.address+"/sim/clock", "application/json", strings.NewReader(body))
	if err != nil {
		p.r.b.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	var now time.Time
	if _, after, found := strings.Cut(string(text), `"time":"`); err == nil && found {
		now, err = time.Parse(time.RFC3339, after[:strings.Index(after, `"`)])
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		p.r.b.Fatalf("%s: %s %v", body, text, err)
	}
	return now
}

// readers lets clients read validators, metrics, balances and blocks, and returns how long each response took.
func (r *report) readers(p *process) []time.Duration {
	asked := slices.Concat(call("eth_blockNumber"), call("eth_getBlockByNumber", "latest", false),
		get("/v1/networks/mainnet/validators?validationStatus=active"), get("/v2/chains/43114/metrics/txCount?timeInterval=hour"),
		get("/v1/chains/43114/addresses/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266/balances:listErc20"))
	open, err := dialAll(p.address)
	defer closeAll(open)
	if err != nil {
		r.b.Fatal(err)
	}
	var all sync.WaitGroup
	took, errs := make([][]time.Duration, len(open)), make([]error, len(open))
	end := time.Now().Add(readTime)
	for i, c := range open {
		all.Go(func() {
			errs[i] = c.SetDeadline(end.Add(patience))
			for n := i; time.Now().Before(end) && errs[i] == nil; n++ {
				begin := time.Now()
				_, errs[i] = c.ask(asked[n%len(asked)].bytes(p.address))
				took[i] = append(took[i], time.Since(begin))
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			r.b.Fatal(err)
		}
	}
	return slices.Concat(took...)
}
