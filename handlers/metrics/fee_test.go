package metrics_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/metrics"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// accrued returns the fees of an always active L1 validator before a second, by the newest block up to it.
func (c *chain) accrued(t testing.TB, second int64) uint64 {
	var last *store.PrimaryBlock
	for i := range c.blocks {
		if c.times[i] <= second {
			last = &c.blocks[i]
		}
	}
	if last == nil {
		return 0
	}
	if last.L1Excess != 0 {
		t.Fatal("the fee is not constant: this evaluation is too naive")
	}
	return uint64(last.AccruedFees) + uint64(second-last.Time)*c.l.Rules.ValidatorFees.MinPrice
}

// disabled reports whether a transaction of a block disabled an L1 validator.
func (c *chain) disabled(validation []byte, height uint64) bool {
	for i, tx := range c.txs {
		if u, ok := tx.Unsigned.(*txs.DisableL1ValidatorTx); ok && c.heights[i] == height && bytes.Equal(u.ValidationID[:], validation) {
			return true
		}
	}
	return false
}

// stretch is a period in which an L1 validator was active: its first and last second, and the fees paid by its end if no transaction ended it.
type stretch struct {
	from, to int64
	drained  uint64 // accrued fee at which the balance was used up, 0 if a transaction ended it
}

func (c *chain) stretches(v *store.L1ValidatorView, clock int64) (all []stretch) {
	states := c.states[v.ID]
	for i, s := range states {
		active := len(all) > 0 && all[len(all)-1].to == 1<<62
		switch {
		case s.EndAccumulatedFee > 0 && !active:
			all = append(all, stretch{from: c.times[s.Height], to: 1 << 62})
		case s.EndAccumulatedFee == 0 && active:
			last := &all[len(all)-1]
			last.to = c.times[s.Height]
			if s.Weight > 0 && !c.disabled(v.Validation, s.Height) {
				last.drained = uint64(states[i-1].EndAccumulatedFee)
			}
		}
	}
	if n := len(all) - 1; n >= 0 && all[n].to == 1<<62 && clock > c.times[len(c.times)-1] {
		all[n].drained = uint64(states[len(states)-1].EndAccumulatedFee)
	}
	return all
}

// paid returns the fees of an L1 validator before a second.
func (c *chain) paid(t testing.TB, v *store.L1ValidatorView, second, clock int64) (sum uint64) {
	for _, s := range c.stretches(v, clock) {
		if s.from >= second {
			continue
		}
		end := c.accrued(t, min(second, s.to))
		if s.drained > 0 && (s.to < second || end > s.drained) {
			end = s.drained
		}
		sum += end - c.accrued(t, s.from)
	}
	return sum
}

// member is an L1 validator with its chain.
type member struct {
	*store.L1ValidatorView
	c *chain
}

// feeTargets lists the metrics of all payers, with the L1 validators of each.
func feeTargets(t testing.TB, w *sim.World) map[string][]member {
	targets := map[string][]member{}
	for _, n := range w.Networks {
		c := readChain(t, n)
		for i := range c.members {
			v := &c.members[i]
			for path, names := range map[string][]string{
				"/v2/validation/" + ids.ID(v.Validation).String(): {"validationCumulativeFeesDaily", "validationFeesDaily"},
				"/v2/validator/" + ids.NodeID(v.Node).String():    {"perNodeCumulativeFeesPaid", "perNodeDailyFeesPaid"},
				"/v2/subnet/" + ids.ID(v.Subnet).String():         {"perSubnetCumulativeFeesPaid", "perSubnetDailyFeesPaid", "perSubnetPayingValidators"},
				"/v2/validators": {"totalCumulativeFeesDaily", "totalValidatorFeesDaily", "totalPayingValidatorsDaily"},
			} {
				for _, name := range names {
					targets[path+"/metrics/"+name] = append(targets[path+"/metrics/"+name], member{v, c})
				}
			}
		}
	}
	return targets
}

// compareFees compares every day of every payer with the fees of its L1 validators.
func compareFees(t *testing.T, w *sim.World) {
	t.Helper()
	s, clock := serve(t, w), w.Clock.Unix()
	for target, members := range feeTargets(t, w) {
		first := clock + secondsOfDay
		for _, m := range members {
			if all := m.c.stretches(m.L1ValidatorView, clock); len(all) > 0 {
				first = min(first, all[0].from)
			}
		}
		day := clock - 1 - (clock-1)%secondsOfDay
		for i, p := range ask[metrics.Series](t, s, target).Results {
			var want uint64
			for _, m := range members {
				want += m.c.shown(t, target, m.L1ValidatorView, day, clock)
			}
			if p.Timestamp != day || p.Value.String() != fmt.Sprint(want) {
				t.Fatalf("%s: point %d is %d %s, want %d %d (%s)", target, i, p.Timestamp, p.Value, day, want, time.Unix(day, 0).UTC())
			}
			day -= secondsOfDay
		}
		if day += secondsOfDay; day != first-first%secondsOfDay {
			t.Fatalf("%s: the oldest point is of %d, the first paid at %d", target, day, first)
		}
	}
}

// shown returns one validator's share of a metric on a day.
func (c *chain) shown(t testing.TB, target string, v *store.L1ValidatorView, day, clock int64) uint64 {
	end := min(day+secondsOfDay, clock)
	switch {
	case strings.Contains(target, "Cumulative"):
		return c.paid(t, v, end, clock)
	case strings.Contains(target, "Paying"):
		if c.paid(t, v, end, clock) > c.paid(t, v, day, clock) {
			return 1
		}
		return 0
	}
	return c.paid(t, v, end, clock) - c.paid(t, v, day, clock)
}

