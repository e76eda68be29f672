package eth

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/sim/evm/reader"
)

// configAPI implements eth methods that describe what a chain's node offers, which no node of the network has.
type configAPI struct{ *api }

// capabilities is the result of eth_capabilities (https://github.com/ethereum/execution-apis/pull/755).
type capabilities struct {
	Head struct {
		Number hexutil.Uint64 `json:"number"`
		Hash   common.Hash    `json:"hash"`
	} `json:"head"`
	State       available `json:"state"`
	Tx          available `json:"tx"`
	Logs        available `json:"logs"`
	Receipts    available `json:"receipts"`
	Blocks      available `json:"blocks"`
	StateProofs available `json:"stateproofs"`
}

// available says from which block on something can be asked for.
type available struct {
	Disabled    bool           `json:"disabled"`
	OldestBlock hexutil.Uint64 `json:"oldestBlock"`
}

// Capabilities returns the newest block, and the block from which states, transactions, logs, receipts, blocks and proofs are available: always the
// first, because Snowglobe prunes nothing.
func (a *configAPI) Capabilities(ctx context.Context) (*capabilities, error) {
	head, err := a.chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	c := &capabilities{}
	c.Head.Number, c.Head.Hash = hexutil.Uint64(head.Number), head.Hash
	return c, nil
}

// configuration is the result of eth_config (EIP-7910).
type configuration struct {
	Current *forkConfig `json:"current"`
	Next    *forkConfig `json:"next"`
	Last    *forkConfig `json:"last"`
}

// forkConfig describes the rules from an upgrade on.
type forkConfig struct {
	ActivationTime  uint64                    `json:"activationTime"`
	BlobSchedule    blobSchedule              `json:"blobSchedule"`
	ChainID         hexutil.Uint64            `json:"chainId"`
	ForkID          hexutil.Bytes             `json:"forkId"`
	Precompiles     map[string]common.Address `json:"precompiles"`
	SystemContracts map[string]common.Address `json:"systemContracts"`
}

// blobSchedule is zero: blocks of the network have no blobs.
type blobSchedule struct {
	Target                uint64 `json:"target"`
	Max                   uint64 `json:"max"`
	BaseFeeUpdateFraction uint64 `json:"baseFeeUpdateFraction"`
}

// Config returns the rules in force at the newest block, the next ones, and the last scheduled ones (EIP-7910). The network's upgrades and those of
// an L1's own precompiles are the forks. Stateful precompiles have the names that eth_getActivePrecompilesAt gives them; there are no system
// contracts.
func (a *configAPI) Config(ctx context.Context) (*configuration, error) {
	first, err := a.chain.Block(ctx, 0)
	if err != nil {
		return nil, err
	}
	head, err := a.chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	times := forkTimes(a.chain, first.Header.Time)
	next, found := slices.BinarySearch(times, head.Header.Time)
	if found {
		next++
	}
	at := func(n int) *forkConfig {
		c := &forkConfig{ChainID: hexutil.Uint64(a.chain.Genesis.ChainID), ForkID: forkID(first.Hash, times[:n]), SystemContracts: map[string]common.Address{}}
		now := first.Header.Time
		if n > 0 {
			now, c.ActivationTime = times[n-1], times[n-1]
		}
		c.Precompiles = a.chain.PrecompileNames(now)
		return c
	}
	c := &configuration{Current: at(next)}
	if next < len(times) {
		c.Next, c.Last = at(next+1), at(len(times))
	}
	return c, nil
}

// forkTimes lists the times after the first block's at which a chain's rules change, in order.
func forkTimes(c *reader.Chain, first uint64) (times []uint64) {
	u := c.Upgrades
	scheduled := []int64{u.ApricotPhase1, u.ApricotPhase2, u.ApricotPhase3, u.ApricotPhase4, u.ApricotPhase5, u.ApricotPhasePre6, u.ApricotPhase6,
		u.ApricotPhasePost6, u.Banff, u.Cortina, u.Durango, u.Etna, u.Fortuna, u.Granite, u.Helicon}
	for _, time := range scheduled {
		if time < fixtures.Unscheduled {
			times = append(times, uint64(time))
		}
	}
	for _, configs := range c.Genesis.Precompiles.Upgrades {
		for _, config := range configs {
			times = append(times, *config.BlockTimestamp)
		}
	}
	slices.Sort(times)
	return slices.DeleteFunc(slices.Compact(times), func(time uint64) bool { return time <= first })
}

// forkID is the FORK_HASH of EIP-6122: the checksum of the first block's hash and the times of the forks since.
func forkID(first common.Hash, times []uint64) []byte {
	sum := crc32.ChecksumIEEE(first[:])
	for _, time := range times {
		sum = crc32.Update(sum, crc32.IEEETable, binary.BigEndian.AppendUint64(nil, time))
	}
	return binary.BigEndian.AppendUint32(nil, sum)
}
