// make bench: snapshots and reverts, compared with anvil.

package handlers_test

import (
	"crypto/ecdsa"
	"database/sql"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/seed"
	"snowglobe/sim/store"
)

// undone lists after how many transactions the world is reverted, and how often that is measured.
var undone = []struct{ transactions, rounds int }{{1, 15}, {100, 7}, {10_000, 1}}

// undoing measures snapshots, reverts and the ways to give a test its own world, and those of anvil if it is installed.
func (r *report) undoing() {
	r.table("going back\tms\tbudget", func(row func(string, ...any)) {
		for _, profile := range []string{"tiny", "default"} {
			p := r.serve("--profile", profile, "--quiet", "--db", filepath.Join(r.b.TempDir(), "undone.db"))
			r.goBack(profile, p, "/ext/bc/C/rpc", row)
			r.makeWorlds(profile, p, row)
			p.stop()
		}
		if program := anvilProgram(); program != "" {
			p := r.anvil(program)
			r.goBack("anvil", p, "/", row)
			p.stop()
			row("anvil, a fresh process\t%.1f\t", r.often(7, func() time.Duration {
				begin := time.Now()
				p := r.anvil(program)
				took := time.Since(begin)
				p.stop()
				return took
			}))
		}
		r.inProcess(row)
	})
	r.leaving()
}

// monthOfSeconds is the number of seconds in a month.
const monthOfSeconds = 30 * 24 * 3600

// leaving measures what use leaves in a default world's file, and how long a reset takes that removes it.
func (r *report) leaving() {
	path := filepath.Join(r.b.TempDir(), "left.db")
	p := r.serve("--profile", "default", "--quiet", "--db", path)
	defer p.stop()
	client := r.client(p, "http", "/ext/bc/C/rpc")
	defer client.Close()
	key, err := crypto.HexToECDSA(fixtures.Personas[0].Key)
	if err != nil {
		r.b.Fatal(err)
	}
	post := func(path, body string) time.Duration {
		begin := time.Now()
		answer, err := http.Post("http://"+p.address+path, "application/json", strings.NewReader(body))
		if err != nil {
			r.b.Fatal(err)
		}
		took := time.Since(begin)
		if answer.Body.Close(); answer.StatusCode != http.StatusOK {
			r.b.Fatal(path, answer.Status)
		}
		return took
	}
	// left returns how many bytes of the file and of the undo log an action takes.
	left := func(use func()) (file, undo float64) {
		fileBefore, undoBefore := r.inUse(path)
		use()
		file, undo = r.inUse(path)
		return file - fileBefore, undo - undoBefore
	}
	r.table("what use leaves in the file of default\tfile\tundo log\tbudget of the file\tof the undo log\tunit", func(row func(string, ...any)) {
		const some, many = 10_000, 30_000
		var file, undo float64
		for sent := some; sent <= many; sent += some {
			file, undo = left(func() { r.payMany(client, key, some) })
			row("transfer, of the last %d of %d\t%.0f\t%.0f\t%s\t%s\tbytes", some, sent, file/some, undo/some, budget("file, per transfer sent"), budget("undo log, per transfer"))
		}
		row("month of a transfer each second: the last figure, as the growth is linear\t%.0f\t%.0f\t\t\tMiB", file/some*monthOfSeconds/(1<<20), undo/some*monthOfSeconds/(1<<20))
		row("reset after %d transfers: ms\t%.0f\t\t%s\t\tms", many, milliseconds(post("/sim/reset", "")), budget("reset after 30,000 transactions"))
		file, undo = left(func() { post("/sim/clock", `{"advance":"720h","populate":true}`) })
		row("month of people\t%.1f\t%.1f\t\t\tMiB", file/(1<<20), undo/(1<<20))
		const seconds = 7200
		file, undo = left(func() {
			for range seconds {
				post("/sim/clock", `{"advance":"1s","populate":false}`)
			}
		})
		row("month of a clock that moves each second: %d seconds times %d\t%.1f\t%.1f\t\t\tMiB", seconds, monthOfSeconds/seconds, file/(1<<20)*monthOfSeconds/seconds, undo/(1<<20)*monthOfSeconds/seconds)
	})
}

// inUse returns the bytes of a world's file that hold rows, and those of its undo log: its steps, and 60 bytes for the rest of each row.
func (r *report) inUse(path string) (file, undo float64) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		r.b.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRow(`SELECT 4096.0 * (page_count - freelist_count), (SELECT ifnull(sum(length(steps)) + 60.0 * count(*), 0) FROM undo)
		FROM pragma_page_count, pragma_freelist_count`).Scan(&file, &undo)
	if err != nil {
		r.b.Fatal(err)
	}
	return file, undo
}

// often returns the median of a number of measurements, in milliseconds.
func (r *report) often(times int, measure func() time.Duration) float64 {
	var took []time.Duration
	for range times {
		took = append(took, measure())
	}
	return milliseconds(median(took))
}

