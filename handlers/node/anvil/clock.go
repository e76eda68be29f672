package anvil

import (
	"context"
	"time"
)

// moveTo moves the world's clock to a time in Unix seconds, and says by how many that is later.
func (a *api) moveTo(ctx context.Context, timestamp *number) (uint64, error) {
	seconds, err := timestamp.upTo(maxTime, "the timestamp")
	if err != nil {
		return 0, err
	}
	before := a.network.Clock.Unix()
	if err := a.advance(ctx, time.Unix(int64(seconds), 0)); err != nil {
		return 0, err
	}
	return uint64(a.network.Clock.Unix() - before), nil
}

// IncreaseTime moves the world's clock, that of all chains, by so many seconds, and answers them. What falls due on the way happens, on every
// chain; in a world whose people live on, they act in that time, too.
func (a *evmAPI) IncreaseTime(ctx context.Context, seconds number) (uint64, error) {
	n, err := seconds.upTo(maxInterval*30, "the time")
	if err == nil {
		err = a.advance(ctx, a.network.Clock.Now().Add(time.Duration(n)*time.Second))
	}
	return n, err
}

// SetTime moves the world's clock to a time in Unix seconds, and answers by how many that is later.
func (a *evmAPI) SetTime(ctx context.Context, timestamp number) (uint64, error) {
	return a.moveTo(ctx, &timestamp)
}

// IncreaseTime is evm_increaseTime.
func (a *anvilAPI) IncreaseTime(ctx context.Context, seconds number) (uint64, error) {
	return (&evmAPI{a.api}).IncreaseTime(ctx, seconds)
}

// SetTime is evm_setTime.
func (a *anvilAPI) SetTime(ctx context.Context, timestamp number) (uint64, error) {
	return a.moveTo(ctx, &timestamp)
}

// SetBlockTimestampInterval says how many seconds after its parent each block is to be from now on.
func (a *anvilAPI) SetBlockTimestampInterval(seconds number) error {
	n, err := seconds.upTo(maxInterval, "the interval")
	if err == nil {
		err = a.wish(func() { a.miner.SetSpacing(time.Duration(n) * time.Second) })
	}
	return err
}

// RemoveBlockTimestampInterval lets blocks be as soon as the rules allow again, and says whether they were not.
func (a *anvilAPI) RemoveBlockTimestampInterval() (was bool, err error) {
	err = a.wish(func() { was = a.miner.SetSpacing(0) > 0 })
	return was, err
}
