package anvil

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// Limits of one request.
const (
	maxBlocks   = 100_000
	maxDetailed = 1_000                  // blocks that an answer describes
	maxInterval = 365 * 24 * 3600        // seconds between blocks
	maxTime     = math.MaxInt64 / 10_000 // seconds since 1970: some 29 million years
)

// Advance moves a world's clock to a time.
type Advance func(ctx context.Context, to time.Time) error

// Options configures the methods that control a chain.
type Options struct {
	Network *sim.Network
	Advance Advance       // moves the network's clock
	Version string        // web3_clientVersion
	Log     func(on bool) // turns the log of the chain's requests on and off; may be nil
}

// Namespaces returns the methods that control a miner's chain.
func Namespaces(m *miner.Miner, o Options) []rpc.Namespace {
	a := &api{m, o.Network, o.Advance, o.Version, o.Log}
	return []rpc.Namespace{
		{Name: "evm", Methods: &evmAPI{a}}, {Name: "anvil", Methods: &anvilAPI{a}, Refused: refused["anvil"]},
		{Name: "hardhat", Methods: &hardhatAPI{a}, Refused: refused["hardhat"]}, {Name: "tenderly", Methods: &tenderlyAPI{a}},
		{Name: "eth", Methods: struct{}{}, Refused: refused["eth"]},
	}
}

// api is shared by the namespaces.
type api struct {
	miner   *miner.Miner
	network *sim.Network
	advance Advance
	version string
	log     func(on bool)
}

// wish changes the settings of the next blocks. A read-only world has no next blocks.
func (a *api) wish(say func()) error {
	err := a.miner.Writable()
	if err == nil {
		say()
	}
	return err
}

// done answers whether a method did what it is for.
func done(err error) (bool, error) { return err == nil, err }

// mine makes blocks; interval is in seconds, nil for the earliest time that the rules allow.
func (a *api) mine(ctx context.Context, blocks, interval *number) error {
	count, spacing := uint64(1), uint64(0)
	var err error
	if blocks != nil {
		if count, err = blocks.upTo(maxBlocks, "the number of blocks"); err != nil {
			return err
		}
	}
	if interval != nil {
		if spacing, err = interval.upTo(maxInterval, "the interval"); err != nil {
			return err
		}
	}
	return a.miner.Mine(ctx, count, time.Duration(spacing)*time.Second)
}

func (a *api) setNextTime(ctx context.Context, timestamp *number) error {
	seconds, err := timestamp.upTo(maxTime, "the timestamp")
	if err != nil {
		return err
	}
	return a.miner.SetNextTime(ctx, seconds*1000)
}

func (a *api) setGasLimit(limit number) (bool, error) {
	n, err := limit.upTo(math.MaxInt64, "the gas limit")
	if err == nil {
		err = a.wish(func() { a.miner.SetGasLimit(n) })
	}
	return err == nil, err
}

// mineDetailed makes blocks as evm_mine does, and describes each in full: with what its transactions returned, and why they reverted.
func (a *api) mineDetailed(ctx context.Context, options *mineOptions) (rpc.Result, error) {
	count := uint64(1)
	if options != nil && options.Blocks != nil {
		var err error
		if count, err = options.Blocks.upTo(maxDetailed, "the number of blocks"); err != nil {
			return rpc.Result{}, err
		}
	}
	if options != nil && options.Timestamp != nil {
		if err := a.setNextTime(ctx, options.Timestamp); err != nil {
			return rpc.Result{}, err
		}
	}
	numbers, err := a.miner.MineNumbered(ctx, count, 0)
	if err != nil {
		return rpc.Result{}, err
	}
	if err := rest.AwaitLargeAnswer(ctx); err != nil {
		return rpc.Result{}, err
	}
	blocks := make([]json.RawMessage, 0, len(numbers))
	for _, number := range numbers {
		block, err := a.detailed(ctx, number)
		if err != nil {
			return rpc.Result{}, err
		}
		blocks = append(blocks, block)
	}
	return rpc.List(blocks), nil
}