func TestEveryFeeIsWhatTheRowsSay(t *testing.T) {
	for _, number := range seeds(t) {
		w := withClock(t, number)
		until := w.Clock.Now()
		for _, later := range []time.Duration{0, 50 * time.Hour, 40 * 24 * time.Hour} {
			w.Clock.Set(until.Add(later))
			compareFees(t, w)
		}
	}
}

func TestFeesOfWhatDoesNotExist(t *testing.T) {
	w := shared(t, "tiny", 1)
	s, c := serve(t, w), readChain(t, w.Networks[0])
	v := c.members[0]
	subnet, validation := ids.ID(v.Subnet).String(), ids.ID(v.Validation).String()
	var never string // a validator of the primary network only
	for _, staker := range c.stakers {
		if !slices.ContainsFunc(c.members, func(m store.L1ValidatorView) bool { return bytes.Equal(m.Node, staker.Node) }) {
			never = ids.NodeID(staker.Node).String()
		}
	}
	for target, want := range map[string]string{
		"/v2/validation/" + subnet + "/metrics/validationFeesDaily":                                    `404 {"message":"validation ` + subnet + ` does not exist","error":"Not Found","statusCode":404}`,
		"/v2/subnet/" + validation + "/metrics/perSubnetDailyFeesPaid":                                 `404 {"message":"subnet ` + validation + ` does not exist"`,
		"/v2/validator/NodeID-111111111111111111116DBWJs/metrics/perNodeDailyFeesPaid":                 `404 {"message":"node NodeID-111111111111111111116DBWJs never validated"`,
		"/v2/validator/" + never + "/metrics/perNodeDailyFeesPaid":                                     `200 {"results":[]}`,
		"/v2/subnet/11111111111111111111111111111111LpoYY/metrics/perSubnetPayingValidators":           `200 {"results":[]}`,
		"/v2/validators/metrics/perNodeDailyFeesPaid":                                                  `400 {"message":["metric \"perNodeDailyFeesPaid\" is not allowed: expected one of totalCumulativeFeesDaily,`,
		"/v2/validators/metrics/totalValidatorFeesDaily?endTimestamp=0":                                `200 {"results":[]}`,
		"/v2/validators/metrics/totalValidatorFeesDaily?startTimestamp=4611686018427387904":            `200 {"results":[]}`,
		"/v2/networks/fuji/metrics/validatorCount?subnetId=" + subnet:                                  `404 {"message":"subnet ` + subnet + ` does not exist on fuji"`,
		"/v2/networks/devnet/metrics/validatorCount":                                                   `400 {"message":["network \"devnet\"`,
		"/v2/networks/mainnet/metrics/txCount":                                                         `400 {"message":["metric \"txCount\"`,
		"/v2/networks/mainnet/metrics/validatorCount?subnetId=primary&pageSize=0":                      `400 {"message":["subnetId \"primary\"`,
		"/v2/networks/mainnet/metrics/validatorCount?startTimestamp=4611686018427387904&pageSize=2160": `200 {"results":[]}`,
	} {
		code, body := get(t, s, target)
		if have := fmt.Sprintf("%d %s", code, body); !strings.HasPrefix(have, want) {
			t.Errorf("%s: answer is %s, want %s", target, have, want)
		}
	}
}

// TestFeesAreWhatIsMissingOfTheBalances compares the fees of L1 validators with their deposits less the remaining balances.
func TestFeesAreWhatIsMissingOfTheBalances(t *testing.T) {
	w := shared(t, "tiny", 3)
	s := serve(t, w)
	compared := 0
	for _, n := range w.Networks {
		c := readChain(t, n)
		for i := range c.members {
			v := &c.members[i]
			deposit, whole := c.deposit(t, v)
			if !whole {
				continue
			}
			left := uint64(0)
			if now := c.accrued(t, w.Clock.Unix()); uint64(v.EndAccumulatedFee) > now {
				left = uint64(v.EndAccumulatedFee) - now
			}
			target := "/v2/validation/" + ids.ID(v.Validation).String() + "/metrics/validationCumulativeFeesDaily"
			have := ask[metrics.Series](t, s, target).Results
			if deposit > 0 && (len(have) == 0 || have[0].Value.String() != fmt.Sprint(deposit-left)) {
				t.Errorf("%s: %v, of %d nAVAX %d are left", target, have, deposit, left)
			}
			compared++
		}
	}
	if compared < 5 {
		t.Errorf("only %d L1 validators kept what was deposited for them", compared)
	}
}

// deposit returns the sum of all deposits for an L1 validator; whole means that nothing was returned.
func (c *chain) deposit(t testing.TB, v *store.L1ValidatorView) (sum uint64, whole bool) {
	registration, err := c.l.DB.PrimaryTx(t.Context(), v.Tx)
	if err != nil {
		t.Fatal(err)
	}
	for i, tx := range c.txs {
		id := tx.ID()
		switch u := tx.Unsigned.(type) {
		case *txs.RegisterL1ValidatorTx:
			if bytes.Equal(id[:], registration.Hash) {
				sum += u.Balance
			}
		case *txs.ConvertSubnetToL1Tx:
			for _, converted := range u.Validators {
				if bytes.Equal(id[:], registration.Hash) && bytes.Equal(converted.NodeID, v.Node) {
					sum += converted.Balance
				}
			}
		case *txs.IncreaseL1ValidatorBalanceTx:
			if bytes.Equal(u.ValidationID[:], v.Validation) {
				sum += u.Balance
			}
		case *txs.DisableL1ValidatorTx:
			if c.disabled(v.Validation, c.heights[i]) {
				return 0, false
			}
		}
	}
	return sum, v.Weight > 0
}