// goBack measures evm_snapshot, evm_revert after some transactions, and a simulator's reset.
func (r *report) goBack(name string, p *process, path string, row func(string, ...any)) {
	client := r.client(p, "http", path)
	defer client.Close()
	key, err := crypto.HexToECDSA(fixtures.Personas[0].Key)
	if err != nil {
		r.b.Fatal(err)
	}
	timed := func(answer any, method string, params ...any) time.Duration {
		begin := time.Now()
		if err := client.Client().CallContext(r.b.Context(), answer, method, params...); err != nil {
			r.b.Fatal(method, err)
		}
		return time.Since(begin)
	}
	var id any
	row("%s, snapshot\t%.2f\t%s", name, r.often(15, func() time.Duration { return timed(&id, "evm_snapshot") }), budget("snapshot"))
	for _, c := range undone {
		limit := budget("revert of what one test did")
		if c.transactions > 100 {
			limit = budget("revert of 10,000 transactions")
		}
		row("%s, revert after %d transactions\t%.1f\t%s", name, c.transactions, r.often(c.rounds, func() time.Duration {
			timed(&id, "evm_snapshot")
			r.payMany(client, key, c.transactions)
			return timed(nil, "evm_revert", id)
		}), limit)
	}
	if path == "/" {
		return
	}
	row("%s, reset after 100 transactions\t%.1f\t%s", name, r.often(7, func() time.Duration {
		r.payMany(client, key, 100)
		return timed(nil, "anvil_reset")
	}), budget("revert of what one test did"))
}

// makeWorlds measures a new world: a copy of the served one, in a file, with its server.
func (r *report) makeWorlds(name string, p *process, row func(string, ...any)) {
	row("%s, new world\t%.1f\t%s", name, r.often(15, func() time.Duration {
		begin := time.Now()
		answer, err := http.Post("http://"+p.address+"/sim/worlds", "application/json", strings.NewReader(`{}`))
		if err != nil {
			r.b.Fatal(err)
		}
		took := time.Since(begin)
		if answer.Body.Close(); answer.StatusCode != http.StatusCreated {
			r.b.Fatal(answer.Status)
		}
		return took
	}), copyBudget(name))
}

func copyBudget(profile string) string {
	if profile != "tiny" {
		return ""
	}
	return budget("copy of tiny")
}

// payMany sends payments, each in its own block.
func (r *report) payMany(client *ethclient.Client, key *ecdsa.PrivateKey, n int) {
	id, err := client.ChainID(r.b.Context())
	if err != nil {
		r.b.Fatal(err)
	}
	nonce, err := client.NonceAt(r.b.Context(), crypto.PubkeyToAddress(key.PublicKey), nil)
	if err != nil {
		r.b.Fatal(err)
	}
	signer := types.LatestSignerForChainID(id)
	for sent := 0; sent < n; {
		var batch []rpc.BatchElem
		for ; len(batch) < 100 && sent < n; sent++ {
			tx := types.MustSignNewTx(key, signer, &types.DynamicFeeTx{ChainID: id, Nonce: nonce + uint64(sent), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12), Gas: 21_000, To: &common.Address{19: 7}})
			raw, err := tx.MarshalBinary()
			if err != nil {
				r.b.Fatal(err)
			}
			batch = append(batch, rpc.BatchElem{Method: "eth_sendRawTransaction", Args: []any{fmt.Sprintf("0x%x", raw)}, Result: new(string)})
		}
		if err := client.Client().BatchCallContext(r.b.Context(), batch); err != nil {
			r.b.Fatal(err)
		}
		for i := range batch {
			if batch[i].Error != nil {
				r.b.Fatal(batch[i].Error)
			}
		}
	}
	for begin := time.Now(); ; { // anvil answers before it has mined
		now, err := client.NonceAt(r.b.Context(), crypto.PubkeyToAddress(key.PublicKey), nil)
		if err == nil && now == nonce+uint64(n) {
			return
		}
		if time.Since(begin) > patience {
			r.b.Fatalf("nonce %d, want %d: %v", now, nonce+uint64(n), err)
		}
		if err := client.Client().CallContext(r.b.Context(), nil, "evm_mine"); err != nil { // and leaves some when a block is full
			r.b.Fatal(err)
		}
	}
}

// inProcess measures a copy of an in-memory world with its server, which every test but the first gets.
func (r *report) inProcess(row func(string, ...any)) {
	for _, name := range []string{"tiny", "default"} {
		profile, err := seed.LoadProfile(name)
		if err != nil {
			r.b.Fatal(err)
		}
		w, err := seed.Generate(r.b.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: profile, Until: seed.DefaultUntil})
		if err != nil {
			r.b.Fatal(err)
		}
		row("%s, a new world in the same process\t%.1f\t%s", name, r.often(15, func() time.Duration {
			begin := time.Now()
			c, err := w.Copy(r.b.Context())
			if err != nil {
				r.b.Fatal(err)
			}
			h, err := handlers.New(c, handlers.Options{Network: fixtures.MainnetName})
			if err != nil {
				r.b.Fatal(err)
			}
			if said := ask(h, "GET", "/sim/health", ""); !strings.Contains(said, `"healthy":true`) {
				r.b.Fatal(said)
			}
			took := time.Since(begin)
			h.Close()
			if err := c.Close(); err != nil {
				r.b.Fatal(err)
			}
			return took
		}), copyBudget(name))
		if err := w.Close(); err != nil {
			r.b.Fatal(err)
		}
	}
}
