package export_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/export"
)

// refused lists bodies with the expected part of the error.
var refused = []struct {
	body string
	want []string
}{
	{`{}`, []string{"type is required", "options is required"}},
	{`[]`, []string{"an object"}},
	{`{"type":"TRANSACTION_EXPORT","options":{"includeChains":["43114"]}}`, []string{`type "TRANSACTION_EXPORT"`, "TRANSACTION_EXPORT_EVM"}},
	{`{"type":"TRANSACTION_EXPORT_EVM"}`, []string{"options is required"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["ALICE"]}}`, []string{"options.includeChains is required"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"includeChains":["43114"]}}`, []string{"options.addresses is required"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":[],"includeChains":[]}}`, []string{"options.addresses and options.includeChains are required", "options.includeChains is empty"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":"ALICE","includeChains":43114}}`, []string{"options.addresses", "an array", "options.includeChains 43114"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["ALICE","0x12","","avax1"],"includeChains":["43114","0","999999","nowhere",""]}}`,
		[]string{`options.addresses[1] "0x12"`, "options.addresses[2] is empty", `options.addresses[3] "avax1"`, `options.includeChains[1] "0"`,
			`options.includeChains[2] "999999"`, "chain 999999 does not exist", `options.includeChains[3] "nowhere"`, "options.includeChains[4] is empty"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["ALICE"],"cChainEvmAddresses":["ALICE"],"includeChains":["43114"]}}`, []string{"options.cChainEvmAddresses"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","firstDate":"2026-06-31","lastDate":"06/30/2026","startDate":"2026-6-1","endDate":"","options":{"addresses":["ALICE"],"includeChains":["43114"]}}`,
		[]string{`firstDate "2026-06-31"`, `lastDate "06/30/2026"`, `startDate "2026-6-1"`, "endDate is empty", "a date such as 2026-06-30"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","firstDate":20260601,"lastDate":null,"options":{"addresses":["ALICE"],"includeChains":["43114"]}}`, []string{"firstDate 20260601", "lastDate null"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","firstDate":"2026-06-20","startDate":"2026-06-21","lastDate":"2026-06-22","endDate":"2026-06-23","options":{"addresses":["ALICE"],"includeChains":["43114"]}}`,
		[]string{"firstDate 2026-06-20 and startDate 2026-06-21 disagree", "lastDate 2026-06-22 and endDate 2026-06-23 disagree"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","firstDate":"2026-06-20","endDate":"2026-06-19","options":{"addresses":["ALICE"],"includeChains":["43114"]}}`,
		[]string{"2026-06-19 is before firstDate 2026-06-20"}},
	{`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK","options":{"includeChains":["p-chain"]}}`, []string{"options.addresses or options.cChainEvmAddresses is required"}},
	{`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK","options":{"addresses":["AVAX1","Z-AVAX1","ALICE","AVAX1x"],"cChainEvmAddresses":["0x"],"includeChains":["p-chain","43114","q-chain"]}}`,
		[]string{`options.addresses[1] "Z-`, `options.addresses[2] "0x`, "options.addresses[3]", `options.cChainEvmAddresses[0] "0x"`, `options.includeChains[1] "43114"`, `options.includeChains[2] "q-chain"`}},
	{`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK_STAKING","options":{"addresses":["AVAX1"],"includeChains":["2JVSBoinj9C2J33VntvzYtVJNZdN2NKiwwKjcumHUWEb5DbBrm"]}}`,
		[]string{`options.addresses[0] "avax1`, "is on mainnet", `options.includeChains[0] "2JVSB`, "is on fuji: expected an address of fuji"}},
	{`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK","options":{"addresses":["AVAX1","AVAX1","FUJI1"],"includeChains":["2oYMBNV4eNHyqk2fjjV5nVQLDbtmNJzq5s3qs3Lo6ftnC6FByM"]}}`,
		[]string{`options.addresses[2] "fuji1`, "is on fuji: expected a chain of fuji"}},
	{`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK","options":{"addresses":["AVAX1"],"cChainEvmAddresses":["ALICE"],"includeChains":["p-chain","yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp","2JVSBoinj9C2J33VntvzYtVJNZdN2NKiwwKjcumHUWEb5DbBrm"]}}`,
		[]string{`options.includeChains[2] "2JVSB`, "is on fuji: expected an address of fuji"}},
	{`{"type":"TRANSACTION_EXPORT_PRIMARY_NETWORK_SIMPLE","options":{"cChainEvmAddresses":["ALICE"],"includeChains":["x-chain","p-chain"]}}`,
		[]string{`options.includeChains[0] "x-chain" does not apply`, `options.includeChains[1] "p-chain" does not apply`}},
	{`{"type":"TRANSACTION_EXPORT_EVM","firstDate":"1969-12-31","options":{"addresses":["ALICE"],"includeChains":["43114"]}}`,
		[]string{"firstDate 1969-12-31 is not allowed: expected a date not before 1970-01-01"}},
	{`{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":["ALICE"],"includeChains":["43114"]}} {}`, []string{"after its JSON value"}},
	{`nothing`, []string{"not JSON"}},
	{``, []string{"empty"}},
}

