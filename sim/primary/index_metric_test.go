package primary

import (
	"math/rand/v2"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/metric"
	"snowglobe/sim/pchain"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

const (
	day   = 24 * 60 * 60
	first = 20_000 * day
	price = 512 // per second
)

// validatorChange activates or deactivates an L1 validator in a block; an active one's balance is used up at an accrued fee.
type validatorChange struct {
	time         uint64
	validator    int
	end          uint64
	outOfBalance bool
}

// randomChanges draws changes of some L1 validators in blocks close to midnights, several of them in the same second. No block skips the second in
// which a balance no longer pays for another.
func randomChanges(r *rand.Rand, validators int) (all []validatorChange) {
	active := make([]uint64, validators)
	for time := uint64(first + day - 2); time < first+5*day; time += r.Uint64N(3) + uint64(r.IntN(2)*r.IntN(day)) {
		for _, end := range active {
			if end > 0 && end/price <= time {
				time = min(time, end/price)
			}
		}
		t := validatorChange{time: time, validator: r.IntN(validators)}
		for i, end := range active {
			if end > 0 && end/price <= time {
				t.validator, t.outOfBalance = i, true
			}
		}
		switch end := active[t.validator]; {
		case t.outOfBalance:
		case end == 0:
			t.end = price*time + price + r.Uint64N(price*day)
		case r.IntN(2) == 0:
			t.end = end + r.Uint64N(price*day) // a balance that grows
		}
		active[t.validator] = t.end
		all = append(all, t)
	}
	return all
}

// TestFeesByDayAreThoseOfEverySecond rolls up the changes of a few L1 validators, as a P-Chain's blocks do, and compares each day with the sum over
// their active times.
func TestFeesByDayAreThoseOfEverySecond(t *testing.T) {
	const validators = 4
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := randomChanges(r, validators)
		db, err := store.Create(store.Memory)
		if err != nil {
			t.Fatal(err)
		}
		rollUp(t, db, all)
		compare(t, db, all, validators)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func rollUp(t *testing.T, db *store.DB, all []validatorChange) {
	batch, err := db.Begin()
	n := empty(rules.Mainnet)
	states := map[int]*l1Validator{}
	for height, change := range all {
		n.P = pchain.New(rules.Mainnet, n.shared, pchain.Snapshot{Time: change.time, Accrued: price * change.time})
		rec := n.record(txs.PChain, uint64(height))
		rec.delta.Block = &store.PrimaryBlock{ID: rec.at(0), Time: int64(change.time), Type: "Standard",
			Size: 1, Head: []byte{0}, Hash: ids.Empty[:], Parent: ids.Empty[:], Digest: ids.Empty[:]}
		if states[change.validator] == nil {
			states[change.validator] = &l1Validator{weight: 1}
		}
		v := &pchain.L1Validator{ValidationID: ids.Empty.Prefix(uint64(change.validator)), Weight: 1, EndAccumulatedFee: change.end}
		rec.l1Metrics(states[change.validator], v, change.outOfBalance)
		if err == nil {
			err = batch.AddPrimaryBlock(rec.delta)
		}
	}
	if err := batch.End(err); err != nil {
		t.Fatal(err)
	}
}

// compare checks the days one by one.
func compare(t *testing.T, db *store.DB, all []validatorChange, validators int) {
	rows, err := db.FeeRows(t.Context(), store.PrimaryChain(0, store.PChain), []byte{}, first, first+6*day)
	if err != nil {
		t.Fatal(err)
	}
	for d := int64(first); d < first+6*day; d += day {
		accrued := map[int64]uint64{d - day: uint64(d) * price, d: uint64(d+day) * price}
		record := &metric.FeeRecord{Rows: rows, AccruedFees: accrued}
		paid, paying := feesBySecond(all, validators, uint64(d))
		for _, m := range metric.TotalFeeMetrics {
			want := map[metric.FeeQuantity]uint64{metric.DailyFees: paid, metric.PayingValidators: paying}
			if have := m.Value(record, d); m.Shows != metric.CumulativeFees && have != want[m.Shows] {
				t.Fatalf("%s on day %d is %d, want %d, of %+v", m.Name, (d-first)/day, have, want[m.Shows], all)
			}
		}
	}
}

// feesBySecond adds up the fees of a day and counts the validators that were active in one of its seconds.
func feesBySecond(all []validatorChange, validators int, from uint64) (paid, paying uint64) {
	to := from + day
	for i := range validators {
		var since, last uint64 // the last end of a balance while it is active
		pays := false
		addActive := func(end uint64, fee uint64) { // active from since up to, without, end, where the fee had accrued
			begin := max(since, from)
			if begin < min(end, to) {
				pays = true
			}
			switch {
			case end < from || since >= to:
			case end < to:
				paid += fee - price*begin
			default:
				paid += price * (to - begin)
			}
		}
		for _, t := range all {
			switch {
			case t.validator != i:
				continue
			case t.end > 0 && last == 0:
				since = t.time
			case t.end == 0 && last > 0 && t.outOfBalance:
				addActive(t.time, last)
			case t.end == 0 && last > 0:
				addActive(t.time, price*t.time)
			}
			last = t.end
		}
		if last > 0 {
			addActive(1<<62, 0)
		}
		if pays {
			paying++
		}
	}
	return paid, paying
}
