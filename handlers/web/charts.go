package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"snowglobe/sim/metric"
)

// chart is one series of points.
type chart struct {
	Name, Title string
	Points      string // times and values as two JSON lists
	Last        string
	Unit        string // empty for a plain number
	Since       string // start of the last point's interval
	Count       int
}

// intervals lists the intervals of a chain's metrics, and the number of points in each chart.
var intervals = []struct{ Name, Size string }{{"hour", "168"}, {"day", "120"}, {"week", "52"}, {"month", "24"}}

var stakingMetrics = []string{"validatorCount", "validatorWeight", "delegatorCount", "delegatorWeight"}

// units lists the units of charts, with the number of smallest units in each. The token is the chain's.
var units = map[string]struct {
	name string
	of   float64
}{
	"feesPaid": {"token", 1e18}, "avgGasPrice": {"gwei", 1e9}, "maxGasPrice": {"gwei", 1e9}, "validatorWeight": {"AVAX", 1e9}, "delegatorWeight": {"AVAX", 1e9},
	"perSubnetDailyFeesPaid": {"AVAX", 1e9}, "perSubnetCumulativeFeesPaid": {"AVAX", 1e9},
}

type chartsView struct {
	Of, Interval string
	Charts       []chart
	Sources      []J
	Chain        bool
	Daily        int // number of metrics not shown because they exist only by day
}

// Intervals returns the choices.
func (*chartsView) Intervals() any { return intervals }

// charts draws every metric of a chain, or of a network's validators.
func charts(p *page) error {
	v := &chartsView{Of: cmp.Or(p.r.URL.Query().Get("of"), p.names.Chains[0].ID), Interval: cmp.Or(p.r.URL.Query().Get("interval"), "day")}
	i := slices.IndexFunc(intervals, func(c struct{ Name, Size string }) bool { return c.Name == v.Interval })
	if i < 0 {
		return notFound("there is no interval %q", clip(v.Interval, 32))
	}
	for _, c := range p.names.Chains {
		v.Sources = append(v.Sources, J{"id": c.ID, "label": c.Label()})
	}
	for _, n := range p.names.World.Networks {
		v.Sources = append(v.Sources, J{"id": n.Name, "label": "Staking " + n.Name})
		for _, s := range n.Subnets {
			if s.IsL1 && len(s.Blockchains) > 0 {
				v.Sources = append(v.Sources, J{"id": s.SubnetID, "label": "Fees of " + s.Blockchains[0].Name + " " + n.Name})
			}
		}
	}
	v.Sources = append(v.Sources, J{"id": "icm", "label": "Messages"})
	calls, err := p.series(v, intervals[i].Size)
	if err != nil {
		return err
	}
	if err := p.load(calls...); err != nil {
		return err
	}
	for _, c := range calls {
		drawn := draw(c.Name, list(dig(p.Got[c.Name], "results")))
		if chain := p.names.byChain[v.Of]; chain != nil && drawn.Unit == "token" {
			drawn.Unit = chain.Symbol
		}
		v.Charts = append(v.Charts, drawn)
	}
	p.Data = v
	return p.showAs("charts", "charts", "Metrics")
}

// series returns the calls for the charts.
func (p *page) series(v *chartsView, size string) (calls []*Call, err error) {
	switch {
	case p.names.byChain[v.Of] != nil:
		v.Chain = true
		for i := range metric.Metrics {
			name := metric.Metrics[i].Name
			if v.Interval != "day" && !metric.Metrics[i].Long {
				v.Daily++
				continue
			}
			calls = append(calls, get(name, "/v2/chains/%s/metrics/%s", v.Of, name).query("timeInterval", v.Interval).query("pageSize", size).opt())
		}
	case v.Of == "icm":
		v.Chain = true
		calls = append(calls, get("icmMessages", "/v2/icm/timeseries").query("timeInterval", v.Interval).query("pageSize", size).opt())
	case v.Of == "mainnet" || v.Of == "fuji":
		for _, name := range stakingMetrics {
			calls = append(calls, get(name, "/v2/networks/%s/metrics/%s", v.Of, name).query("pageSize", "120").opt())
		}
	default:
		if !slices.ContainsFunc(v.Sources, func(s J) bool { return s["id"] == v.Of }) {
			return nil, notFound("there is nothing to draw of %s", clip(v.Of, 60))
		}
		for _, name := range []string{"perSubnetDailyFeesPaid", "perSubnetCumulativeFeesPaid", "perSubnetPayingValidators"} {
			calls = append(calls, get(name, "/v2/subnet/%s/metrics/%s", v.Of, name).opt())
		}
	}
	return calls, nil
}

// draw makes a chart from points, latest first.
func draw(name string, points []any) chart {
	unit := units[name]
	c := chart{Name: name, Title: spaced(name), Unit: unit.name, Count: len(points)}
	times, values := []json.Number{}, []json.Number{}
	for i := len(points) - 1; i >= 0; i-- {
		value := dig(points[i], "value")
		if value == nil {
			value = dig(points[i], "messageCount")
		}
		number := json.Number(text(value))
		amount, err := number.Float64()
		if err != nil {
			continue
		}
		if unit.of > 0 {
			number = json.Number(strconv.FormatFloat(amount/unit.of, 'f', -1, 64))
		}
		times, values = append(times, json.Number(text(dig(points[i], "timestamp")))), append(values, number)
	}
	if n := len(times); n > 1 && integer(times[0]) > integer(times[n-1]) {
		slices.Reverse(times)
		slices.Reverse(values)
	}
	if len(values) > 0 {
		c.Last = plain(values[len(values)-1].String())
		c.Since = day(integer(times[len(times)-1]))
	}
	b, err := json.Marshal([]any{times, values})
	if err == nil {
		c.Points = string(b)
	}
	return c
}

// day formats a time on a chart, with the hour if an interval may start within a day.
func day(unix int64) string {
	if unix%86400 == 0 {
		return time.Unix(unix, 0).UTC().Format("2 Jan 2006")
	}
	return time.Unix(unix, 0).UTC().Format("2 Jan 2006, 15:04")
}

// plain formats a number for people.
func plain(s string) string {
	if strings.ContainsAny(s, "eE") {
		return s
	}
	return rounded(s)
}

// spaced splits a name in camel case into words.
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return title(b.String())
}
