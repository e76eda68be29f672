package metric

// Stake counts a subnet's validators and delegators and their weight: nAVAX on the primary network, elsewhere a unit of the subnet's owner
// or contract. Sums wrap around, so a change may be negative.
type Stake struct {
	Validators      int64
	ValidatorWeight uint64
	Delegators      int64
	DelegatorWeight uint64
}

// ValidatorStake returns the stake of a number of validators with a weight; both may be negative.
func ValidatorStake(count int64, weight uint64) Stake {
	return Stake{Validators: count, ValidatorWeight: weight}
}

// DelegatorStake returns the stake of one delegator.
func DelegatorStake(weight uint64) Stake { return Stake{Delegators: 1, DelegatorWeight: weight} }

// Plus adds a change.
func (s Stake) Plus(o Stake) Stake {
	return Stake{s.Validators + o.Validators, s.ValidatorWeight + o.ValidatorWeight, s.Delegators + o.Delegators, s.DelegatorWeight + o.DelegatorWeight}
}

// Minus undoes a change.
func (s Stake) Minus(o Stake) Stake {
	return Stake{s.Validators - o.Validators, s.ValidatorWeight - o.ValidatorWeight, s.Delegators - o.Delegators, s.DelegatorWeight - o.DelegatorWeight}
}

// StakeMetric defines a subnet's metric from its stake at the end of a day.
type StakeMetric struct {
	Name string
	Show func(Stake) uint64
}

// StakeMetrics lists the metrics of subnets. A pending validator does not count; an L1 validator counts until it is removed, even without a
// balance.
var StakeMetrics = []StakeMetric{
	{"validatorCount", func(s Stake) uint64 { return uint64(s.Validators) }},
	{"validatorWeight", func(s Stake) uint64 { return s.ValidatorWeight }},
	{"delegatorCount", func(s Stake) uint64 { return uint64(s.Delegators) }},
	{"delegatorWeight", func(s Stake) uint64 { return s.DelegatorWeight }},
}

// StakeRow is the stake at the end of a day. Each day with a change has a row.
type StakeRow struct {
	Day int64 // its beginning, Unix seconds
	Stake
}

// StakeChange is a change caused by time alone.
type StakeChange struct {
	Time int64 // Unix seconds
	Stake
}

// StakePoints returns the days of a range, newest first. rows are the range's and the previous one, newest first; changes are those after
// the newest block, in any order.
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
