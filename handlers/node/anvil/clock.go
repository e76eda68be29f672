package anvil

import (
	"context"
	"time"
)

// moveTo moves the world's clock to a time in Unix seconds and returns how far it moved.
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

// IncreaseTime advances the world's clock, which all chains share, by a number of seconds, and returns that number. Everything that falls due by then
// happens, on every chain, and in a live world people act.
func (a *evmAPI) IncreaseTime(ctx context.Context, seconds number) (uint64, error) {
	n, err := seconds.upTo(maxInterval*30, "the time")
	if err == nil {
		err = a.advance(ctx, a.network.Clock.Now().Add(time.Duration(n)*time.Second))
	}
	return n, err
}

// SetTime moves the world's clock to a time in Unix seconds and returns how far it moved.
func (a *evmAPI) SetTime(ctx context.Context, timestamp number) (uint64, error) {
	return a.moveTo(ctx, &timestamp)
}

// IncreaseTime does the same as evm_increaseTime.
func (a *anvilAPI) IncreaseTime(ctx context.Context, seconds number) (uint64, error) {
	return (&evmAPI{a.api}).IncreaseTime(ctx, seconds)
}

// SetTime does the same as evm_setTime.
func (a *anvilAPI) SetTime(ctx context.Context, timestamp number) (uint64, error) {
	return a.moveTo(ctx, &timestamp)
}

// SetBlockTimestampInterval sets the number of seconds between each later block and its parent.
func (a *anvilAPI) SetBlockTimestampInterval(seconds number) error {
	n, err := seconds.upTo(maxInterval, "the interval")
	if err == nil {
		err = a.wish(func() { a.miner.SetSpacing(time.Duration(n) * time.Second) })
	}
	return err
}

// RemoveBlockTimestampInterval removes the interval between blocks and reports whether there was one.
func (a *anvilAPI) RemoveBlockTimestampInterval() (was bool, err error) {
	err = a.wish(func() { was = a.miner.SetSpacing(0) > 0 })
	return was, err
}
