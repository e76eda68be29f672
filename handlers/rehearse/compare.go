package rehearse

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"snowglobe/handlers/journal"
)

// Run is one run of the command.
type Run struct {
	Journal *journal.Journal
	Code    int    // the command's exit code
	Output  []byte // its stdout
}

// Change says how the second world differs from the first.
type Change struct {
	Name   string `json:"name" doc:"helicon, seed, dialect, strict and so on."`
	Before string `json:"before"`
	After  string `json:"after"`

	Values bool   `json:"-"` // whether the worlds have the same history, so that numbers can be compared
	Page   string `json:"-"` // of the manual
	Why    string `json:"-"` // for fields that no rule names
}

// Difference is a field of an answer that differs because of the rules.
type Difference struct {
	Request string `json:"request" doc:"Operation or method, with the parameters of the first such request."`
	Name    string `json:"name" doc:"Operation or method."`
	Field   string `json:"field" doc:"Field of the answer; empty for the answer as a whole. [] stands for every entry of a list."`
	Before  string `json:"before"`
	After   string `json:"after"`
	Times   int    `json:"times"`
	Why     string `json:"why"`
	Page    string `json:"page" doc:"The manual's page about it."`
}

// Report is the outcome of a rehearsal.
type Report struct {
	Change      Change       `json:"change"`
	Same        bool         `json:"same" doc:"Whether the command behaved the same in both worlds."`
	Behaviour   []string     `json:"behaviour" doc:"How its behaviour differed."`
	Differences []Difference `json:"differences" doc:"Which answers differed because of the rules."`
	Last        string       `json:"last,omitempty" doc:"The last request before it failed, if it failed only in the second world."`
	Notes       []string     `json:"notes,omitempty"`
	Requests    [2]int       `json:"requests" doc:"How many it sent before and after."`
	Codes       [2]int       `json:"exitCodes"`
}

// Compare compares a run in the first world with one in the second. again is another run in the first world: what differs between these two, the
// command itself varies.
func Compare(before, again, after *Run, c Change) *Report {
	r := &Report{Change: c, Behaviour: []string{}, Differences: []Difference{}, Codes: [2]int{before.Code, after.Code}}
	first, second, third := requests(before.Journal), requests(again.Journal), requests(after.Journal)
	r.Requests = [2]int{len(first), len(third)}
	noise := map[string]bool{}
	pairs, goneBefore, goneAgain := match(first, second)
	for _, d := range differences(pairs, &c) {
		noise[d.Name+" "+d.Field] = true
	}
	pairs, onlyBefore, onlyAfter := match(first, third)
	for _, d := range differences(pairs, &c) {
		if !noise[d.Name+" "+d.Field] {
			r.Differences = append(r.Differences, d)
		}
	}
	r.behaviour(before, again, after)
	if before.Code == again.Code && before.Code == after.Code && before.Code != 0 {
		r.Behaviour = append(r.Behaviour, fmt.Sprintf("it exits with code %d in both worlds: the rehearsal means nothing until it succeeds in the first", before.Code))
	}
	r.kinds(first, third, onlyBefore, onlyAfter, goneBefore, goneAgain)
	if n := len(third); before.Code == 0 && after.Code != 0 && n > 0 {
		r.Last = third[n-1].shown()
	}
	r.Same = len(r.Behaviour) == 0
	return r
}

// kinds compares the requests that the command sent, but not how often it read something. A command that failed sends fewer.
func (r *Report) kinds(before, after []request, onlyBefore, onlyAfter, goneBefore, goneAgain map[string]int) {
	tell := func(only, noise map[string]int, other []request, when, often string) {
		for _, name := range slices.Sorted(maps.Keys(only)) {
			switch {
			case noise[name] > 0 || controls(name):
			case !slices.ContainsFunc(other, func(o request) bool { return o.name == name }):
				r.Behaviour = append(r.Behaviour, fmt.Sprintf("it calls %s only %s", name, when))
			case changes(name):
				r.Behaviour = append(r.Behaviour, fmt.Sprintf("it calls %s %s%d)", name, often, only[name]))
			}
		}
	}
	if r.Codes[1] == 0 || r.Codes[0] != 0 {
		tell(onlyBefore, goneBefore, after, "before", "less often after (-")
	}
	tell(onlyAfter, goneAgain, before, "after", "more often after (+")
}

