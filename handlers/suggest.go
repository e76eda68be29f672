package handlers

import "strings"

// tooFar is the distance from which an operation is no longer near: more than one segment missing or misspelt.
const tooFar = 1.25

// misspelt is the part of a word that may be wrong: what differs by more is another word.
const misspelt = 1.0 / 3

// manyNear is how many equally near operations are worth naming.
const manyNear = 3

// suggest finds the operations whose paths are nearest to one that does not exist, with the client's own values in
// them and as a client would ask. It is empty if none is near or too many are.
func (t *routes) suggest(method, path string, as func(path string) string) string {
	asked := strings.Split(strings.Trim(path, "/"), "/")
	if len(asked) > 32 || len(path) > 1024 {
		return ""
	}
	best := tooFar
	var near []*endpoint
	for _, e := range t.sorted() {
		d, _ := e.template.distance(asked, false)
		if e.nearestMethod(method) != method {
			d += 0.1
		}
		if d >= tooFar || d >= best+0.001 {
			continue
		}
		if _, path := e.template.distance(asked, true); !e.takes(path) {
			continue
		}
		if d < best-0.001 {
			best, near = d, nil
		}
		near = append(near, e)
	}
	if len(near) > manyNear {
		return ""
	}
	var texts []string
	for _, e := range near {
		_, path := e.template.distance(asked, true)
		texts = append(texts, e.nearestMethod(method)+" "+as(path))
	}
	return strings.Join(texts, " or ")
}

// takes reports whether each variable of a suggested path has a value that its parameter could take, or none yet.
func (e *endpoint) takes(path string) bool {
	for i, text := range strings.Split(strings.Trim(path, "/"), "/") {
		s := e.template[i]
		if s.name == "" || text == s.text {
			continue
		}
		if _, ok := e.ops[0].param(s.name).rule.Parse(strings.TrimSuffix(text, s.literal)); !ok {
			return false
		}
	}
	return true
}

// nearestMethod is the one that was asked for if the path answers to it.
func (e *endpoint) nearestMethod(method string) string {
	if e.operation(method) != nil {
		return method
	}
	return e.ops[0].Method
}

// distance is the least cost of turning the asked segments into the template, and the path that this gives. Leaving
// out or adding a segment costs 1; a misspelt one costs the part of it that is wrong, and too wrong is another one.
// The path is written only if it is wanted, as most templates turn out to be far.
func (t template) distance(asked []string, write bool) (float64, string) {
	if d := len(t) - len(asked); d < -1 || d > 1 {
		return tooFar, ""
	}
	row, next := make([]step, len(asked)+1), make([]step, len(asked)+1)
	row[0].write, next[0].write = write, write
	for j := range asked {
		row[j+1] = step{cost: row[j].cost + 1, write: write}
	}
	for _, seg := range t {
		next[0] = row[0].then(1, seg.text)
		for j, text := range asked {
			cost, as := seg.nearness(text)
			next[j+1] = nearer(row[j].then(cost, as), row[j+1].then(1, seg.text), step{next[j].cost + 1, next[j].path, write})
		}
		if row, next = next, row; cheapest(row) >= tooFar {
			return tooFar, ""
		}
	}
	last := row[len(asked)]
	return last.cost, last.path
}

// cheapest is the least that any continuation of a row can cost.
func cheapest(row []step) float64 {
	least := row[0].cost
	for _, s := range row {
		least = min(least, s.cost)
	}
	return least
}

type step struct {
	cost  float64
	path  string
	write bool
}

// then goes on by a segment.
func (s step) then(cost float64, segment string) step {
	if s.cost += cost; s.write {
		s.path += "/" + segment
	}
	return s
}

func nearer(steps ...step) step {
	best := steps[0]
	for _, s := range steps[1:] {
		if s.cost < best.cost {
			best = s
		}
	}
	return best
}

// nearness is the cost of reading text as this segment, and the segment as the client must have meant it. A variable
// takes anything, at a small cost, so that literals win.
func (s segment) nearness(text string) (float64, string) {
	if s.matches(text) {
		if s.name != "" {
			return 0.05, text
		}
		return 0, text
	}
	if s.name != "" {
		return 2, s.text
	}
	if longer := len(s.literal) - len(text); 2*max(longer, -longer) > max(len(s.literal), len(text)) {
		return 2, s.literal
	}
	wrong := float64(edits(strings.ToLower(s.literal), strings.ToLower(text))) / float64(max(len(s.literal), len(text), 1))
	if wrong > misspelt {
		return 2, s.literal
	}
	return wrong + 0.01, s.literal
}

// edits is the number of letters to insert, drop or change between two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
