package prometheus

import (
	"bufio"
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

var sample = regexp.MustCompile(`^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\})?) (\S+)$`)

// parse reads the text format: samples by name and labels. Each has a type and a help before it, and none is there twice.
func parse(t *testing.T, text string) map[string]float64 {
	t.Helper()
	all, kinds, helps := map[string]float64{}, map[string]string{}, map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if words := strings.SplitN(line, " ", 4); words[0] == "#" {
			switch words[1] {
			case "HELP":
				helps[words[2]] = len(words) == 4
			case "TYPE":
				kinds[words[2]] = words[3]
			}
			continue
		}
		found := sample.FindStringSubmatch(line)
		if found == nil {
			t.Fatalf("not in the text format: %q", line)
		}
		name, _, _ := strings.Cut(found[1], "{")
		family := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base, cut := strings.CutSuffix(name, suffix); cut && kinds[base] == "histogram" {
				family = base
			}
		}
		value, err := strconv.ParseFloat(found[2], 64)
		if _, twice := all[found[1]]; err != nil || twice || !helps[family] || (kinds[family] == "counter") != strings.HasSuffix(name, "_total") {
			t.Errorf("%q: %v, twice %t, a %s", line, err, twice, kinds[family])
		}
		all[found[1]] = value
	}
	return all
}

