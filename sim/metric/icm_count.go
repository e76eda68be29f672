package metric

import (
	"cmp"
	"slices"
)

// ICMCount is how many cross-chain messages were sent from one chain to another in an interval.
type ICMCount struct {
	Start               int64  // of the interval, Unix seconds
	Source, Destination []byte // blockchain ids
	Messages            int64
}

// Route is a source and a destination of messages: blockchain ids, or empty for any.
type Route struct{ Source, Destination string }

// RouteFilter says which messages count, and which of them count together.
type RouteFilter struct {
	From, To                string // only messages from and to these chains, empty for any
	BySource, ByDestination bool   // count those of each source, of each destination by themselves
}

// Route is the route under which a count is added up, if it counts.
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

// Routes are the routes of some counts, in order. What is counted together is one route, even without any message.
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

// RoutePoint is how many messages were sent from a source to a destination in an interval.
type RoutePoint struct {
	Route
	Start    int64 // Unix seconds
	Messages int64
}

// Before tells whether a point comes before another: a newer one, or one of an earlier route.
func (p RoutePoint) Before(o RoutePoint) bool {
	if p.Start != o.Start {
		return p.Start > o.Start
	}
	return p.Route.compare(o.Route) < 0
}
