// make bench: exports of the large world.

package handlers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// exports measures exports of the large world: of alice, of all named accounts, and of contracts, with their memory, which must not grow with the
// rows.
func (r *report) exports() {
	p := r.serve("--profile", "large", "--db", r.world("large"), "--export-max-rows", "0")
	defer p.stop()
	w := r.describe(p)
	var chains, personas, contracts []string
	for _, c := range w.Chains {
		chains = append(chains, c.ChainID)
		for _, known := range c.Contracts {
			contracts = append(contracts, known.Address)
		}
	}
	for _, known := range w.Personas {
		personas = append(personas, known.Address)
	}
	contracts = contracts[:min(len(contracts), 1000)]
	r.table("export\trows\tMiB\tseconds\trows/s\tmemory before, MiB\tafter\tpeak\tread, MiB/s", func(row func(string, ...any)) {
		for _, e := range []struct {
			name      string
			addresses []string
		}{{"alice", personas[:1]}, {"all personas", personas}, {"the contracts", contracts}} {
			before, _ := memory(p.cmd.Process.Pid)
			done, took := r.export(p, e.addresses, chains)
			after, peak := memory(p.cmd.Process.Pid)
			begin := time.Now()
			_, path, _ := strings.Cut(done.Metadata.DownloadURL, p.address)
			file := r.first(p, get(path)[0])
			read := mebibytes(int64(len(file.Body))) / time.Since(begin).Seconds()
			row("%s\t%d\t%.0f\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f", e.name, done.Metadata.RowCount, mebibytes(int64(len(file.Body))), took.Seconds(),
				float64(done.Metadata.RowCount)/took.Seconds(), mebibytes(before), mebibytes(after), mebibytes(peak), read)
		}
	})
}

// export requests an export and waits for its end.
func (r *report) export(p *process, addresses, chains []string) (o operationState, took time.Duration) {
	body, err := json.Marshal(map[string]any{"type": "TRANSACTION_EXPORT_EVM", "options": map[string]any{"addresses": addresses, "includeChains": chains}})
	if err != nil {
		r.b.Fatal(err)
	}
	begin := time.Now()
	r.ask(p, request{http.MethodPost, "/v1/operations/transactions:export", string(body)}, &o)
	for o.OperationStatus == "RUNNING" {
		time.Sleep(20 * time.Millisecond)
		r.ask(p, get("/v1/operations/" + o.OperationID)[0], &o)
	}
	if o.OperationStatus != "COMPLETED" {
		r.b.Fatalf("%+v", o)
	}
	return o, time.Since(begin)
}
