package metric

// Stake is how many validators and delegators a subnet has and their weight: nAVAX on the primary network, what
// the subnet's owner or contract decided elsewhere. Sums wrap around, so that a change may be negative.
type Stake struct {
	Validators      int64
	ValidatorWeight uint64
	Delegators      int64
	DelegatorWeight uint64
}

// ValidatorStake is that of a number of validators, or of their loss, with a weight, or its loss.
func ValidatorStake(count int64, weight uint64) Stake {
	return Stake{Validators: count, ValidatorWeight: weight}
}

// DelegatorStake is that of one delegator.
func DelegatorStake(weight uint64) Stake { return Stake{Delegators: 1, DelegatorWeight: weight} }

// Plus adds a change.
func (s Stake) Plus(o Stake) Stake {
	return Stake{s.Validators + o.Validators, s.ValidatorWeight + o.ValidatorWeight, s.Delegators + o.Delegators, s.DelegatorWeight + o.DelegatorWeight}
}

// Minus takes a change back.
func (s Stake) Minus(o Stake) Stake {
	return Stake{s.Validators - o.Validators, s.ValidatorWeight - o.ValidatorWeight, s.Delegators - o.Delegators, s.DelegatorWeight - o.DelegatorWeight}
}

// StakeMetric is the definition of a metric of a subnet: what it shows of the stake at the end of a day.
type StakeMetric struct {
	Name string
	Show func(Stake) uint64
}

// StakeMetrics are the metrics of subnets. Who waits to begin does not count; an L1 validator counts until it is removed,
// also without a balance.
var StakeMetrics = []StakeMetric{
	{"validatorCount", func(s Stake) uint64 { return uint64(s.Validators) }},
	{"validatorWeight", func(s Stake) uint64 { return s.ValidatorWeight }},
	{"delegatorCount", func(s Stake) uint64 { return uint64(s.Delegators) }},
	{"delegatorWeight", func(s Stake) uint64 { return s.DelegatorWeight }},
}

// StakeRow is the stake at the end of a day. There is a row for each day that changed something.
type StakeRow struct {
	Day int64 // its beginning, Unix seconds
	Stake
}

// StakeChange is a change that comes with time alone.
type StakeChange struct {
	Time int64 // Unix seconds
	Stake
}

// StakePoints are the days of a range, the newest first: rows are those of the range and the one before it, newest first;
// changes are those after the newest block, in any order.
func (m *StakeMetric) StakePoints(r Range, rows []StakeRow, changes []StakeChange) []Point {
	var points []Point
	for day := r.Newest; day >= r.Oldest; day = Day.Previous(day) {
		for len(rows) > 0 && rows[0].Day > day {
			rows = rows[1:]
		}
		var now Stake
		if len(rows) > 0 {
			now = rows[0].Stake
		}
		for _, c := range changes {
			if c.Time < Day.Next(day) {
				now = now.Plus(c.Stake)
			}
		}
		points = append(points, NewPoint(day, m.Show(now)))
	}
	return points
}
