package store

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// finished returns the closed file of a world with a row of every kind.
func finished(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "world.db")
	chain := writeChain(fullDelta())
	if err := made(t, path, func(b *Batch) error { return errors.Join(writeMeta(b), chain(b)) }).Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// edited returns a copy of a file after another program ran statements on it.
func edited(t *testing.T, path, text string) (*DB, error) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(copied, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+copied+"?_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(text); err != nil {
		return nil, errors.Join(err, other.Close())
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(copied)
	if err == nil {
		t.Cleanup(func() { db.Close() })
	}
	return db, err
}

func TestAChangedSchemaIsNamed(t *testing.T) {
	path := finished(t)
	changes := map[string]string{ // statements and the expected report
		"CREATE TABLE extra (id INTEGER)":                                     "table extra does not belong to it",
		"CREATE VIEW v AS SELECT * FROM tx":                                   "view v does not belong to it",
		"CREATE TRIGGER gone AFTER INSERT ON block BEGIN DELETE FROM tx; END": "trigger gone does not belong to it",
		"CREATE INDEX more ON tx (gas_used)":                                  "index more does not belong to it",
		"DROP INDEX tx_hash; CREATE INDEX tx_hash ON tx (hash DESC)":          "index tx_hash is not as it was made",
		"ALTER TABLE asset ADD COLUMN x ANY":                                  "table asset is not as it was made",
		"DROP TABLE touch":                                                    "table touch is missing",
		"ANALYZE":                                                             "table sqlite_stat1 does not belong to it",
		`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'tx'`:        "table tx is not as it was made",
		`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' CHECK (id >= 0)', '') WHERE name = 'tx'`: "table tx is not as it was made",
	}
	drop, missing := "", ""
	for _, o := range ownSchema() {
		if o.Type == "index" {
			drop, missing = drop+"DROP INDEX "+o.Name+";", missing+", "+o.String()+" is missing"
		}
	}
	changes[drop] = strings.TrimPrefix(missing, ", ")
	for text, want := range changes {
		_, err := edited(t, path, text)
		var damage *DamageError
		if !errors.As(err, &damage) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "restore a copy") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestTheEngineRefusesWhatCannotBe: a value with another storage class, length or sign is refused when it is written.
func TestTheEngineRefusesWhatCannotBe(t *testing.T) {
	path := finished(t)
	for _, text := range []string{
		"UPDATE tx SET hash = CAST(hash AS TEXT)", "UPDATE tx SET hash = substr(hash, 2)", "UPDATE tx SET status = 2",
		"UPDATE tx SET gas_used = -1", "UPDATE tx SET gas_used = 0.5", "UPDATE chain SET blockchain_id = substr(blockchain_id, 2)",
		"UPDATE chain SET name = x'00'", "UPDATE log SET topic = x'0000'", "UPDATE log SET topics = zeroblob(100)", "UPDATE call SET type = 'JUMP'", "UPDATE account SET balance = zeroblob(33)",
	} {
		if _, err := edited(t, path, text); err == nil {
			t.Errorf("%s was done", text)
		}
	}
}

// TestAViolationIsPlaced: a row that violates a constraint is reported with table, row and rule.
func TestAViolationIsPlaced(t *testing.T) {
	path := finished(t)
	for text, want := range map[string]string{
		"UPDATE tx SET hash = x'01'":                      "table tx, row with id 4503599627436032: it must be that length(hash) = 32",
		"UPDATE account SET code_hash = x'01', nonce = 7": "length(code_hash) = 32",
		"UPDATE call SET type = 'JUMP'":                   "it must be that type IN ('CALL'",
	} {
		db, err := edited(t, path, "PRAGMA ignore_check_constraints = ON; "+text)
		if err == nil {
			err = db.Integrity(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestShortColumnsAreDamage: a value that readers take for 20 or 32 bytes has that length, or reading it is damage. For this, columns with one name
// must have one length in all tables.
func TestShortColumnsAreDamage(t *testing.T) {
	for name, bytes := range map[string]int{"hash": 32, "address": 20, "sender": 20, "node": 20, "tx": 32, "validation": 32, "blockchain_id": 32, "subnet_id": 32} {
		if w := fixedWidths()[name]; w.bytes != bytes || w.absent {
			t.Errorf("columns named %s do not have %d bytes in every table", name, bytes)
		}
	}
	db, err := edited(t, finished(t), "PRAGMA ignore_check_constraints = ON; UPDATE tx SET hash = x'01'; UPDATE block SET hash = x'01'")
	if err != nil {
		t.Fatal(err)
	}
	_, of := Get[struct {
		Hash []byte `db:"hash"`
	}](t.Context(), db, "SELECT hash FROM tx LIMIT 1")
	_, alone := value[[]byte](t.Context(), db, "SELECT hash FROM block LIMIT 1")
	for _, err := range []error{of, alone} {
		var damage *DamageError
		if !errors.As(err, &damage) || !strings.Contains(err.Error(), "hash has 1 bytes, it must have 32") {
			t.Errorf("a short hash is answered with %v", err)
		}
	}
}

// TestASnapshotStandsStill: commits after a snapshot was made are not visible on any of its connections.
func TestASnapshotStandsStill(t *testing.T) {
	db, err := edited(t, finished(t), "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	const connections = 3
	snapshot, err := db.View(t.Context(), connections)
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	batch, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.End(batch.AddPersona(Persona{ID: 1, Name: "late", Key: hash, Address: address})); err != nil {
		t.Fatal(err)
	}
	if n, err := db.Count(t.Context(), "persona"); err != nil || n != 1 {
		t.Errorf("the file has %d, %v", n, err)
	}
	for range connections {
		rows, err := snapshot.read.QueryContext(t.Context(), "SELECT id FROM persona")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() // keeps its connection until the end, so that the next reads use another one
		if rows.Next() {
			t.Error("the snapshot has it")
		}
	}
}

// TestATruncatedFileRecovers truncates a served file during reads, and restores it. The engine reads the missing part as zeros and caches it,
// so affected connections must be renewed.
func TestATruncatedFileRecovers(t *testing.T) {
	path := finished(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	reader, err := db.read.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const missing = `SELECT count(*) FROM log NOT INDEXED`
	var count int
	if err := errors.Join(reader.GetContext(t.Context(), &count, `BEGIN; SELECT count(*) FROM meta`), os.Truncate(path, 2*pageSize)); err != nil {
		t.Fatal(err)
	}
	if err := reader.GetContext(t.Context(), &count, missing); err == nil {
		t.Fatal("nothing is missing from a truncated file")
	}
	_, err = reader.ExecContext(t.Context(), "ROLLBACK")
	if err := errors.Join(err, reader.Close(), os.WriteFile(path, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	if _, err := value[int64](t.Context(), db, missing); !errors.As(err, &damage) {
		t.Fatalf("what was missing is not remembered: %v", err)
	}
	for range 2 * readers() {
		if _, err := value[int64](t.Context(), db, missing); err != nil {
			t.Fatalf("the whole file: %v", err)
		}
	}
}
