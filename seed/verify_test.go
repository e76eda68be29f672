package seed_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/fixtures/worldfile"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// small returns a world for tests that need many.
var small = &seed.Profile{Sizes: worldfile.Sizes{Name: "small", Days: 3, Chains: 2, Transactions: 400, Validators: 40, Delegators: 60, L1Validators: 12, PrimaryTransactions: 300}}

// smallBytes caches the file of the small world.
var smallBytes []byte

// smallFile returns a copy of the small world, with exports and changes by clients.
func smallFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "world.db")
	if smallBytes == nil {
		makeSmall(t, path)
		var err error
		if smallBytes, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(path, smallBytes, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func makeSmall(t *testing.T, path string) {
	t.Helper()
	w, err := seed.Generate(t.Context(), seed.Options{Path: path, Seed: 9, Profile: small, Until: seed.DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	exported(t, w)
	controlled(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// controlled makes changes to a chain that the network would not allow: a changed state, a transaction without a signature, a block with an
// overridden header, and a waiting transaction. Every table then has rows.
func controlled(t *testing.T, w *sim.World) {
	t.Helper()
	m, sender := w.Miners[0], common.HexToAddress("0x1e1")
	send := func(nonce uint64) error {
		tx, err := evm.Impersonate(types.NewTx(&types.LegacyTx{Nonce: nonce, To: &sender, Gas: 21_000, GasPrice: big.NewInt(2e12)}),
			new(big.Int).SetUint64(m.Chain.Row.EVMID), sender)
		if err != nil {
			return err
		}
		return m.SendFrom(t.Context(), tx, sender)
	}
	if err := m.SetBalance(t.Context(), sender, uint256.NewInt(1e18)); err != nil {
		t.Fatal(err)
	}
	m.SetNextBaseFee(big.NewInt(1e11))
	m.SetGasLimit(14_000_000)
	m.SetCoinbase(sender)
	if err := send(0); err != nil {
		t.Fatal(err)
	}
	if err := m.SetStorage(t.Context(), sender, common.Hash{1}, common.Hash{2}, &sender); err != nil {
		t.Fatal(err)
	}
	m.SetAutomine(false)
	if err := send(1); err != nil {
		t.Fatal(err)
	}
}

// exported adds an export to a world.
func exported(t *testing.T, w *sim.World) {
	t.Helper()
	scope := export.Scope{Type: export.EVM}
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		scope.Accounts = append(scope.Accounts, common.BytesToAddress(p.Address))
	}
	for _, c := range w.Chains {
		scope.Chains = append(scope.Chains, export.ChainRef{Kind: export.KindEVM, Network: c.Row.Network, ChainID: c.Row.EVMID})
	}
	exports := export.NewJobs(w, export.Options{MaxRows: 100})
	started, err := exports.Start(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- exports.Run(ctx) }()
	for status := store.OperationRunning; status == store.OperationRunning; time.Sleep(time.Millisecond) {
		o, err := exports.Operation(t.Context(), started.UUID)
		if err != nil {
			t.Fatal(err)
		}
		status = o.Status
	}
	stop()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

// told lists the tables of clients' requests and their results, which the rest of the world does not determine.
func told(table string) bool {
	return table == "nft_reindex" || table == "snapshot" || table == "undo_count" || table == "verified" || strings.HasPrefix(table, "webhook")
}

// TestVerifyNoticesAnyFlippedByte changes one value in every column of every table in copies of a world, except for clients' own data. Either the
// copy is refused or verify finds the change.
func TestVerifyNoticesAnyFlippedByte(t *testing.T) {
	path := smallFile(t)
	if err := verifyFile(t, path); err != nil {
		t.Fatalf("the world itself: %v", err)
	}
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := tables(t, path)
	maps.DeleteFunc(all, func(table string, _ []string) bool { return told(table) })
	for i, table := range slices.Sorted(maps.Keys(all)) {
		columns := all[table]
		if testing.Short() { // one column of each table, a different one for each
			t.Log("left out of a short run: all columns but one of each table")
			columns = columns[i%len(columns):][:1]
		}
		for _, column := range columns {
			t.Run(table+"."+column, func(t *testing.T) {
				t.Parallel()
				copied := filepath.Join(t.TempDir(), "copy.db")
				if err := os.WriteFile(copied, original, 0o600); err != nil {
					t.Fatal(err)
				}
				change := flip(t, copied, table, column)
				if err := verifyFile(t, copied); err == nil {
					t.Errorf("verify did not notice: %s", change)
				}
			})
		}
	}
}

func verifyFile(t *testing.T, path string) error {
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = verify.Verify(t.Context(), w, nil)
	return err
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=ignore_check_constraints(1)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// tables lists every table of a world with its columns.
func tables(t *testing.T, path string) map[string][]string {
	db := open(t, path)
	rows, err := db.Query(`SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		all[table] = append(all[table], column)
	}
	return all
}

// flip changes one value of a column, in a row chosen by the column's name, and describes the change.
func flip(t *testing.T, path, table, column string) string {
	db := open(t, path)
	var count int
	if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&count); err != nil || count == 0 {
		t.Fatalf("%s has %d rows: %v", table, count, err)
	}
	r := rand.New(rand.NewPCG(uint64(len(table)), uint64(len(column))))
	row := r.IntN(count)
	key := primaryKey(t, db, table)
	where := fmt.Sprintf("(%s) = (SELECT %s FROM %s LIMIT 1 OFFSET %d)", key, key, table, row)
	var value any
	if err := db.QueryRow(fmt.Sprintf("SELECT %s FROM %s WHERE %s", column, table, where)).Scan(&value); err != nil {
		t.Fatal(err)
	}
	for step := range 50 {
		changed := mutate(value, step)
		result, err := db.Exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", table, column, where), changed)
		if err != nil {
			continue // another row has the new value
		}
		if n, _ := result.RowsAffected(); n == 1 {
			return fmt.Sprintf("row %d: %v became %v", row, value, changed)
		}
	}
	t.Fatalf("%s.%s could not be changed", table, column)
	return ""
}

func primaryKey(t *testing.T, db *sql.DB, table string) string {
	rows, err := db.Query("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// mutate returns the value with one change, a different one for each step.
func mutate(value any, step int) any {
	switch v := value.(type) {
	case int64:
		return v ^ 1<<(step%60)
	case string:
		b := []byte(v)
		if len(b) == 0 {
			return "x"
		}
		b[step%len(b)] ^= 1
		return string(b)
	case []byte:
		b := append([]byte{}, v...)
		if len(b) == 0 {
			return []byte{byte(step)}
		}
		b[(len(b)-1+step)%len(b)] ^= 1 << (step / len(b) % 8)
		return b
	default: // the value was empty; the column takes numbers or bytes
		if step%2 == 0 {
			return int64(step + 1)
		}
		return []byte{byte(step)}
	}
}
