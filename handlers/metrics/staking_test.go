package metrics_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

const secondsOfDay = 24 * 60 * 60

// chain has a P-Chain's rows and the times of its blocks, for the naive evaluation.
type chain struct {
	l       *sim.Network
	times   []int64
	blocks  []store.PrimaryBlock
	stakers []store.Staker
	members []store.L1ValidatorView
	states  map[store.UTXONumber][]store.L1ValidatorState
	subnets []store.SubnetView
	txs     []*txs.Tx
	heights []uint64 // of the transactions
}

func readChain(t testing.TB, n *sim.Network) *chain {
	t.Helper()
	ctx, p := t.Context(), n.Chain(txs.PChain)
	c := &chain{l: n, states: map[store.UTXONumber][]store.L1ValidatorState{}}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	c.blocks, err = n.DB.PrimaryBlocks(ctx, p, 0, math.MaxUint64)
	check(err)
	for _, b := range c.blocks {
		c.times = append(c.times, b.Time)
		rows, err := n.DB.PrimaryTxs(ctx, b.ID)
		check(err)
		for _, row := range rows {
			tx, err := txs.ParseTx(txs.PChain, row.Bytes)
			check(err)
			c.txs, c.heights = append(c.txs, tx), append(c.heights, b.ID.Number())
		}
	}
	c.stakers, err = n.DB.Stakers(ctx, p)
	check(err)
	c.members, err = n.DB.L1Validators(ctx, p, math.MaxInt64)
	check(err)
	for _, v := range c.members {
		c.states[v.ID], err = n.DB.L1ValidatorHistory(ctx, v.ID)
		check(err)
	}
	c.subnets, err = n.DB.Subnets(ctx, p)
	check(err)
	return c
}

// stake counts the validators and delegators in the last second before a time, and their weight.
func (c *chain) stake(subnet []byte, moment, clock int64) map[string]uint64 {
	sum := map[string]uint64{"validatorCount": 0, "validatorWeight": 0, "delegatorCount": 0, "delegatorWeight": 0}
	moment = min(moment, clock+1)
	for _, s := range c.stakers {
		began, over := s.Start, s.End
		if s.Began != nil {
			began = c.times[*s.Began]
		}
		if s.Ended != nil {
			over = c.times[*s.Ended]
		}
		if !bytes.Equal(s.Subnet, subnet) || began >= moment || over < moment {
			continue
		}
		role := "validator"
		if s.Delegator {
			role = "delegator"
		}
		sum[role+"Count"]++
		sum[role+"Weight"] += uint64(s.Weight)
	}
	for _, v := range c.members {
		var now store.L1ValidatorState
		for _, s := range c.states[v.ID] {
			if c.times[s.Height] < moment {
				now = s
			}
		}
		if bytes.Equal(v.Subnet, subnet) && now.Weight > 0 {
			sum["validatorCount"]++
			sum["validatorWeight"] += uint64(now.Weight)
		}
	}
	return sum
}

// everyDay reads all pages of a daily series.
func everyDay(t testing.TB, s *rest.Server, target string, size int) (all []metrics.Point) {
	t.Helper()
	for token := ""; ; {
		page := ask[metrics.Series](t, s, fmt.Sprintf("%spageSize=%d&pageToken=%s", target, size, token))
		all = append(all, page.Results...)
		if token = page.NextPageToken; token == "" {
			return all
		}
		if len(page.Results) != size {
			t.Fatalf("%s: a page that is not the last has %d points", target, len(page.Results))
		}
	}
}

