package metrics_test

import (
	"bytes"
	"math"
	"math/big"
	"sort"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// The naive evaluation computes every point from scratch, straight from blocks, transactions, logs and calls.

type happening struct {
	chain   int
	network string
	time    int64
	gap     int64 // -1 for a chain's first block
	gas     int64
	prices  []*big.Int
	fees    *big.Int
	present []common.Address
	senders []common.Address
	makers  []common.Address // one for each contract
}

// happenings returns all blocks of a world in order of time.
func happenings(t testing.TB, w *sim.World) []happening {
	t.Helper()
	var all []happening
	for _, c := range w.Chains {
		blocks, err := w.DB.Blocks(t.Context(), c.Row.ID, 0, store.MaxNumber)
		if err != nil {
			t.Fatal(err)
		}
		for i := range blocks {
			h := happen(t, w, c, &blocks[i])
			h.gap = -1
			if i > 0 {
				h.gap = max(1, blocks[i].Time-blocks[i-1].Time)
			}
			all = append(all, h)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].time < all[j].time })
	return all
}

func happen(t testing.TB, w *sim.World, c *reader.Chain, b *store.Block) happening {
	t.Helper()
	h := happening{chain: c.Row.ID, network: c.Row.Network, time: b.Time, fees: new(big.Int)}
	baseFee, err := evm.PaidBaseFee(c.Kind, b.Header, b.Execution)
	if err != nil {
		t.Fatal(err)
	}
	txs, err := w.DB.Transactions(t.Context(), b.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range txs {
		h.transaction(t, &txs[i], baseFee)
	}
	logs, err := w.DB.LogsBetween(t.Context(), b.ID.Block(), b.ID.End(), math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	for i := range logs {
		h.log(&logs[i])
	}
	calls, err := w.DB.Calls(t.Context(), b.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		if len(call.Type) >= 6 && call.Type[:6] == "CREATE" && !call.Reverted {
			h.makers = append(h.makers, common.Address(call.Sender))
		}
	}
	return h
}

func (h *happening) transaction(t testing.TB, row *store.Transaction, base *big.Int) {
	t.Helper()
	var tx types.Transaction
	if err := tx.UnmarshalBinary(row.Raw); err != nil {
		t.Fatal(err)
	}
	price := tx.GasFeeCap()
	if tip := tx.EffectiveGasTipValue(base); tip.Sign() >= 0 {
		price = new(big.Int).Add(base, tip)
	}
	from := common.Address(row.Sender)
	h.present, h.senders = append(h.present, from), append(h.senders, from)
	if to := tx.To(); to != nil {
		h.present = append(h.present, *to)
	} else if row.Status == 1 {
		h.makers = append(h.makers, from)
	}
	h.gas += int64(row.GasUsed)
	h.prices = append(h.prices, price)
	h.fees.Add(h.fees, new(big.Int).Mul(price, new(big.Int).SetUint64(row.GasUsed)))
}

// log finds transfers by the hashes of their signatures, like every explorer.
func (h *happening) log(l *store.Log) {
	var from, to []byte
	switch common.Bytes2Hex(l.Topic) {
	case "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef":
		if (len(l.Topics) != 64 || len(l.Data) != 32) && (len(l.Topics) != 96 || len(l.Data) != 0) {
			return
		}
		from, to = l.Topics[12:32], l.Topics[44:64]
	case "c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62",
		"4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb":
		from, to = l.Topics[44:64], l.Topics[76:96]
	default:
		return
	}
	h.present = append(h.present, common.Address(bytes.Clone(from)), common.Address(bytes.Clone(to)))
	h.senders = append(h.senders, common.Address(bytes.Clone(from)))
}

// in keeps the happenings of a scope.
func in(all []happening, scope string, w *sim.World) []happening {
	var kept []happening
	for _, h := range all {
		ok := scope == "total" || scope == "mainnet" && h.network == "mainnet" || scope == "testnet" && h.network == "fuji"
		if c := w.ChainNamed(scope); c != nil {
			ok = c.Row.ID == h.chain
		}
		if ok {
			kept = append(kept, h)
		}
	}
	return kept
}

// starts returns the beginnings of the intervals from the first block to the clock, newest first.
func starts(interval string, from, to int64) []int64 {
	f := time.Unix(from, 0).UTC()
	at := time.Date(f.Year(), f.Month(), f.Day(), 0, 0, 0, 0, time.UTC)
	switch interval {
	case "hour":
		at = at.Add(time.Duration(f.Hour()) * time.Hour)
	case "week":
		for at.Weekday() != time.Monday {
			at = at.AddDate(0, 0, -1)
		}
	case "month":
		at = time.Date(f.Year(), f.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	var list []int64
	for ; at.Unix() <= to; at = following(interval, at) {
		list = append([]int64{at.Unix()}, list...)
	}
	return list
}

func following(interval string, at time.Time) time.Time {
	switch interval {
	case "hour":
		return at.Add(time.Hour)
	case "week":
		return at.AddDate(0, 0, 7)
	case "month":
		return at.AddDate(0, 1, 0)
	}
	return at.AddDate(0, 0, 1)
}

// span returns the events from one time on and before another.
func span(all []happening, from, to int64) []happening {
	i := sort.Search(len(all), func(i int) bool { return all[i].time >= from })
	j := sort.Search(len(all), func(i int) bool { return all[i].time >= to })
	return all[i:max(i, j)]
}

// naive returns the value of a metric over [from, to) of a scope's happenings.
func naive(metric string, all []happening, from, to int64) *big.Rat {
	now, ever := span(all, from, to), span(all, 0, to)
	switch metric {
	case "activeAddresses":
		return distinct(now, func(h happening) []common.Address { return h.present })
	case "activeSenders":
		return distinct(now, func(h happening) []common.Address { return h.senders })
	case "deployers":
		return distinct(now, func(h happening) []common.Address { return h.makers })
	case "cumulativeAddresses":
		return distinct(ever, func(h happening) []common.Address { return h.present })
	case "cumulativeDeployers":
		return distinct(ever, func(h happening) []common.Address { return h.makers })
	case "contracts":
		return sum(now, func(h happening) *big.Int { return big.NewInt(int64(len(h.makers))) })
	case "cumulativeContracts":
		return sum(span(all, 0, from), func(h happening) *big.Int { return big.NewInt(int64(len(h.makers))) })
	case "txCount":
		return sum(now, transactions)
	case "cumulativeTxCount":
		return sum(ever, transactions)
	case "gasUsed":
		return sum(now, gas)
	case "feesPaid":
		return sum(now, func(h happening) *big.Int { return h.fees })
	case "avgGps":
		return perSecond(all, from, to, gas)
	case "avgTps":
		return perSecond(all, from, to, transactions)
	case "maxGps":
		return highest(now, func(h happening) []*big.Rat { return rate(h, gas(h)) })
	case "maxTps":
		return highest(now, func(h happening) []*big.Rat { return rate(h, transactions(h)) })
	case "maxGasPrice":
		return highest(now, prices)
	case "avgGasPrice":
		total, n := new(big.Rat), int64(0)
		for _, h := range now {
			for _, p := range prices(h) {
				total.Add(total, p)
				n++
			}
		}
		return total.Mul(total, big.NewRat(1, max(n, 1)))
	}
	return nil
}

func transactions(h happening) *big.Int { return big.NewInt(int64(len(h.prices))) }
func gas(h happening) *big.Int          { return big.NewInt(h.gas) }

func prices(h happening) (all []*big.Rat) {
	for _, p := range h.prices {
		all = append(all, new(big.Rat).SetInt(p))
	}
	return all
}

func rate(h happening, amount *big.Int) []*big.Rat {
	if h.gap < 0 {
		return nil
	}
	return []*big.Rat{new(big.Rat).SetFrac(amount, big.NewInt(h.gap))}
}

func distinct(hs []happening, of func(happening) []common.Address) *big.Rat {
	seen := map[common.Address]bool{}
	for _, h := range hs {
		for _, a := range of(h) {
			seen[a] = true
		}
	}
	return big.NewRat(int64(len(seen)), 1)
}

func sum(hs []happening, of func(happening) *big.Int) *big.Rat {
	total := new(big.Int)
	for _, h := range hs {
		total.Add(total, of(h))
	}
	return new(big.Rat).SetInt(total)
}

func highest(hs []happening, of func(happening) []*big.Rat) *big.Rat {
	top := new(big.Rat)
	for _, h := range hs {
		for _, v := range of(h) {
			if v.Cmp(top) > 0 {
				top = v
			}
		}
	}
	return top
}

func perSecond(all []happening, from, to int64, of func(happening) *big.Int) *big.Rat {
	now := span(all, from, to)
	if len(now) == 0 {
		return new(big.Rat)
	}
	since := now[0].time
	if before := span(all, 0, from); len(before) > 0 {
		since = before[len(before)-1].time
	}
	seconds := now[len(now)-1].time - since
	if seconds == 0 {
		return new(big.Rat)
	}
	total := sum(now, of)
	return total.Mul(total, big.NewRat(1, seconds))
}