func TestEveryBadBodyIsRefusedWithItsReasons(t *testing.T) {
	o := openOffice(t, export.Options{})
	before, err := o.DB.Count(t.Context(), "operation")
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("ALICE", o.Persona(t, "alice"), "AVAX1", "avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy",
		"FUJI1", "fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm")
	for _, prefix := range []string{"", "/upstream"} {
		for _, c := range refused {
			status, answer := o.send(t, prefix, fill.Replace(c.body))
			text := datatest.Encode(answer["message"])
			if _, array := answer["message"].([]any); status != http.StatusBadRequest || array != (prefix != "") {
				t.Errorf("%s: %d %v", c.body, status, answer)
			}
			for _, want := range c.want {
				if quoted := datatest.Encode(want); !strings.Contains(text, quoted[1:len(quoted)-1]) {
					t.Errorf("%s: no %q in %s", c.body, want, text)
				}
			}
		}
	}
	many := evmExport(make([]string, 1001), o.chainIDs())
	if status, answer := o.post(t, "", many); status != http.StatusBadRequest || !strings.Contains(datatest.Encode(answer), "at most 1000") {
		t.Errorf("%d %v", status, answer)
	}
	if n, err := o.DB.Count(t.Context(), "operation"); n != before || err != nil {
		t.Errorf("%d operations were started: %v", n-before, err)
	}
}

// TestStartOfAnExport: the statuses of the dialects, at once and without a file; two equal posts get two exports.
func TestStartOfAnExport(t *testing.T) {
	o := openOffice(t, export.Options{})
	seen := map[string]bool{}
	for _, kind := range export.Types {
		options := asks{"addresses": []string{"fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm"}, "includeChains": []string{"p-chain", "yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp"}}
		if kind == export.EVM {
			options = asks{"addresses": []string{o.Persona(t, "alice")}, "includeChains": []string{"2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5"}}
		}
		for prefix, want := range map[string]int{"": 200, "/upstream": 201} {
			status, answer := o.post(t, prefix, exportOf(kind, options))
			if status != want || answer["operationStatus"] != "RUNNING" || answer["operationType"] != string(kind) || seen[fmt.Sprint(answer["operationId"])] ||
				datatest.Dig(answer, "metadata", "downloadUrl") != nil || fmt.Sprint(answer["createdAtTimestamp"]) != fmt.Sprint(float64(o.Clock.Unix())) {
				t.Errorf("%s %s: %d %v", prefix, kind, status, answer)
			}
			seen[fmt.Sprint(answer["operationId"])] = true
		}
	}
	o.Ask(t, "/v1/operations/aa22054a-cb7c-4a4e-9b83-59f2ede74138", 404)
	o.Ask(t, "/v1/operations/nothing", 400)
	o.Ask(t, "/sim/exports/aa22054a-cb7c-4a4e-9b83-59f2ede74138/transactions.csv", 404)
}

// TestExportsOfTheFutureFail: an export finds out only when it runs whether a day has come.
func TestExportsOfTheFutureFail(t *testing.T) {
	o := openOffice(t, export.Options{})
	ask := evmExport([]string{o.Persona(t, "alice")}, o.chainIDs(), asks{"firstDate": "2026-11-02"})
	done := o.finish(t, ask)
	if done["operationStatus"] != "FAILED" || datatest.Dig(done, "metadata", "code") != "ErrInvalidRequest" || datatest.Dig(done, "metadata", "downloadUrl") != nil ||
		!strings.Contains(fmt.Sprint(done["message"]), "2026-11-02 is after the world's time") {
		t.Errorf("%v", done)
	}
	o.Ask(t, "/sim/exports/"+done["operationId"].(string)+"/transactions.csv", 404)
	ask["firstDate"] = "2026-11-01"
	if rows := o.rows(t, ask); len(rows) != 0 {
		t.Errorf("%d rows of today", len(rows))
	}
}

