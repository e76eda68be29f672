package intercept

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Refusal counts the requests of one kind that a sealed proxy refused.
type Refusal struct {
	Method string `json:"method" doc:"The HTTP method; CONNECT for everything inside TLS, which the proxy cannot read."`
	Host   string `json:"host" doc:"The host with its port."`
	Client string `json:"client,omitempty" doc:"The client's user agent, if it sent one."`
	Count  int    `json:"count"`
}

// mostRefusals bounds the kinds that are told apart.
const mostRefusals = 1000

// refusals collects what a sealed proxy refused, in the order of the first request of each kind.
type refusals struct {
	mu   sync.Mutex
	all  []*Refusal
	rest int // requests of further kinds
}

func (l *refusals) add(of Refusal) {
	of.Method, of.Host, of.Client = printable(of.Method), printable(of.Host), printable(of.Client)
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.all, func(r *Refusal) bool { return r.Method == of.Method && r.Host == of.Host && r.Client == of.Client })
	switch {
	case i >= 0:
		l.all[i].Count++
	case len(l.all) == mostRefusals:
		l.rest++
	default:
		of.Count = 1
		l.all = append(l.all, &of)
	}
}

// longest bounds each text of a refusal, in bytes.
const longest = 300

// printable returns what a client said, for a terminal and for the memory of a long run.
func printable(text string) string {
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func (l *refusals) list() (all []Refusal, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	total = l.rest
	for _, r := range l.all {
		all = append(all, *r)
		total += r.Count
	}
	return all, total
}

// LeakError reports that a sealed command asked for hosts outside its world.
type LeakError struct {
	Refused []Refusal
	Total   int
}

func (e *LeakError) Error() string {
	b := new(strings.Builder)
	fmt.Fprintf(b, "--sealed refused %s to hosts outside the world:", counted(e.Total, "request"))
	told := 0
	for _, r := range e.Refused {
		fmt.Fprintf(b, "\n  %d × %s %s", r.Count, r.Method, r.Host)
		if r.Client != "" {
			fmt.Fprintf(b, " by %s", r.Client)
		}
		told += r.Count
	}
	if told < e.Total {
		fmt.Fprintf(b, "\n  %d × others", e.Total-told)
	}
	return b.String() + "\nlet a host pass with --allow-host, or answer for it with --as-host"
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