var topCall = &reader.TraceConfig{Tracer: new("callTracer"), TracerConfig: json.RawMessage(`{"onlyTopCall":true}`)}

// detailed describes a block in full.
func (a *api) detailed(ctx context.Context, number uint64) (json.RawMessage, error) {
	chain := a.miner.Chain
	b, err := chain.Block(ctx, number)
	if err != nil {
		return nil, err
	}
	transactions, err := chain.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	traces, err := chain.TraceBlock(ctx, b, topCall)
	if err != nil {
		return nil, err
	}
	outcomes := make([]marshal.Outcome, len(traces))
	for i := range traces {
		if err := json.Unmarshal(traces[i].Trace.JSON(), &outcomes[i]); err != nil {
			return nil, err
		}
	}
	return marshal.DetailedBlock(chain.Kind, b, transactions, chain.Size(b, transactions), outcomes), nil
}

// evmAPI implements the evm methods of anvil and Hardhat, with Hardhat's meaning.
type evmAPI struct{ *api }

// Mine makes a block, at a time in Unix seconds if the caller gives one, or as many blocks as the object asks for.
func (a *evmAPI) Mine(ctx context.Context, options *mineOptions) (string, error) {
	if options == nil {
		options = &mineOptions{}
	}
	if options.Timestamp != nil {
		if err := a.setNextTime(ctx, options.Timestamp); err != nil {
			return "", err
		}
	}
	return "0x0", a.mine(ctx, options.Blocks, nil)
}

// Mine_detailed makes blocks as evm_mine does, at most 1,000, and returns them in full: each transaction with its output and, if it reverted with
// a reason, its revertReason.
func (a *evmAPI) Mine_detailed(ctx context.Context, options *mineOptions) (rpc.Result, error) {
	return a.mineDetailed(ctx, options)
}

// SetAutomine turns automine on or off: one block for each transaction, at once.
func (a *evmAPI) SetAutomine(on bool) (bool, error) {
	return done(a.wish(func() { a.miner.SetAutomine(on) }))
}

// SetIntervalMining makes a block at an interval of real time in milliseconds; 0 stops it. Automine does not change.
func (a *evmAPI) SetIntervalMining(milliseconds number) (bool, error) {
	n, err := milliseconds.upTo(maxInterval*1000, "the interval")
	if err == nil {
		err = a.wish(func() { a.miner.SetInterval(time.Duration(n) * time.Millisecond) })
	}
	return err == nil, err
}

// SetBlockGasLimit sets the gas limit of later blocks.
func (a *evmAPI) SetBlockGasLimit(limit number) (bool, error) { return a.setGasLimit(limit) }

// SetNextBlockTimestamp sets the next block's time in Unix seconds.
func (a *evmAPI) SetNextBlockTimestamp(ctx context.Context, timestamp number) (string, error) {
	return timestamp.String(), a.setNextTime(ctx, &timestamp)
}

// anvilAPI implements the anvil methods with anvil's meaning. Most of them return null.
type anvilAPI struct{ *api }

// Mine makes a number of blocks, an interval of seconds apart.
func (a *anvilAPI) Mine(ctx context.Context, blocks, interval *number) error {
	return a.mine(ctx, blocks, interval)
}

// Mine_detailed does the same as evm_mine_detailed.
func (a *anvilAPI) Mine_detailed(ctx context.Context, options *mineOptions) (rpc.Result, error) {
	return a.mineDetailed(ctx, options)
}

// SetAutomine turns automine on or off: one block for each transaction, at once.
func (a *anvilAPI) SetAutomine(on bool) error {
	return a.wish(func() { a.miner.SetAutomine(on) })
}

// GetAutomine reports whether automine is on.
func (a *anvilAPI) GetAutomine() bool { return a.miner.Automine() }

