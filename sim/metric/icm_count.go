package metric

import (
	"cmp"
	"slices"
)

// ICMCount counts the cross-chain messages from one chain to another in an interval.
type ICMCount struct {
	Start               int64  // of the interval, Unix seconds
	Source, Destination []byte // blockchain ids
	Messages            int64
}

// Route is a source and a destination of messages: blockchain ids, or empty for any.
type Route struct{ Source, Destination string }

// RouteFilter selects messages and groups their counts.
type RouteFilter struct {
	From, To                string // source and destination, empty for any
	BySource, ByDestination bool   // count each source, each destination separately
}

// Route returns the route that a count adds to, if it matches.
func (l RouteFilter) Route(t *ICMCount) (route Route, ok bool) {
	if l.From != "" && l.From != string(t.Source) || l.To != "" && l.To != string(t.Destination) {
		return route, false
	}
	if l.BySource {
		route.Source = string(t.Source)
	}
	if l.ByDestination {
		route.Destination = string(t.Destination)
	}
	return route, true
}

// Routes returns the sorted routes of some counts. Without grouping there is always one route, even without messages.
func (l RouteFilter) Routes(counts []ICMCount) []Route {
	var all []Route
	if !l.BySource && !l.ByDestination {
		return []Route{{}}
	}
	for i := range counts {
		if route, ok := l.Route(&counts[i]); ok {
			all = append(all, route)
		}
	}
	slices.SortFunc(all, Route.compare)
	return slices.Compact(all)
}

func (l Route) compare(o Route) int {
	return cmp.Or(cmp.Compare(l.Source, o.Source), cmp.Compare(l.Destination, o.Destination))
}

// RoutePoint counts the messages from a source to a destination in an interval.
type RoutePoint struct {
	Route
	Start    int64 // Unix seconds
	Messages int64
}

// Before reports whether a point precedes another: it is newer, or belongs to an earlier route.
func (p RoutePoint) Before(o RoutePoint) bool {
	if p.Start != o.Start {
		return p.Start > o.Start
	}
	return p.Route.compare(o.Route) < 0
}