// behaviour compares exit codes and outputs.
func (r *Report) behaviour(before, again, after *Run) {
	if before.Code != again.Code {
		r.Notes = append(r.Notes, fmt.Sprintf("two runs in the first world exited with codes %d and %d: the command depends on more than the world", before.Code, again.Code))
	}
	if before.Code != after.Code {
		r.Behaviour = append(r.Behaviour, fmt.Sprintf("it exits with code %d before and %d after", before.Code, after.Code))
	}
	said, noise, says := lines(before.Output), lines(again.Output), lines(after.Output)
	for line, whole := range says {
		if said[line] == "" && noise[line] == "" && slices.Equal(slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(noise))) {
			r.Behaviour = append(r.Behaviour, fmt.Sprintf("it prints only after: %.200s", whole))
		}
	}
	slices.Sort(r.Behaviour)
}

var (
	colour  = regexp.MustCompile("\x1b\\[[0-9;]*m")
	numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|[1-9A-HJ-NP-Za-km-z]{43,52}|[0-9]+([.,:_][0-9]+)*( ?(ns|µs|ms|s|m|h|seconds?|minutes?)\b)?`)
)

// lines returns the lines of an output, keyed by their text without numbers, hashes and durations.
func lines(output []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(colour.ReplaceAllString(line, ""))
		if key := numbers.ReplaceAllString(line, "#"); strings.Trim(key, "# \t-=.") != "" && all[key] == "" {
			all[key] = line
		}
	}
	return all
}

// controls reports whether tests use a method to control a simulator: clients of the network don't have it.
func controls(name string) bool {
	return slices.ContainsFunc([]string{"evm_", "anvil_", "hardhat_", "tenderly_"}, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// changes reports whether a method sends a transaction.
func changes(name string) bool {
	return strings.HasPrefix(name, "eth_send") || strings.HasSuffix(name, ".issueTx") || name == "wallet_sendCalls"
}

// differences compares paired answers, and groups what differs by request and field.
func differences(pairs []pair, c *Change) (all []Difference) {
	at := map[string]int{}
	for _, p := range pairs {
		p.compare(c, func(field, before, after string) {
			key := p.before.name + " " + field
			if i, known := at[key]; known {
				all[i].Times++
				return
			}
			at[key] = len(all)
			d := Difference{Request: p.before.shown(), Name: p.before.name, Field: field, Before: clip(before), After: clip(after), Times: 1}
			d.Why, d.Page = c.explain(p.before, field)
			all = append(all, d)
		})
	}
	return all
}

// compare reports each field in which the answers of a pair differ.
func (p pair) compare(c *Change, tell func(field, before, after string)) {
	a, b := p.before, p.after
	switch {
	case a.err != b.err && (a.err == "" || b.err == "" || numbers.ReplaceAllString(a.err, "#") != numbers.ReplaceAllString(b.err, "#")):
		tell("", short(a), short(b))
		return
	case a.err != "":
		return
	case a.status != b.status:
		tell("status", fmt.Sprint(a.status), fmt.Sprint(b.status))
	}
	if a.whole && b.whole {
		w := &walk{c, p, tell}
		w.values("", a.answer, b.answer)
	}
}

// short describes an answer as a whole.
func short(r *request) string {
	if r.err != "" {
		return "error " + r.err
	}
	return "an answer"
}

// walk compares two decoded answers.
type walk struct {
	change *Change
	pair   pair
	tell   func(field, before, after string)
}

func (w *walk) values(field string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, is := b.(map[string]any); is {
			w.objects(field, a, b)
			return
		}
	case []any:
		if b, is := b.([]any); is {
			w.lists(field, a, b)
			return
		}
	}
	if kindOf(a) != kindOf(b) {
		w.tell(field, text(a), text(b))
		return
	}
	if text(a) != text(b) && w.counts(field, a, b) {
		w.tell(field, text(a), text(b))
	}
}

func (w *walk) objects(field string, a, b map[string]any) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if n := names; slices.Contains(n, "number") && slices.Contains(n, "hash") && text(a["number"]) != text(b["number"]) && w.change.Values {
		w.tell(strings.TrimPrefix(field+".number", "."), text(a["number"]), text(b["number"]))
		w = w.shapes() // different blocks have different contents anyway
	}
	for _, name := range names {
		at := strings.TrimPrefix(field+"."+name, ".")
		was, before := a[name]
		is, after := b[name]
		switch {
		case !before:
			w.tell(at, "absent", text(is))
		case !after:
			w.tell(at, text(was), "absent")
		default:
			w.values(at, was, is)
		}
	}
}

// shapes returns a walk that compares only the presence and the kinds of fields, not their values.
func (w *walk) shapes() *walk {
	c := *w.change
	c.Values = false
	return &walk{&c, w.pair, w.tell}
}

// identities lists the members that identify an object among others.
var identities = []string{"txID", "txHash", "hash", "blockHash", "validationID", "validationId", "nodeID", "nodeId", "utxoId", "id"}

// identity returns the id that distinguishes an entry of a list from the others, or "".
func identity(v any) (all string) {
	if object, is := v.(map[string]any); is {
		for _, name := range identities {
			if id, has := object[name].(string); has {
				all += id + " "
			}
		}
	}
	return all
}

func (w *walk) lists(field string, a, b []any) {
	if len(a) != len(b) && w.change.Values {
		w.tell(field, fmt.Sprintf("%d entries", len(a)), fmt.Sprintf("%d entries", len(b)))
	}
	told := map[string]bool{}
	each := &walk{w.change, w.pair, func(field, before, after string) {
		if !told[field] {
			told[field] = true
			w.tell(field, before, after)
		}
	}}
	restA, restB := slices.Clone(a), slices.Clone(b)
	for i, entry := range a {
		id := identity(entry)
		at := slices.IndexFunc(restB, func(other any) bool { return id != "" && identity(other) == id })
		if at >= 0 {
			each.values(field+"[]", entry, restB[at])
			restA[i], restB = nil, slices.Delete(restB, at, at+1)
		}
	}
	if len(restA) > 0 && identity(a[0]) != "" { // the rest are different objects
		each = each.shapes()
		restA = slices.DeleteFunc(restA, func(entry any) bool { return entry == nil })
	}
	for i := range min(len(restA), len(restB)) {
		each.values(field+"[]", restA[i], restB[i])
	}
}

// kindOf returns the kind of a value. A number is a number whether it is a string or not.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string:
		if v == "" {
			return "text"
		}
	}
	return "value"
}

// passing matches fields that differ with the blocks and the time of a world, and names that sign something.
var passing = regexp.MustCompile(`(?i)(time|timestamp|timestampMilliseconds|date|remaining|hash|id|uptime|address|signature|proof|txs?|token|^r|^s|^v|yParity|miner|producerId|nextPageToken|encoded)$`)

// counts reports whether two values of the same kind differ in a way that matters, and not merely because two worlds have different blocks.
func (w *walk) counts(field string, a, b any) bool {
	if !w.change.Values {
		return false
	}
	last := strings.TrimSuffix(field[strings.LastIndex(field, ".")+1:], "[]")
	k := rule(w.pair.before, field, w.change)
	switch {
	case k != nil && k.fields != "*":
		return true
	case passing.MatchString(last), own.MatchString(text(a)), own.MatchString(text(b)):
		return false
	case k != nil:
		return true
	}
	x, y := number(a), number(b)
	if x != nil && y != nil {
		return !huge(x) && !huge(y)
	}
	return !strings.HasPrefix(text(a), "0x")
}

// huge reports whether a number is too large to be a count: it is a hash or a part of a signature.
func huge(n *big.Int) bool { return n.BitLen() > 128 }

// number reads a number in any form that the interfaces use; nil for anything else.
func number(v any) *big.Int {
	n, ok := new(big.Int).SetString(text(v), 0)
	if !ok {
		return nil
	}
	return n
}

func text(v any) string {
	if s, is := v.(string); is {
		return s
	}
	return compact(v)
}

// clip shortens a value for a report.
func clip(value string) string {
	const most = 66 // a hash
	if len(value) <= most {
		return value
	}
	return strings.ToValidUTF8(value[:most], "") + "…"
}
