package metrics_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// messages returns all cross-chain messages of a world.
func messages(t testing.TB, w *sim.World) []store.Message {
	t.Helper()
	all, err := w.DB.Messages(t.Context(), store.MessageFilter{}, store.MessageCursor{Time: math.MaxInt64, ID: math.MaxInt64}, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// icmQuery is a filter and a grouping, chosen by a test.
type icmQuery struct{ network, source, destination, group string }

func (q icmQuery) String() string {
	text := "?x="
	for name, value := range map[string]string{"network": q.network, "srcBlockchainId": q.source, "destBlockchainId": q.destination, "groupBy": q.group} {
		if value != "" {
			text += "&" + name + "=" + value
		}
	}
	return text
}

// ends returns the name under which a message counts, if it counts.
func (q icmQuery) ends(w *sim.World, m *store.Message) (string, bool) {
	source, destination := ids.ID(m.Source).String(), ids.ID(m.Destination).String()
	var network string
	for _, c := range w.Chains {
		if c.Row.ID == m.ID.Chain() {
			network = c.Row.Network
		}
	}
	if q.network != "" && q.network != network || q.source != "" && q.source != source || q.destination != "" && q.destination != destination {
		return "", false
	}
	all := map[string]string{"": "total", "mainnet": "mainnet", "fuji": "testnet"}[q.network]
	if q.source == "" && !strings.Contains(q.group, "src") {
		source = all
	}
	if q.destination == "" && !strings.Contains(q.group, "dest") {
		destination = all
	}
	return source + " " + destination, true
}

func icmQueries(all []store.Message) []icmQuery {
	queries := []icmQuery{{}}
	m := all[len(all)/2]
	for _, network := range []string{"", "mainnet", "fuji"} {
		for _, source := range []string{"", ids.ID(m.Source).String()} {
			for _, destination := range []string{"", ids.ID(m.Destination).String()} {
				for _, group := range []string{"", "srcBlockchainId", "destBlockchainId", "srcBlockchainId,destBlockchainId"} {
					queries = append(queries, icmQuery{network, source, destination, group})
				}
			}
		}
	}
	return queries
}

// everyIcm reads all pages of a series, and describes each point.
func everyIcm(t testing.TB, s *rest.Server, target string, size int) (all []string) {
	t.Helper()
	var last *metrics.IcmPoint
	for token := ""; ; {
		page := ask[metrics.IcmSeries](t, s, fmt.Sprintf("%s&pageSize=%d&pageToken=%s", target, size, token))
		for i, p := range page.Results {
			if last != nil && p.Timestamp > last.Timestamp {
				t.Fatalf("%s: a point is newer than the one before", target)
			}
			all, last = append(all, fmt.Sprint(p.Timestamp, " ", p.Source, " ", p.Destination, " ", p.Value)), &page.Results[i]
		}
		if token = page.NextPageToken; token == "" {
			return all
		}
		if len(page.Results) != size {
			t.Fatalf("%s: a page that is not the last has %d points", target, len(page.Results))
		}
	}
}

// TestEveryMessageIsCounted compares series and summaries of messages with the messages themselves.
func TestEveryMessageIsCounted(t *testing.T) {
	for _, number := range seeds(t)[:2] {
		w := withClock(t, number)
		w.Clock.Set(w.Clock.Now().Add(26 * time.Hour))
		s, all := serve(t, w), messages(t, w)
		if len(all) == 0 {
			t.Fatal("there are no messages")
		}
		for _, q := range icmQueries(all) {
			for _, interval := range intervals {
				target := "/v2/icm/timeseries" + q.String() + "&timeInterval=" + interval
				have := everyIcm(t, s, target, 2160)
				if want := countLetters(w, all, q, interval); !same2(have, want) {
					t.Fatalf("%s: points are\n%v, want\n%v", target, have, want)
				}
				if interval == "day" && !slices.Equal(everyIcm(t, s, target, 3), have) {
					t.Errorf("%s: pages of 3 hold other points", target)
				}
			}
			compareSummary(t, w, s, all, q)
		}
	}
}

// countLetters counts from scratch: a point for each interval since that of the network's first message.
func countLetters(w *sim.World, all []store.Message, q icmQuery, interval string) (points []string) {
	first, last, counts, groups := int64(math.MaxInt64), int64(0), map[string]int{}, map[string]bool{}
	if q.group == "" {
		groups["grouped by nothing"] = true
	}
	var label string
	for i := range all {
		m := &all[i]
		if _, ok := (icmQuery{network: q.network}).ends(w, m); ok {
			first, last = min(first, m.Time), max(last, m.Time)
		}
		ends, ok := q.ends(w, m)
		if !ok {
			continue
		}
		if label = ends; q.group != "" {
			groups[ends] = true
		}
		starts := starts(interval, m.Time, m.Time)
		counts[fmt.Sprint(starts[0], " ", ends)]++
	}
	if first == math.MaxInt64 {
		return nil
	}
	if label == "" { // nothing counts, so there is no label
		source, destination := q.source, q.destination
		all := map[string]string{"": "total", "mainnet": "mainnet", "fuji": "testnet"}[q.network]
		if source == "" {
			source = all
		}
		if destination == "" {
			destination = all
		}
		label = source + " " + destination
	}
	if q.group == "" {
		groups = map[string]bool{label: true}
	}
	for _, start := range starts(interval, first, max(w.Clock.Unix()-1, last)) {
		for ends := range groups {
			key := fmt.Sprint(start, " ", ends)
			points = append(points, fmt.Sprint(key, " ", counts[key]))
		}
	}
	return points
}

// same2 compares points in any order within an interval.
func same2(have, want []string) bool {
	have, want = slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(want))
	return slices.Equal(have, want)
}

// compareSummary compares the windows of all messages and of each group.
func compareSummary(t *testing.T, w *sim.World, s *rest.Server, all []store.Message, q icmQuery) {
	t.Helper()
	summary := ask[metrics.IcmSummary](t, s, "/v2/icm/summary"+q.String())
	together := q
	together.group = ""
	compareRolling(t, w, all, together, summary.Result)
	groups := map[string]bool{}
	for i := range all {
		if ends, ok := q.ends(w, &all[i]); ok && q.group != "" {
			groups[ends] = true
		}
	}
	if len(summary.Groups) != len(groups) || (summary.Groups == nil) != (q.group == "") {
		t.Errorf("summary%s: %d groups, want %d", q, len(summary.Groups), len(groups))
	}
	for _, g := range summary.Groups {
		compareRolling(t, w, all, q, g)
		delete(groups, g.Source+" "+g.Destination)
	}
	if len(groups) > 0 {
		t.Errorf("summary%s lacks %v", q, groups)
	}
}

func compareRolling(t *testing.T, w *sim.World, all []store.Message, q icmQuery, g metrics.IcmRolling) {
	t.Helper()
	week := w.Clock.Now().Add(-7 * 24 * time.Hour).Truncate(time.Hour).Unix()
	var total, lately int64
	for i := range all {
		if ends, ok := q.ends(w, &all[i]); ok && ends == g.Source+" "+g.Destination {
			total++
			if all[i].Time >= week {
				lately++
			}
		}
	}
	if g.AllTime != total || g.LastWeek != lately || g.LastYear != total {
		t.Errorf("summary%s: %+v, want %d and %d in a week", q, g, total, lately)
	}
}

func TestErrorsAboutMessages(t *testing.T) {
	s := serve(t, shared(t, "tiny", 1))
	for target, want := range map[string]string{
		"timeseries?groupBy=network":                                       `400 {"message":["groupBy \"network\" is not allowed: expected one of srcBlockchainId, destBlockchainId, srcBlockchainId,destBlockchainId"]`,
		"timeseries?timeInterval=year":                                     `400 {"message":["timeInterval \"year\"`,
		"timeseries?srcBlockchainId=x&pageSize=2161":                       `400 {"message":["srcBlockchainId \"x\"`,
		"summary?network=devnet":                                           `400 {"message":["network \"devnet\"`,
		"summary?destBlockchainId=1":                                       `404 {"message":"chain 1 does not exist`,
		"summary?destBlockchainId=1&srcBlockchainId=2":                     `404 {"message":"chain 2 does not exist`,
		"timeseries?endTimestamp=0":                                        `200 {"results":[]}`,
		"timeseries?startTimestamp=4611686018427387904":                    `200 {"results":[]}`,
		"timeseries?timeInterval=month&startTimestamp=4611686018427387904": `200 {"results":[]}`,
	} {
		code, body := get(t, s, "/v2/icm/"+target)
		if have := fmt.Sprintf("%d %s", code, body); !strings.HasPrefix(have, want) {
			t.Errorf("%s: answer is %s, want %s", target, have, want)
		}
	}
}
