package metric

import (
	"cmp"
	"slices"
)

// Traffic is how many cross-chain messages were sent from one chain to another in an interval.
type Traffic struct {
	Start               int64  // of the interval, Unix seconds
	Source, Destination []byte // blockchain ids
	Messages            int64
}

// Lane is where messages go from and to, as far as it matters: blockchain ids, or nothing.
type Lane struct{ Source, Destination string }

// Lanes says which messages count, and which of them count together.
type Lanes struct {
	From, To                string // only messages from and to these chains, empty for any
	BySource, ByDestination bool   // count those of each source, of each destination by themselves
}

// Of is the route of some traffic, if it counts.
func (l Lanes) Of(t *Traffic) (lane Lane, ok bool) {
	if l.From != "" && l.From != string(t.Source) || l.To != "" && l.To != string(t.Destination) {
		return lane, false
	}
	if l.BySource {
		lane.Source = string(t.Source)
	}
	if l.ByDestination {
		lane.Destination = string(t.Destination)
	}
	return lane, true
}

// All are the routes of some traffic, in order. What is counted together is one route, even without any.
func (l Lanes) All(traffic []Traffic) []Lane {
	var all []Lane
	if !l.BySource && !l.ByDestination {
		return []Lane{{}}
	}
	for i := range traffic {
		if lane, ok := l.Of(&traffic[i]); ok {
			all = append(all, lane)
		}
	}
	slices.SortFunc(all, Lane.compare)
	return slices.Compact(all)
}

func (l Lane) compare(o Lane) int {
	return cmp.Or(cmp.Compare(l.Source, o.Source), cmp.Compare(l.Destination, o.Destination))
}

// LanePoint is how many messages went along a route in an interval.
type LanePoint struct {
	Lane
	Start    int64 // Unix seconds
	Messages int64
}

// Before tells whether a point comes before another: a newer one, or one of an earlier route.
func (p LanePoint) Before(o LanePoint) bool {
	if p.Start != o.Start {
		return p.Start > o.Start
	}
	return p.Lane.compare(o.Lane) < 0
}