// TestExportsSayHowLongTheyWait; none of them has started.
func TestExportsSayHowLongTheyWait(t *testing.T) {
	w := seedtest.Copy(t, 1)
	o := serveExports(t, w, export.NewJobs(w, export.Options{}))
	for _, want := range []string{"is the next to begin", "waits for 1 export before it", "waits for 2 exports before it"} {
		if _, answer := o.post(t, "", evmExport([]string{o.Persona(t, "alice")}, o.chainIDs())); answer["message"] != want {
			t.Errorf("%v, want %s", answer, want)
		}
	}
}

// send posts a text.
func (o *office) send(t *testing.T, prefix, body string) (int, datatest.Object) {
	t.Helper()
	w := o.serve(http.MethodPost, prefix+"/v1/operations/transactions:export", body, nil)
	var answer datatest.Object
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	return w.Code, answer
}

// TestErrorsOfEmptyExportsNameAllThatIsMissing sends empty lists.
func TestErrorsOfEmptyExportsNameAllThatIsMissing(t *testing.T) {
	g := datatest.Open(t, 1)
	if text := datatest.Encode(g.Post(t, "/v1/operations/transactions:export", `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":[],"includeChains":[]}}`, 400)); !strings.Contains(text, "options.addresses and options.includeChains are required") {
		t.Error(text)
	}
}

// TestChainsOfAnExportHaveManyNames names a primary chain by an alias, the C-Chain of a network where only accounts are given, and as many chains as
// are allowed.
func TestChainsOfAnExportHaveManyNames(t *testing.T) {
	o := serveOffice(t, seedtest.Copy(t, 1), export.Options{})
	mainnet, fuji := o.Network(t, "mainnet"), o.Network(t, "fuji")
	mainnet.Aliases.Give("ours", mainnet.Rules.XChainID)
	owner, account := mainnet.Rules.Bech32([20]byte{1}), o.Persona(t, "alice")
	chains := func(name string, n int) []string { return slices.Repeat([]string{name}, n) }
	for _, c := range []struct {
		kind    export.Type
		options asks
		says    string
	}{
		{export.Primary, asks{"addresses": []string{owner}, "includeChains": []string{"ours"}}, ""},
		{export.Primary, asks{"addresses": []string{owner}, "includeChains": []string{"theirs"}}, `options.includeChains[0] "theirs"`},
		{export.Primary, asks{"addresses": []string{owner}, "cChainEvmAddresses": []string{account}, "includeChains": []string{"p-chain", fuji.Rules.CChainID.String()}}, ""},
		{export.Primary, asks{"addresses": []string{owner}, "includeChains": []string{"p-chain", fuji.Rules.CChainID.String()}}, "is on fuji: expected an address of fuji"},
		{export.Primary, asks{"addresses": []string{owner}, "cChainEvmAddresses": []string{account}, "includeChains": []string{"p-chain", fuji.Rules.XChainID.String()}}, "is on fuji: expected an address of fuji"},
		{export.Primary, asks{"cChainEvmAddresses": []string{account}, "includeChains": []string{"x-chain", "c-chain"}}, ""},
		{export.EVM, asks{"addresses": []string{account}, "includeChains": chains("43114", 1000)}, ""},
		{export.EVM, asks{"addresses": []string{account}, "includeChains": chains("43114", 1001)}, "options.includeChains has 1001 items: expected at most 1000"},
		{export.Primary, asks{"addresses": []string{owner}, "includeChains": chains("x-chain", 1001)}, "options.includeChains has 1001 items: expected at most 1000"},
		{export.EVM, asks{"addresses": chains(account, 1000), "includeChains": []string{"43114"}}, ""},
	} {
		status, answer := o.post(t, "", exportOf(c.kind, c.options))
		if says := datatest.Encode(answer["message"]); (status == 200) != (c.says == "") || !strings.Contains(strings.ReplaceAll(says, `\"`, `"`), c.says) {
			t.Errorf("%.100v is %d %.300s: want %s", c.options, status, says, c.says)
		}
	}
}

// TestExportsOfTheSameDayAreADay: a range may begin and end on one day, and on the first day of all.
func TestExportsOfTheSameDayAreADay(t *testing.T) {
	o := openOffice(t, export.Options{})
	for dates, want := range map[[2]string]int{{"2026-10-29", "2026-10-29"}: 200, {"1970-01-01", "2026-10-29"}: 200, {"2026-10-29", "2026-10-28"}: 400} {
		body := evmExport([]string{o.Persona(t, "alice")}, []string{"43114"}, asks{"firstDate": dates[0], "lastDate": dates[1], "startDate": dates[0], "endDate": dates[1]})
		if status, answer := o.post(t, "", body); status != want {
			t.Errorf("from %s to %s is %d %v", dates[0], dates[1], status, answer)
		}
	}
}
