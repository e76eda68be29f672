package rules

// ValidatorFeeState is the state of the continuous fee of L1 validators (ACP-77; avalanchego's fee.State) at a time, with the accrued fee: the
// total of a validator that was always active.
type ValidatorFeeState struct {
	Time    uint64 // Unix seconds
	Accrued uint64 // nAVAX
	Excess  uint64
	Active  uint64
}

// At returns the state at a later time with the same number of active validators; for an earlier time it returns the state unchanged.
func (s ValidatorFeeState) At(f *ValidatorFeeConfig, time uint64) ValidatorFeeState {
	if time <= s.Time {
		return s
	}
	cost, excess := f.Cost(s.Active, s.Excess, time-s.Time)
	return ValidatorFeeState{time, addProduct(s.Accrued, cost, 1), excess, s.Active}
}

// ValidatorFeeConfig holds the constants of the continuous fee of L1 validators (ACP-77). Its unit of gas is one validator active for one
// second.
type ValidatorFeeConfig struct {
	Capacity         uint64
	Target           uint64
	MinPrice         uint64
	ExcessConversion uint64
}

// Price returns the price of a second of validating in nAVAX at an excess.
func (f *ValidatorFeeConfig) Price(excess uint64) uint64 {
	return Exponential(f.MinPrice, excess, f.ExcessConversion)
}

// Cost (avalanchego's fee.State.CostOf) returns what each of a number of active validators pays for a number of seconds, and the excess
// after them. Every second has its own price.
func (f *ValidatorFeeConfig) Cost(active, excess, seconds uint64) (cost, after uint64) {
	for i := range seconds {
		excess = f.advance(active, excess)
		if excess == 0 { // and so it stays
			return addProduct(cost, f.MinPrice, seconds-i), 0
		}
		cost = addProduct(cost, f.Price(excess), 1)
	}
	return cost, excess
}

// Seconds (avalanchego's fee.State.SecondsRemaining) returns how long a balance lasts with a number of active validators, at most limit.
func (f *ValidatorFeeConfig) Seconds(active, excess, balance, limit uint64) uint64 {
	for i := range limit {
		excess = f.advance(active, excess)
		if excess == 0 { // and so it stays
			return min(addProduct(i, balance/f.MinPrice, 1), limit)
		}
		p := f.Price(excess)
		if p > balance {
			return i
		}
		balance -= p
	}
	return limit
}

// advance moves the excess by one second towards or away from the target.
func (f *ValidatorFeeConfig) advance(active, excess uint64) uint64 {
	if active < f.Target {
		return subProduct(excess, f.Target-active, 1)
	}
	return addProduct(excess, active-f.Target, 1)
}