// compareStakes compares every day of every subnet with the rows.
func compareStakes(t *testing.T, w *sim.World) {
	t.Helper()
	s, clock := serve(t, w), w.Clock.Unix()
	for _, n := range w.Networks {
		c := readChain(t, n)
		made := map[ids.ID]int64{ids.Empty: c.times[0]}
		for _, row := range c.subnets {
			made[ids.ID(row.Hash)] = c.times[row.ID.Number()]
		}
		for subnet, from := range made {
			for _, name := range []string{"validatorCount", "validatorWeight", "delegatorCount", "delegatorWeight"} {
				target := fmt.Sprintf("/v2/networks/%s/metrics/%s?subnetId=%s&", n.Name, name, subnet)
				points := everyDay(t, s, target, 100)
				day := clock - 1 - (clock-1)%secondsOfDay
				for i, p := range points {
					if want := c.stake(subnet[:], day+secondsOfDay, clock)[name]; p.Timestamp != day || p.Value.String() != fmt.Sprint(want) {
						t.Fatalf("%s: point %d is %d %s, want %d %d (%s)", target, i, p.Timestamp, p.Value, day, want, time.Unix(day, 0).UTC())
					}
					day -= secondsOfDay
				}
				if day += secondsOfDay; day != from-from%secondsOfDay {
					t.Fatalf("%s: the oldest point is of %d, the subnet was made at %d", target, day, from)
				}
			}
		}
	}
}

func TestEveryStakeIsWhatTheRowsSay(t *testing.T) {
	for _, number := range seeds(t) {
		w := withClock(t, number)
		until := w.Clock.Now()
		for _, later := range []time.Duration{0, 50 * time.Hour, 40 * 24 * time.Hour, 500 * 24 * time.Hour} {
			w.Clock.Set(until.Add(later))
			compareStakes(t, w)
		}
	}
}

func TestEveryStakeOfTheDefaultWorldIsWhatTheRowsSay(t *testing.T) {
	compareStakes(t, shared(t, usual(t), 1))
}

// seeds lists the worlds for the naive evaluations.
func seeds(t testing.TB) []int64 {
	if testing.Short() {
		t.Log("left out of a short run: all seeds but two")
		return []int64{1, 2}
	}
	return []int64{1, 2, 3, 4, 5, -6}
}

func TestStakesAreThoseOfTheNodesOfTheWorld(t *testing.T) {
	w := shared(t, "tiny", 1)
	s := serve(t, w)
	for _, network := range w.Networks {
		n, err := network.DB.Stakers(t.Context(), network.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		var active, pending int
		for i := range n {
			if !n[i].Delegator && ids.ID(n[i].Subnet) == ids.Empty {
				switch network.StatusAt(&n[i]) {
				case store.StakerActive:
					active++
				case store.StakerPending:
					pending++
				}
			}
		}
		have := ask[metrics.Series](t, s, "/v2/networks/"+network.Name+"/metrics/validatorCount?pageSize=1")
		if have.Results[0].Value.String() != fmt.Sprint(active) {
			t.Errorf("%s: %s validators, there are %d and %d who wait", network.Name, have.Results[0].Value, active, pending)
		}
	}
	if a, b := ask[metrics.Series](t, s, "/v2/networks/fuji/metrics/validatorWeight"), ask[metrics.Series](t, s, "/v2/networks/testnet/metrics/validatorWeight"); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("fuji and testnet differ")
	}
}

func TestStakesOfALongTimePage(t *testing.T) {
	w := generate(t, "tiny", 2)
	w.Clock.Set(w.Clock.Now().Add(3000 * 24 * time.Hour))
	s := serve(t, w)
	const target = "/v2/networks/mainnet/metrics/validatorWeight?"
	whole := everyDay(t, s, target, 2160)
	if len(whole) < 3000 {
		t.Fatalf("%d days", len(whole))
	}
	for _, size := range []int{7, 1000} {
		if fmt.Sprint(everyDay(t, s, target, size)) != fmt.Sprint(whole) {
			t.Errorf("pages of %d hold other points", size)
		}
	}
	cut := fmt.Sprintf("startTimestamp=%d&endTimestamp=%d&", whole[2990].Timestamp, whole[2980].Timestamp)
	if have := everyDay(t, s, target+cut, 4); fmt.Sprint(have) != fmt.Sprint(whole[2981:2991]) {
		t.Errorf("points between are %v, want %v", have, whole[2981:2991])
	}
}
