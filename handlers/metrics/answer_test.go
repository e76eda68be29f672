package metrics_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/metrics"
)

func TestPagesHoldEveryPointOnce(t *testing.T) {
	w := shared(t, "tiny", 1)
	s := serve(t, w)
	for _, metric := range []string{"txCount", "activeAddresses"} {
		whole := everyPoint(t, s, "total", metric, "hour", 2160)
		if len(whole) != 14*24 {
			t.Fatalf("%s: %d hours", metric, len(whole))
		}
		for _, size := range []int{1, 7, 100, 337, 2000} {
			if paged := everyPoint(t, s, "total", metric, "hour", size); !slices.Equal(paged, whole) {
				t.Errorf("%s: pages of %d hold other points", metric, size)
			}
		}
	}
	for _, metric := range []string{"cumulativeAddresses", "cumulativeContracts", "avgGps"} {
		if !slices.Equal(everyPoint(t, s, "43114", metric, "day", 4), everyPoint(t, s, "43114", metric, "day", 100)) {
			t.Errorf("%s: pages of 4 hold other points", metric)
		}
	}
}

// TestTokenGoesOnWhereThePageEnded, even when the clock has moved on and there are newer points.
func TestTokenGoesOnWhereThePageEnded(t *testing.T) {
	w := generate(t, "tiny", 1)
	s := serve(t, w)
	const target = "/v2/chains/mainnet/metrics/gasUsed?pageSize=5"
	first := ask[metrics.Series](t, s, target)
	if len(first.NextPageToken) != 36 {
		t.Errorf("token is %q", first.NextPageToken)
	}
	w.Clock.Set(w.Clock.Now().Add(23 * time.Hour))
	second := ask[metrics.Series](t, s, target+"&pageToken="+first.NextPageToken)
	if gap := first.Results[4].Timestamp - second.Results[0].Timestamp; gap != 24*3600 {
		t.Errorf("second page begins %d seconds before the end of the first", gap)
	}
	w.Clock.Set(w.Clock.Now().Add(time.Hour))
	if code, body := get(t, s, target+"&pageToken="+first.NextPageToken); code != 400 || !strings.Contains(string(body), `"message":["pageToken`) {
		t.Errorf("answer to an old token is %d %s", code, body)
	}
	if code, body := get(t, s, "/v2/chains/mainnet/metrics/txCount?pageToken="+second.NextPageToken); code != 400 {
		t.Errorf("answer to the token of another metric is %d %s", code, body)
	}
}

