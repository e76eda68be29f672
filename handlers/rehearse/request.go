package rehearse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"snowglobe/handlers/journal"
)

// request is one request, or one call of a batch, with its answer.
type request struct {
	name   string // operation or method
	asked  string // parameters as JSON
	key    string // equal for matching requests
	status int
	answer any    // decoded JSON; nil if there is none or the journal kept only a part
	err    string // the error's code and message; empty for none
	whole  bool   // whether all of the answer was kept
}

// requests returns the requests of a journal in the order they were sent, without those to the simulator itself.
func requests(j *journal.Journal) (all []request) {
	exchanges := j.Latest(0)
	slices.Reverse(exchanges)
	for i := range exchanges {
		e := &exchanges[i]
		if e.Interface == "sim" || e.Interface == "webhook" || e.Operation == "" || e.Status == http.StatusSwitchingProtocols {
			continue
		}
		if len(e.Calls) > 0 {
			all = append(all, calls(e)...)
			continue
		}
		s := j.Summarize(e)
		r := request{name: e.Operation, status: e.Status, whole: e.Answer.Whole()}
		r.asked = compact(s.Parameters)
		if r.answer = decode(e.Answer.Kept); e.Status >= http.StatusBadRequest {
			r.err, r.answer = fmt.Sprint(e.Status, " ", s.Cause), nil
		}
		all = append(all, r.keyed())
	}
	return all
}

// calls returns the JSON-RPC calls of an exchange.
func calls(e *journal.Exchange) (all []request) {
	answers := list(decode(e.Answer.Kept))
	for i := range e.Calls {
		c := &e.Calls[i]
		if c.Method == "" {
			continue
		}
		r := request{name: c.Method, asked: compact(decode(c.Params)), status: e.Status, whole: e.Answer.Whole()}
		switch {
		case c.Error != nil:
			r.err = fmt.Sprint(c.Error.Code, " ", c.Error.Message)
		case i < len(answers): // answers follow the order of the batch
			if object, is := answers[i].(map[string]any); is {
				r.answer = object["result"]
			}
		}
		all = append(all, r.keyed())
	}
	return all
}

// list returns a decoded list, or a list with just the value.
func list(v any) []any {
	if l, is := v.([]any); is {
		return l
	}
	return []any{v}
}

func decode(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil // truncated, or not JSON
	}
	return v
}

func compact(v any) string {
	text, _ := json.Marshal(v) // it was decoded from JSON
	return string(text)
}

// own matches values that belong to one world: hashes, signed transactions, and ids.
var own = regexp.MustCompile(`0x[0-9a-fA-F]{64,}|\b[1-9A-HJ-NP-Za-km-z]{43,52}\b`)

func (r request) keyed() request {
	r.key = r.name + " " + own.ReplaceAllString(r.asked, "#")
	return r
}

// shown returns the request as a report names it.
func (r *request) shown() string {
	const most = 60
	text := strings.TrimSuffix(strings.TrimPrefix(own.ReplaceAllString(r.asked, "…"), "["), "]")
	if text == "null" || text == "{}" {
		text = ""
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.TrimSpace(r.name + " " + text)
}

// pair is a request that both sides sent.
type pair struct{ before, after *request }

// match pairs the requests of two runs: first those with equal keys, then those of the same name, each in order. It counts the rest by name.
func match(before, after []request) (pairs []pair, onlyBefore, onlyAfter map[string]int) {
	one := func(name func(*request) string, a, b []*request) (restA, restB []*request) {
		waiting := map[string][]*request{}
		for _, r := range b {
			waiting[name(r)] = append(waiting[name(r)], r)
		}
		taken := map[*request]bool{}
		for _, r := range a {
			if w := waiting[name(r)]; len(w) > 0 {
				pairs, waiting[name(r)], taken[w[0]] = append(pairs, pair{r, w[0]}), w[1:], true
			} else {
				restA = append(restA, r)
			}
		}
		return restA, slices.DeleteFunc(slices.Clone(b), func(r *request) bool { return taken[r] })
	}
	a, b := one(func(r *request) string { return r.key }, pointers(before), pointers(after))
	a, b = one(func(r *request) string { return r.name }, a, b)
	onlyBefore, onlyAfter = map[string]int{}, map[string]int{}
	for _, r := range a {
		onlyBefore[r.name]++
	}
	for _, r := range b {
		onlyAfter[r.name]++
	}
	return pairs, onlyBefore, onlyAfter
}

func pointers(all []request) (list []*request) {
	for i := range all {
		list = append(list, &all[i])
	}
	return list
}
