package primary

// Meter is the continuous fee of L1 validators at a moment: what one that was always active would have paid, and what
// decides how that goes on while their number stays the same.
type Meter struct {
	Time    uint64 // Unix seconds
	Accrued uint64 // nAVAX
	Excess  uint64
	Active  uint64
}

// At is the meter at a later moment; at an earlier one it is the meter itself.
func (m Meter) At(f *ValidatorFeeConfig, time uint64) Meter {
	if time <= m.Time {
		return m
	}
	cost, excess := f.Cost(m.Active, m.Excess, time-m.Time)
	return Meter{time, addProduct(m.Accrued, cost, 1), excess, m.Active}
}
