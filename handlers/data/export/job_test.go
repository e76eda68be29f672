package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"snowglobe/handlers/data"
	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/export"
)

// office is a world of its own whose exports run until the test ends.
type office struct{ *datatest.Globe }

var officeWorld struct {
	sync.Mutex
	*sim.World
}

// openOffice runs exports in the tiny world of seed 1, which the tests about exports share.
func openOffice(t testing.TB, o export.Options) *office {
	t.Helper()
	officeWorld.Lock()
	defer officeWorld.Unlock()
	if officeWorld.World == nil {
		w, err := seedtest.Shared(t, "tiny", 1).Copy(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		officeWorld.World = w
	}
	return serveOffice(t, officeWorld.World, o)
}

func serveOffice(t testing.TB, w *sim.World, o export.Options) *office {
	t.Helper()
	exports := export.NewJobs(w, o)
	opened := serveExports(t, w, exports)
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- exports.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return opened
}

// serveExports serves exports, whether they run or not.
func serveExports(t testing.TB, w *sim.World, exports *export.Jobs) *office {
	t.Helper()
	return &office{datatest.ServeWith(t, w, exports, data.Options{})}
}

// asks returns the body of a request for an export.
type asks = map[string]any

func evmExport(addresses, chains []string, more ...asks) asks {
	return exportOf(export.EVM, asks{"addresses": addresses, "includeChains": chains}, more...)
}

func exportOf(kind export.Type, options asks, more ...asks) asks {
	body := asks{"type": kind, "options": options}
	for _, m := range more {
		for name, value := range m {
			body[name] = value
		}
	}
	return body
}

// post sends a body and returns the status and the response, which must fit the document.
func (o *office) post(t testing.TB, prefix string, body any) (int, datatest.Object) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := o.Do(t, httptest.NewRequest(http.MethodPost, prefix+"/v1/operations/transactions:export", bytes.NewReader(raw)))
	var answer datatest.Object
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	return w.Code, answer
}

// finish requests an export and waits for its end.
func (o *office) finish(t testing.TB, body any) datatest.Object {
	t.Helper()
	status, started := o.post(t, "", body)
	if status != http.StatusOK || started["operationStatus"] != "RUNNING" {
		t.Fatalf("%v: %d %v", body, status, started)
	}
	for range 3000 {
		now := o.Get(t, "/v1/operations/"+started["operationId"].(string))
		if now["operationStatus"] != "RUNNING" {
			return now
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("%v does not end", started)
	return nil
}

// file returns the whole file of an export.
func (o *office) file(t testing.TB, operation datatest.Object) string {
	t.Helper()
	link, _ := datatest.Dig(operation, "metadata", "downloadUrl").(string)
	_, path, found := strings.Cut(link, "example.com")
	if !found {
		t.Fatalf("no file: %v", operation)
	}
	w := httptest.NewRecorder()
	o.Server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
		t.Fatalf("GET %s: %d %v", path, w.Code, w.Header())
	}
	return w.Body.String()
}

// record is a row of a file by column name.
type record map[string]string

// records reads a file like any CSV reader.
func records(t testing.TB, kind export.Type, file string) (rows []record) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(file, "\r\n"); lines != len(all) {
		t.Fatalf("%d lines end as they should, of %d", lines, len(all))
	}
	columns := kind.Columns()
	for i, name := range all[0] {
		if i >= len(columns) || columns[i].Name != name {
			t.Fatalf("column %d is %s", i, name)
		}
	}
	for _, fields := range all[1:] {
		row := record{}
		for i, text := range fields {
			row[all[0][i]] = text
		}
		rows = append(rows, row)
	}
	return rows
}

// rows requests an export that must be complete, and returns its rows.
func (o *office) rows(t testing.TB, body asks) []record {
	t.Helper()
	done := o.finish(t, body)
	if done["operationStatus"] != "COMPLETED" {
		t.Fatalf("%v: %v", body, done)
	}
	rows := records(t, body["type"].(export.Type), o.file(t, done))
	if count := fmt.Sprint(datatest.Dig(done, "metadata", "rowCount")); count != fmt.Sprint(len(rows)) {
		t.Errorf("%v: %d rows, it says %s", body, len(rows), count)
	}
	return rows
}

// chainIDs returns the ids of all EVM chains.
func (o *office) chainIDs() (all []string) {
	for _, c := range o.Chains {
		all = append(all, fmt.Sprint(c.Row.EVMID))
	}
	return all
}

// TestExportsAreListed starts three and reads the list in pages.
func TestExportsAreListed(t *testing.T) {
	o := openOffice(t, export.Options{})
	var started []string
	for range 3 {
		started = append(started, o.finish(t, evmExport([]string{o.Persona(t, "alice")}, []string{"43114"}, asks{"firstDate": "2026-10-29", "lastDate": "2026-10-30"}))["operationId"].(string))
	}
	first := o.Get(t, "/sim/exports?pageSize=2")
	second := o.Get(t, "/sim/exports?pageSize=2&pageToken="+first["nextPageToken"].(string))
	var found []string
	for _, page := range []datatest.Object{first, second} {
		for _, operation := range page["operations"].([]any) {
			found = append(found, operation.(datatest.Object)["operationId"].(string))
		}
	}
	if len(found) < 3 || found[0] != started[2] || found[1] != started[1] || found[2] != started[0] {
		t.Errorf("started %v, listed %v", started, found)
	}
}
