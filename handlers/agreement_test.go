// The Data API and the node of one server, which answer from different code, agree about everything.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// object is decoded JSON that keeps numbers in their original form.
type object = map[string]any

// views holds the interfaces of one world.
type views struct {
	*testing.T
	world *sim.World
	h     http.Handler
	l     *sim.Network // the network to compare
}

// get reads the network's data from the Data API.
func (v *views) get(path string) object {
	v.Helper()
	return v.decode("GET "+path, ask(v.h, http.MethodGet, "/v1/networks/"+v.l.Name+path, ""))
}

func (v *views) decode(what, text string) object {
	v.Helper()
	var o object
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil || o["statusCode"] != nil || o["error"] != nil {
		v.Fatalf("%s: %.500s", what, text)
	}
	return o
}

// pages follows a list to its end.
func (v *views) pages(path, key string) (all []object) {
	v.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for token := ""; ; {
		page := v.get(path + join + "pageSize=37" + token)
		for _, item := range page[key].([]any) {
			all = append(all, item.(object))
		}
		next, more := page["nextPageToken"].(string)
		if !more {
			return all
		}
		token = "&pageToken=" + next
	}
}

// rpc calls the network's node.
func (v *views) rpc(path, method string, params any) object {
	v.Helper()
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings and lists
	answer := v.decode(method, ask(v.h, http.MethodPost, "/"+v.l.Name+"/ext/"+path, string(body)))
	result, ok := answer["result"].(object)
	if !ok {
		v.Fatalf("%s %s answers %v", method, body, answer)
	}
	return result
}

// same compares fields of one object as both interfaces write them.
func (v *views) same(what string, pairs ...any) {
	v.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if have, want := plain(pairs[i]), plain(pairs[i+1]); have != want {
			v.Errorf("%s at %d, pair %d: the Data API says %s, the node %s", what, v.world.Clock.Unix(), i/2, have, want)
		}
	}
}

// plain removes the difference between a number and a string with a number.
func plain(value any) string {
	if n, err := strconv.ParseFloat(fmt.Sprint(value), 64); err == nil && strings.ContainsAny(fmt.Sprint(value), ".e") {
		return strconv.FormatFloat(n, 'f', -1, 32)
	}
	return fmt.Sprint(value)
}

func dig(v any, keys ...string) any {
	for _, k := range keys {
		o, _ := v.(object)
		v = o[k]
	}
	return v
}

func integer(value any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	return n
}

// by indexes objects by the text of a field.
func by(all []object, key string) map[string]object {
	filed := map[string]object{}
	for _, o := range all {
		filed[fmt.Sprint(o[key])] = o
	}
	return filed
}

func objects(list any) (all []object) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, item.(object))
	}
	return all
}

// TestDataAPIAgreesWithTheNode compares the Data API for the primary network with the node's services and with the transactions, around every time at
// which a status changes.
func TestDataAPIAgreesWithTheNode(t *testing.T) {
	t.Parallel()
	for _, seed := range []int64{1, 2, 7} {
		if testing.Short() && seed > 1 {
			t.Log("left out of a short run: the other seeds")
			break
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := tinyWorldOf(t, seed)
			h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
			if err != nil {
				t.Fatal(err)
			}
			start := w.Clock.Now()
			for _, n := range w.Networks {
				v := &views{t, w, h, n}
				w.Clock.Set(start)
				v.compareBlocks()
				v.compareHistory()
				for i, unix := range v.changes() {
					if (testing.Short() || seed > 1) && i%4 > 0 {
						continue // use only one of each change's three moments
					}
					w.Clock.Set(time.Unix(unix, 0))
					v.compareStakers()
					v.compareL1Validators()
					v.compareNetwork()
					v.compareOwners()
				}
			}
		})
	}
}

// changes returns the clock's time and the times just before, at and after the next change of each kind.
func (v *views) changes() []int64 {
	now := v.world.Clock.Unix()
	at := map[string]int64{}
	soonest := func(kind string, unix int64) {
		if old, known := at[kind]; unix > now && (!known || unix < old) {
			at[kind] = unix
		}
	}
	for _, s := range v.pages("/validators", "validators") {
		kind := fmt.Sprint(s["validationStatus"], s["subnetId"] == ids.Empty.String())
		soonest(kind+" ends", integer(s["endTimestamp"]))
		soonest(kind+" starts", integer(s["startTimestamp"]))
	}
	for _, s := range v.pages("/delegators", "delegators") {
		soonest("delegation ends", integer(s["endTimestamp"]))
		soonest("delegation starts", integer(s["startTimestamp"]))
	}
	price := int64(v.l.Rules.ValidatorFees.MinPrice)
	for _, s := range v.pages("/l1Validators", "validators") {
		soonest("balance", now+(integer(s["remainingBalance"])+price-1)/price)
	}
	for _, u := range v.lockedOutputs() {
		soonest("lock", u)
	}
	all := []int64{now}
	for _, unix := range at {
		all = append(all, unix-1, unix, unix+1)
	}
	slices.Sort(all)
	if len(all) < 10 {
		v.Errorf("only %d changes are to come: %v", len(all), at)
	}
	return slices.Compact(all)
}

// lockedOutputs returns the times at which the persona's locked outputs unlock.
func (v *views) lockedOutputs() (times []int64) {
	for _, name := range []string{"locked", "committee"} {
		for _, u := range v.pages("/blockchains/p-chain/utxos?addresses="+v.owner(name), "utxos") {
			times = append(times, integer(u["platformLocktime"]), integer(u["stakeableLocktime"]))
		}
	}
	return times
}

// owner returns a persona's address.
func (v *views) owner(name string) string {
	v.Helper()
	personas, err := v.world.DB.Personas(v.Context())
	if err != nil {
		v.Fatal(err)
	}
	for _, p := range personas {
		if p.Name != name {
			continue
		}
		key, err := txs.KeyFromBytes(p.Key)
		if err != nil {
			v.Fatal(err)
		}
		return v.l.Rules.Bech32(key.Address())
	}
	v.Fatalf("there is no %s", name)
	return ""
}
