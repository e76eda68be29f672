package export_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/export"
	"snowglobe/sim/verify/verifytest"
)

// TestFollowingNextDateGivesEveryRowOnce exports with limits from one row, which no day keeps, up to more than there are.
func TestFollowingNextDateGivesEveryRowOnce(t *testing.T) {
	whole := openOffice(t, export.Options{})
	for _, body := range []asks{
		evmExport([]string{whole.Persona(t, "alice"), whole.Persona(t, "clumsy")}, whole.chainIDs()),
		exportOf(export.Primary, asks{"addresses": whole.everyOwner(t), "includeChains": primaryChains}),
	} {
		want := whole.rows(t, body)
		limits := []int64{60, 7, 1, int64(len(want)) - 1, int64(len(want)), int64(len(want)) + 1}
		for _, limit := range limits[:datatest.Times(t, len(limits))] {
			o := openOffice(t, export.Options{MaxRows: limit})
			got, parts := o.follow(t, body, limit)
			if !slices.EqualFunc(got, want, maps.Equal) {
				t.Errorf("limit %d: %d rows in %d parts, there are %d", limit, len(got), parts, len(want))
			}
			if truncated := limit < int64(len(want)); truncated != (parts > 1) {
				t.Errorf("limit %d: %d parts", limit, parts)
			}
		}
	}
}

// follow requests an export and its continuations until there are no more.
func (o *office) follow(t *testing.T, body asks, limit int64) (rows []record, parts int) {
	t.Helper()
	from := ""
	for {
		ask := maps.Clone(body)
		if from != "" {
			ask["firstDate"] = from
		}
		done := o.finish(t, ask)
		part := records(t, body["type"].(export.Type), o.file(t, done))
		rows, parts = append(rows, part...), parts+1
		days := map[string]bool{}
		for _, r := range part {
			days[r["BlockTimestamp"][:len(time.DateOnly)]] = true
		}
		if int64(len(part)) > limit && len(days) > 1 {
			t.Errorf("limit %d: %d rows of %d days", limit, len(part), len(days))
		}
		next, more := datatest.Dig(done, "metadata", "nextDate").(string)
		if code := datatest.Dig(done, "metadata", "code"); more != (code == "WarnTruncatedExport") || more != (done["operationStatus"] == "COMPLETED_WITH_WARNING") {
			t.Fatalf("%v", done)
		}
		if !more {
			return rows, parts
		}
		if next <= from || next <= part[len(part)-1]["BlockTimestamp"][:len(time.DateOnly)] {
			t.Fatalf("after %s comes %s", from, next)
		}
		from = next
	}
}

// TestDatesAreWholeDays compares exports of every span of days with the rows of those days.
func TestDatesAreWholeDays(t *testing.T) {
	o := openOffice(t, export.Options{})
	alice := []string{o.Persona(t, "alice")}
	all := o.rows(t, evmExport(alice, o.chainIDs()))
	day := func(r record) string { return r["BlockTimestamp"][:len(time.DateOnly)] }
	first, last := day(all[0]), day(all[len(all)-1])
	middle := day(all[len(all)/2])
	for _, c := range []struct {
		given    asks
		from, to string
	}{
		{asks{"firstDate": first, "lastDate": last}, first, last},
		{asks{"firstDate": middle}, middle, last},
		{asks{"lastDate": middle}, first, middle},
		{asks{"firstDate": middle, "lastDate": middle}, middle, middle},
		{asks{"startDate": middle}, middle, last},
		{asks{"endDate": middle}, first, middle},
		{asks{"firstDate": middle, "startDate": middle, "lastDate": last, "endDate": last}, middle, last},
		{asks{"firstDate": "1970-01-01", "lastDate": "9999-12-31"}, first, last},
		{asks{"lastDate": "2020-01-01"}, "none", "none"},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(r record) bool { return day(r) < c.from || day(r) > c.to })
		if got := o.rows(t, evmExport(alice, o.chainIDs(), c.given)); !slices.EqualFunc(got, want, maps.Equal) {
			t.Errorf("%v: %d rows, want %d", c.given, len(got), len(want))
		}
	}
}

// TestExportsKeepToTheirRetention moves the clock: a finished export exists up to the last second of its retention, and then no longer.
func TestExportsKeepToTheirRetention(t *testing.T) {
	o := serveOffice(t, seedtest.Copy(t, 1), export.Options{Retention: 3600})
	ask := evmExport([]string{o.Persona(t, "bob")}, o.chainIDs())
	done := o.finish(t, ask)
	o.Clock.Set(o.Clock.Now().Add(3599 * time.Second))
	path := "/v1/operations/" + done["operationId"].(string)
	o.Get(t, path)
	o.Clock.Set(o.Clock.Now().Add(time.Second))
	o.Ask(t, path, 404)
	o.Ask(t, "/sim/exports/"+done["operationId"].(string)+"/transactions.csv", 404)
	later := o.finish(t, ask)
	if later["operationId"] == done["operationId"] {
		t.Error("the name of a deleted export is given again")
	}
	count := int64(0)
	for range 1000 {
		if count, _ = o.DB.Count(t.Context(), "operation"); count == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if count != 1 {
		t.Errorf("%d operations are left", count)
	}
	verifytest.Sound(t, o.World)
	if got := fmt.Sprint(later["createdAtTimestamp"]); got != fmt.Sprint(o.Clock.Unix()) {
		t.Errorf("created at %s by the clock %d", got, o.Clock.Unix())
	}
}

// TestExportsScanNothing checks the query plan of every statement that exports of all kinds prepared.
func TestExportsScanNothing(t *testing.T) {
	o := serveOffice(t, seedtest.Copy(t, 1), export.Options{Retention: 3600, MaxRows: 100})
	o.finish(t, evmExport([]string{o.Persona(t, "alice")}, o.chainIDs()))
	for _, kind := range []export.Type{export.Primary, export.Staking} {
		o.finish(t, exportOf(kind, asks{"addresses": o.everyOwner(t), "cChainEvmAddresses": []string{o.Persona(t, "traveller")}, "includeChains": primaryChains}))
	}
	datatest.ScansNothing(t, o.DB)
}