func TestStartIsIncludedAndEndIsNot(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	all := everyPoint(t, s, "total", "txCount", "day", 100)
	newest, oldest := all[0].Timestamp, all[len(all)-1].Timestamp
	for _, c := range []struct {
		query    string
		from, to int // indexes into all points
	}{
		{fmt.Sprintf("startTimestamp=%d", all[3].Timestamp), 0, 4},
		{fmt.Sprintf("startTimestamp=%d", all[3].Timestamp+1), 0, 3},
		{fmt.Sprintf("endTimestamp=%d", all[3].Timestamp), 4, len(all)},
		{fmt.Sprintf("endTimestamp=%d", all[3].Timestamp+1), 3, len(all)},
		{fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", all[6].Timestamp, all[2].Timestamp), 3, 7},
		{fmt.Sprintf("startTimestamp=%d&endTimestamp=%d", all[2].Timestamp, all[2].Timestamp), 0, 0},
		{fmt.Sprintf("startTimestamp=%d", newest+1), 0, 0},
		{fmt.Sprintf("startTimestamp=%d", int64(1)<<62), 0, 0},
		{fmt.Sprintf("endTimestamp=%d", int64(1)<<62), 0, len(all)},
		{fmt.Sprintf("endTimestamp=%d", oldest), 0, 0},
		{"endTimestamp=0", 0, 0},
		{"startTimestamp=0", 0, len(all)},
	} {
		have := ask[metrics.Series](t, s, "/v2/chains/total/metrics/txCount?timeInterval=day&"+c.query)
		if !slices.Equal(have.Results, all[c.from:c.to]) {
			t.Errorf("%s: points are %v, want %v", c.query, have.Results, all[c.from:c.to])
		}
	}
}

// TestNewestPointMovesWithTheClock: it is partial, and time without activity makes points, too, once a second of it has passed.
func TestNewestPointMovesWithTheClock(t *testing.T) {
	a := newSmall(t, 1, "mainnet", at("2026-05-31 22:00:00"))
	w := smallWorld(t, at("2026-05-31 22:30:00"), []*small{a}, a.block(at("2026-05-31 22:30:00"), deed{from: 0, to: 1}))
	s := serve(t, w)
	hours := func(want string) {
		t.Helper()
		var have string
		for _, p := range everyPoint(t, s, "1001", "txCount", "hour", 100) {
			have += fmt.Sprintf("%s %s, ", time.Unix(p.Timestamp, 0).UTC().Format("15h"), p.Value)
		}
		if have != want+", " {
			t.Errorf("points are %s want %s", have, want)
		}
	}
	hours("22h 1")
	batch, err := w.DB.Begin()
	if err == nil {
		err = batch.End(batch.AddBlock(a.block(at("2026-05-31 22:40:00"), deed{from: 0, to: 1})))
	}
	if err != nil {
		t.Fatal(err)
	}
	hours("22h 2")
	w.Clock.Set(at("2026-05-31 22:59:59"))
	hours("22h 2")
	w.Clock.Set(at("2026-06-01 00:00:00"))
	hours("23h 0, 22h 2")
	w.Clock.Set(at("2026-06-01 00:00:01"))
	hours("00h 0, 23h 0, 22h 2")
}

func TestDaysAreTheDefaultInterval(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	have := ask[metrics.Series](t, s, "/v2/chains/43113/metrics/activeSenders")
	if want := everyPoint(t, s, "43113", "activeSenders", "day", 100); !slices.Equal(have.Results, want) {
		t.Errorf("points are %v, want %v", have.Results, want)
	}
}

func TestErrors(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	for target, want := range map[string]string{
		"total/metrics/txcount":                                 `400 {"message":["metric \"txcount\" is not allowed: expected one of activeAddresses,`,
		"total/metrics/txCount?timeInterval=year":               `400 {"message":["timeInterval \"year\" is not allowed: expected one of hour, day, week, month"],"error":"Bad Request","statusCode":400}`,
		"total/metrics/feesPaid?timeInterval=hour":              `400 {"message":["timeInterval \"hour\" is not allowed: expected day, the only interval of feesPaid"],"error":"Bad Request","statusCode":400}`,
		"total/metrics/maxGps?timeInterval=week":                `400 {"message":["timeInterval`,
		"total/metrics/cumulativeTxCount?timeInterval=month":    `400 {"message":["timeInterval`,
		"total/metrics/contracts?timeInterval=hour":             `400 {"message":["timeInterval`,
		"total/metrics/txCount?pageSize=2161&startTimestamp=-1": `400 {"message":["startTimestamp \"-1\"`,
		"total/metrics/txCount?pageSize=0":                      `400 {"message":["pageSize \"0\"`,
		"total/metrics/txCount?pageToken=2":                     `400 {"message":["pageToken \"2\" is not allowed`,
		"everything/metrics/txCount":                            `400 {"message":["chainId \"everything\" is not allowed: expected an EVM chain id, a blockchain id, or one of total, mainnet, testnet"]`,
		"1/metrics/txCount":                                     `404 {"message":"chain 1 does not exist: GET /v2/chains lists all chains","error":"Not Found","statusCode":404}`,
		"1":                                                     `404 {"message":"chain 1 does not exist`,
		"1/rollingWindowMetrics/txCount":                        `404 {"message":"chain 1 does not exist`,
		"total/rollingWindowMetrics/cumulativeTxCount":          `400 {"message":["metric`,
	} {
		code, body := get(t, s, "/v2/chains/"+target)
		if have := fmt.Sprintf("%d %s", code, body); !strings.HasPrefix(have, want) {
			t.Errorf("%s: answer is %s, want %s", target, have, want)
		}
	}
}

func TestAverageTPSOfTheFirstVersion(t *testing.T) {
	w := generate(t, "tiny", 1)
	w.Clock.Set(w.Clock.Now().Add(100*24*time.Hour + time.Minute))
	s := serve(t, w)
	first := ask[metrics.AverageTPS](t, s, "/v1/avg_tps/43114")
	if first.Status != 200 || first.LastRun != w.Clock.Unix() || len(first.Results) != 100 {
		t.Errorf("answer is %+v", first)
	}
	rest := ask[metrics.AverageTPS](t, s, "/v1/avg_tps/43114?pageToken="+first.NextPageToken)
	if rest.NextPageToken != "" {
		t.Errorf("the last page has a token")
	}
	for _, unknown := range []string{"interval=hour", "timeInterval=hour", "pageSize=1", "metric=txCount&startTimestamp=x", "pageToken=", "rltoken=k"} {
		if have := ask[metrics.AverageTPS](t, s, "/v1/avg_tps/43114?"+unknown); !slices.Equal(have.Results, first.Results) {
			t.Errorf("with %s there are %d points", unknown, len(have.Results))
		}
	}
	if want := everyPoint(t, s, "43114", "avgTps", "day", 100); !slices.Equal(append(first.Results, rest.Results...), want) {
		t.Errorf("points differ from those of avgTps")
	}
}

func TestChains(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	all := ask[metrics.Chains](t, s, "/v2/chains")
	if len(all.Chains) != 3 || all.NextPageToken != "" {
		t.Fatalf("chains are %+v", all)
	}
	c := all.Chains[0]
	if c.EVMChainID != 43114 || c.ChainName != "c_chain" || c.Network != "mainnet" || c.SubnetID != "11111111111111111111111111111111LpoYY" {
		t.Errorf("chain is %+v", c)
	}
	for _, id := range []string{"43114", c.BlockchainID} {
		if again := ask[metrics.Chain](t, s, "/v2/chains/"+id); again != c {
			t.Errorf("chain %s is %+v, want %+v", id, again, c)
		}
	}
	for _, network := range []string{"testnet", "fuji"} {
		if some := ask[metrics.Chains](t, s, "/v2/chains?network="+network); len(some.Chains) != 1 || some.Chains[0].Network != "testnet" {
			t.Errorf("chains of %s are %+v", network, some)
		}
	}
}

func TestHealth(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	if h := ask[metrics.Health](t, s, "/v2/health-check"); h.Status != "ok" || h.Details["database"].Status != "up" {
		t.Errorf("health is %+v", h)
	}
	if h := ask[metrics.Health](t, s, "/v2/live-check"); h.Status != "ok" {
		t.Errorf("life is %+v", h)
	}
}

// TestNoMomentIsTooLate requests every series from, and up to, the last Unix second.
func TestNoMomentIsTooLate(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	for _, target := range []string{"/v2/chains/total/metrics/txCount?timeInterval=", "/v2/icm/timeseries?timeInterval=",
		"/v2/networks/mainnet/metrics/validatorCount?x=", "/v2/validators/metrics/totalCumulativeFeesDaily?x="} {
		for _, interval := range intervals {
			all := ask[metrics.Series](t, s, target+interval)
			for _, late := range []int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 40*24*3600} {
				if have := ask[metrics.Series](t, s, fmt.Sprintf("%s%s&startTimestamp=%d", target, interval, late)); len(have.Results) != 0 {
					t.Errorf("%s%s from %d: points are %v", target, interval, late, have.Results)
				}
				if have := ask[metrics.Series](t, s, fmt.Sprintf("%s%s&endTimestamp=%d", target, interval, late)); !slices.Equal(have.Results, all.Results) {
					t.Errorf("%s%s up to %d: points are %v, want %v", target, interval, late, have.Results, all.Results)
				}
			}
		}
	}
}