// SetIntervalMining makes a block at an interval of real time in seconds instead of one for each transaction; with 0, only requests make
// blocks.
func (a *anvilAPI) SetIntervalMining(seconds number) error {
	n, err := seconds.upTo(maxInterval, "the interval")
	if err != nil {
		return err
	}
	return a.wish(func() {
		a.miner.SetAutomine(false)
		a.miner.SetInterval(time.Duration(n) * time.Second)
	})
}

// GetIntervalMining returns the interval in seconds, null for none.
func (a *anvilAPI) GetIntervalMining() *uint64 {
	every := a.miner.Interval()
	if every == 0 {
		return nil
	}
	return new(uint64(every / time.Second))
}

// SetBlockGasLimit sets the gas limit of later blocks.
func (a *anvilAPI) SetBlockGasLimit(limit number) (bool, error) { return a.setGasLimit(limit) }

// SetNextBlockBaseFeePerGas sets the next block's base fee in wei.
func (a *anvilAPI) SetNextBlockBaseFeePerGas(fee number) error {
	return a.wish(func() { a.miner.SetNextBaseFee(&fee.Int) })
}

// SetCoinbase sets the account that receives later blocks' fees.
func (a *anvilAPI) SetCoinbase(address common.Address) error {
	return a.wish(func() { a.miner.SetCoinbase(address) })
}

// SetNextBlockTimestamp sets the next block's time in Unix seconds.
func (a *anvilAPI) SetNextBlockTimestamp(ctx context.Context, timestamp number) error {
	return a.setNextTime(ctx, &timestamp)
}

// DropTransaction removes a transaction from the pool and returns its hash, null if there was none.
func (a *anvilAPI) DropTransaction(ctx context.Context, hash common.Hash) (dropped *common.Hash, err error) {
	err = a.wish(func() {
		if a.miner.Drop(ctx, hash) {
			dropped = &hash
		}
	})
	return dropped, err
}

// DropAllTransactions empties the pool.
func (a *anvilAPI) DropAllTransactions(ctx context.Context) error {
	return a.wish(func() { a.miner.DropAll(ctx) })
}

// DropAllTransactions empties the pool.
func (a *hardhatAPI) DropAllTransactions(ctx context.Context) (bool, error) {
	return done(a.wish(func() { a.miner.DropAll(ctx) }))
}

// RemovePoolTransactions removes an account's transactions from the pool.
func (a *anvilAPI) RemovePoolTransactions(ctx context.Context, address common.Address) error {
	return a.wish(func() { a.miner.DropSender(ctx, address) })
}

// hardhatAPI implements the hardhat methods. They return true.
type hardhatAPI struct{ *api }

// Mine makes a number of blocks, an interval of seconds apart.
func (a *hardhatAPI) Mine(ctx context.Context, blocks, interval *number) (bool, error) {
	return done(a.mine(ctx, blocks, interval))
}

// GetAutomine reports whether automine is on.
func (a *hardhatAPI) GetAutomine() bool { return a.miner.Automine() }

// SetNextBlockBaseFeePerGas sets the next block's base fee in wei.
func (a *hardhatAPI) SetNextBlockBaseFeePerGas(fee number) (bool, error) {
	return done(a.wish(func() { a.miner.SetNextBaseFee(&fee.Int) }))
}

// SetCoinbase sets the account that receives later blocks' fees.
func (a *hardhatAPI) SetCoinbase(address common.Address) (bool, error) {
	return done(a.wish(func() { a.miner.SetCoinbase(address) }))
}

// DropTransaction removes a transaction from the pool and reports whether there was one.
func (a *hardhatAPI) DropTransaction(ctx context.Context, hash common.Hash) (bool, error) {
	dropped := false
	if err := a.wish(func() { dropped = a.miner.Drop(ctx, hash) }); dropped || err != nil {
		return dropped, err
	}
	switch _, err := a.miner.Chain.Transaction(ctx, hash); {
	case err == nil:
		return false, fmt.Errorf("Transaction %s cannot be dropped because it has already been mined", hash.Hex())
	case !errors.Is(err, store.ErrNotFound):
		return false, err
	}
	return false, nil
}