// TestRequests: requests are counted by operation and status, and a bucket has those that took its bound at most.
func TestRequests(t *testing.T) {
	m, random := New(), rand.New(rand.NewPCG(3, 4))
	type observed struct {
		name   string
		status int
		took   time.Duration
	}
	var all []observed
	for range 500 {
		o := observed{[]string{"", "eth_call", "a\"b\\c\nd"}[random.IntN(3)], []int{200, 404, 500}[random.IntN(3)], time.Duration(random.Int64N(int64(20 * time.Millisecond)))}
		switch random.IntN(4) {
		case 0:
			o.took = buckets[random.IntN(len(buckets))]
		case 1:
			o.took *= 1000
		}
		m.Observe(o.name, o.status, o.took)
		all = append(all, o)
	}
	var text bytes.Buffer
	m.write(&text)
	got, want := parse(t, text.String()), map[string]float64{}
	for _, o := range all {
		name := map[string]string{"": `"none"`, "eth_call": `"eth_call"`, "a\"b\\c\nd": `"a\"b\\c\nd"`}[o.name]
		want[fmt.Sprintf(`snowglobe_requests_total{operation=%s,status="%d"}`, name, o.status)]++
		want[fmt.Sprintf(`snowglobe_request_duration_seconds_count{operation=%s}`, name)]++
		want[fmt.Sprintf(`snowglobe_request_duration_seconds_sum{operation=%s}`, name)] += o.took.Seconds()
		for _, bound := range []string{"0.0001", "0.0003", "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "3", "10", "+Inf"} {
			bucket := fmt.Sprintf(`snowglobe_request_duration_seconds_bucket{operation=%s,le="%s"}`, name, bound)
			want[bucket] += 0
			if seconds, _ := strconv.ParseFloat(bound, 64); o.took.Seconds() <= seconds {
				want[bucket]++
			}
		}
	}
	for name, n := range want {
		if have, there := got[name]; !there || have-n > 1e-6*n || n-have > 1e-6*n {
			t.Errorf("%s is %g, want %g", name, have, n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d samples, want %d:\n%s", len(got), len(want), &text)
	}
}

// served is a world with its metrics.
type served struct {
	*testing.T
	metrics http.Handler
}

func serve(t *testing.T, w *sim.World) *served {
	n, err := node.New(node.Options{Miners: w.Miners, Networks: w.Networks, Network: "mainnet", Version: "v", Loggers: map[string]*node.Loggers{}, Profiler: node.NewProfiler(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	return &served{t, New().Handler(w, n, func() int { return 7 })}
}

func (s *served) get() *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.metrics.ServeHTTP(w, httptest.NewRequest("GET", "/ext/metrics", nil))
	return w
}

func (s *served) read() map[string]float64 {
	s.Helper()
	w := s.get()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		s.Fatalf("%d %s", w.Code, w.Body)
	}
	return parse(s.T, w.Body.String())
}

// TestHeights: the world's time, the heights of all chains, the worlds and the process's resources are there; a file that cannot be read is an error.
func TestHeights(t *testing.T) {
	w := seedtest.Copy(t, 1)
	s := serve(t, w)
	got := s.read()
	want := map[string]float64{"snowglobe_clock_seconds": float64(w.Clock.Unix()), "snowglobe_worlds": 7, "snowglobe_repeated_calls_total": 0}
	for _, m := range w.Miners {
		head, err := m.Chain.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		name := ids.ID(m.Chain.Row.BlockchainID).String()
		if m.Chain.Kind == evm.KindC {
			name = "C"
		}
		want[fmt.Sprintf("snowglobe_height{network=%q,chain=%q}", m.Chain.Row.Network, name)] = float64(head.Number)
	}
	for name, n := range want {
		if have, there := got[name]; !there || have != n {
			t.Errorf("%s is %g, want %g", name, have, n)
		}
	}
	for _, chain := range []string{`network="mainnet",chain="P"`, `network="mainnet",chain="X"`, `network="fuji",chain="P"`, `network="fuji",chain="X"`} {
		if got["snowglobe_height{"+chain+"}"] == 0 {
			t.Errorf("%s has no height", chain)
		}
	}
	if got["go_goroutines"] < 1 || got["go_memstats_heap_alloc_bytes"] < 1<<20 || got["go_memstats_sys_bytes"] < got["go_memstats_heap_alloc_bytes"] ||
		got["snowglobe_cache_limit_bytes"] < got["snowglobe_cache_bytes"] || got["snowglobe_cache_bytes"] <= 0 {
		t.Errorf("the process's resources: %v", got)
	}
	if resident := got["process_resident_memory_bytes"]; runtime.GOOS == "linux" && (resident < 1<<20 || resident > 1<<34 || got["process_open_fds"] < 3) {
		t.Errorf("resident are %g bytes, open %g files", resident, got["process_open_fds"])
	}
	w.Close()
	if w := s.get(); w.Code != 500 || w.Body.String() != "the world's file could not be read\n" {
		t.Errorf("of a closed world: %d %s", w.Code, w.Body)
	}
}

// TestExecution: the gauges describe the last executed and settled block and those that wait; the counters have the gas of the blocks since the
// process began, also of those made again after a revert.
func TestExecution(t *testing.T) {
	w := seedtest.Copy(t, 1)
	m := w.MinerOf(w.Networks[0].CChain())
	s := serve(t, w)
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	from := common.BytesToAddress(personas[0].Address)
	var accepted, executedLimit, charged float64
	block := func(number uint64) *reader.Block {
		t.Helper()
		b, err := m.Chain.Block(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	head := func() uint64 {
		t.Helper()
		b, err := m.Chain.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b.Number
	}
	send := func() {
		t.Helper()
		nonce, err := m.Nonce(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
		tx, err := evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: nonce, Gas: 100_000, GasTipCap: new(big.Int), GasFeeCap: big.NewInt(1e12), To: &common.Address{1}}), id, from)
		if err == nil {
			err = m.SendFrom(t.Context(), tx, from)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const prefix = "avalanche_evm_transition_"
	seenAccepted, seenExecuted := head(), head()
	check := func(name string) {
		t.Helper()
		got := s.read()
		last, err := m.LastExecuted(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		settled, err := m.LastSettled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for seenAccepted = min(seenAccepted, head()); seenAccepted < head(); seenAccepted++ {
			accepted += float64(block(seenAccepted + 1).Header.GasUsed)
		}
		for seenExecuted = min(seenExecuted, last.Number); seenExecuted < last.Number; seenExecuted++ {
			b := block(seenExecuted + 1)
			executedLimit, charged = executedLimit+float64(b.Header.GasUsed), charged+float64(b.Results.GasCharged)
		}
		waiting := 0.0
		for n := last.Number + 1; n <= head(); n++ {
			waiting += float64(block(n).Header.GasUsed)
		}
		bound, err := m.Chain.PriceBound(t.Context(), last)
		if err != nil {
			t.Fatal(err)
		}
		number := func(n *big.Int) float64 { f, _ := n.Float64(); return f }
		gasTime := last.Results.GasTime(last.Header)
		for metric, want := range map[string]float64{
			"sae_last_executed_height": float64(last.Number), "sae_last_settled_height": float64(settled.Number), "sae_execution_queue_blocks": float64(head() - last.Number),
			"sae_execution_queue_gas_limit": waiting, "sae_executed_gas_charged_total": charged, "sae_executed_gas_limit_total": executedLimit, "sae_accepted_gas_limit_total": accepted,
			"sae_last_executed_gas_time_seconds": gasTime, "sae_gas_time_wall_time_gap_seconds": gasTime - float64(w.Clock.UnixMilli())/1000,
			"sae_worst_case_base_fee": number(last.Header.BaseFee), "sae_executed_base_fee": number(last.Results.BaseFee), "sae_worst_case_gas_excess": float64(bound.Excess()),
			"sae_executed_gas_excess": float64(last.Results.Excess), "sae_gas_target": float64(last.Header.GasTarget()),
			"cchain_min_block_delay_seconds": float64(last.Header.EarliestChild()-last.Header.TimeMilliseconds) / 1000,
		} {
			have, there := got[prefix+metric+`{network="mainnet"}`]
			if difference := have - want; !there || difference > 0.001 || difference < -0.001 {
				t.Errorf("%s: %s is %f, want %f", name, metric, have, want)
			}
			if _, there := got[prefix+metric+`{network="fuji"}`]; !there {
				t.Errorf("%s: no %s of fuji", name, metric)
			}
		}
	}
	check("at the beginning")
	send()
	send()
	check("after two transactions")
	if charged == 0 || charged >= executedLimit || accepted != executedLimit {
		t.Errorf("charged are %g of %g, accepted %g", charged, executedLimit, accepted)
	}
	snapshot, err := w.TakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SetFault(t.Context(), miner.Fault{ExecutionLag: miner.Lag{Blocks: 2}}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		send()
	}
	check("while execution lags")
	if err := w.Revert(t.Context(), snapshot.ID, true); err != nil {
		t.Fatal(err)
	}
	check("after a revert")
	send()
	check("after another transaction")
	if err := m.SetFault(t.Context(), miner.Fault{}); err != nil {
		t.Fatal(err)
	}
	check("when all is executed")
}

// TestNothingBeforeHelicon: a C-Chain that executes blocks before it accepts them has none of these metrics.
func TestNothingBeforeHelicon(t *testing.T) {
	for name := range serve(t, seedtest.Copy(t, 1, "helicon=never")).read() {
		if strings.HasPrefix(name, "avalanche_evm_transition") {
			t.Errorf("%s is there", name)
		}
	}
}
