// make bench: requests over many connections for a fixed time.

package handlers_test

import (
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	connections = 16
	roundTime   = 250 * time.Millisecond
	roundCount  = 50_000 // requests of one connection in one round, at most
)

// load is the measurement of one round.
type load struct {
	perSecond float64
	p50, p99  time.Duration
	cpu       time.Duration // of the server, per request
}

// exchange is a request on the wire and the expected body of its answer, nil for any.
type exchange struct{ request, want []byte }

// inTurn lets each connection start with a different exchange.
func inTurn(exchanges []exchange) func(connection, n int) exchange {
	return func(connection, n int) exchange {
		return exchanges[(connection*len(exchanges)/connections+n)%len(exchanges)]
	}
}

// press sends requests over all connections as fast as responses arrive, for one round. next returns a connection's n-th request.
func press(address string, pid int, next func(connection, n int) exchange) (load, error) {
	var (
		all  sync.WaitGroup
		took = make([][]time.Duration, connections)
		errs = make([]error, connections)
	)
	open, err := dialAll(address)
	defer closeAll(open)
	if err != nil {
		return load{}, err
	}
	worked, begin := busy(pid), time.Now()
	for i, c := range open {
		all.Go(func() { took[i], errs[i] = c.repeat(func(n int) exchange { return next(i, n) }, begin.Add(roundTime)) })
	}
	all.Wait()
	whole, worked := time.Since(begin), busy(pid)-worked
	durations := slices.Concat(took...)
	slices.Sort(durations)
	n := len(durations)
	return load{
		perSecond: float64(n) / whole.Seconds(),
		p50:       durations[n/2], p99: durations[n*99/100],
		cpu: worked / time.Duration(n),
	}, errors.Join(errs...)
}

func dialAll(address string) (open []*connection, err error) {
	for range connections {
		c, err := dial(address)
		if err != nil {
			return open, err
		}
		open = append(open, c)
	}
	return open, nil
}

func closeAll(open []*connection) {
	for _, c := range open {
		c.Close()
	}
}

// repeat sends the requests in turn, at least one, until the time is over, and returns how long each response took.
func (c *connection) repeat(next func(n int) exchange, until time.Time) (took []time.Duration, err error) {
	for i := range roundCount {
		e, begin := next(i), time.Now()
		if err := c.expect(e); err != nil {
			return append(took, time.Since(begin)), err
		}
		end := time.Now()
		took = append(took, end.Sub(begin))
		if end.After(until) {
			break
		}
	}
	return took, nil
}

// medians returns the median of each figure over the rounds.
func medians(all []load) load {
	return load{
		perSecond: median(each(all, func(l load) float64 { return l.perSecond })),
		p50:       median(each(all, func(l load) time.Duration { return l.p50 })),
		p99:       median(each(all, func(l load) time.Duration { return l.p99 })),
		cpu:       median(each(all, func(l load) time.Duration { return l.cpu })),
	}
}

func each[T any](all []load, figure func(load) T) (values []T) {
	for _, l := range all {
		values = append(values, figure(l))
	}
	return values
}
