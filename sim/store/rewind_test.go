package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commit runs a batch.
func (db *DB) commit(t *testing.T, write func(*Batch) error) {
	t.Helper()
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.End(write(b)); err != nil {
		t.Fatal(err)
	}
}

// rowsOf lists the rows of a table.
func (db *DB) rowsOf(t *testing.T, table string) (rows [][]any) {
	t.Helper()
	found, err := db.walk(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		row, err := found.SliceScan()
		if err != nil {
			t.Fatal(err)
		}
		for i := range row {
			if raw, blob := row[i].([]byte); blob && raw == nil {
				row[i] = []byte{} // the driver reads an empty blob as nil
			}
		}
		rows = append(rows, row)
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		t.Fatal(err)
	}
	return rows
}

// history changes the rows of a world at random.
type history struct {
	*testing.T
	db     *DB
	random *rand.Rand
	tables []string
	rows   map[string][][]any // the first ones, by table
}

// goOn makes commits that delete rows, change them, or add deleted ones again. Some share a database transaction, and some of those fail.
func (h *history) goOn(commits int) {
	h.Helper()
	for made := 0; made < commits; {
		b, err := h.db.Begin()
		if err != nil {
			h.Fatal(err)
		}
		together, fails := min(1+h.random.IntN(3), commits-made), h.random.IntN(4) == 0
		for n := range together {
			m := Meta{Generator: "1", Seed: 7, Profile: "tiny", Shape: "x: 1", Until: 9, Clock: h.random.Int64N(1000), Base: hash, Digest: hash}
			if err = errors.Join(err, h.change(b)); n < together-1 {
				err = errors.Join(err, b.Step(m))
			} else {
				err = errors.Join(err, b.SetMeta(m))
			}
		}
		if err != nil {
			h.Fatal(err)
		}
		if fails {
			err = b.Rollback()
		} else {
			err = b.Commit()
			made += together
		}
		if err != nil {
			h.Fatal(err)
		}
	}
}

// change deletes, changes and adds rows.
func (h *history) change(b *Batch) (err error) {
	for range 1 + h.random.IntN(5) {
		table := h.tables[h.random.IntN(len(h.tables))]
		if h.random.IntN(2) == 0 {
			err = errors.Join(err, b.exec(`DELETE FROM `+table))
		}
		for _, row := range h.rows[table] {
			if h.random.IntN(2) == 0 {
				err = errors.Join(err, b.exec(`INSERT OR REPLACE INTO `+table+` VALUES (?`+strings.Repeat(", ?", len(row)-1)+`)`, row...))
			}
		}
	}
	return err
}

// all returns every row that going back restores, as text.
func (h *history) all() string {
	var text strings.Builder
	for _, table := range Tables() {
		if !notUndone[table] {
			fmt.Fprintf(&text, "%s %q\n", table, h.db.rowsOf(h.T, table))
		}
	}
	return text.String()
}

// mark takes a snapshot.
func (h *history) mark() (s Snapshot, rows string) {
	h.Helper()
	s = Snapshot{Digest: hash, Memory: []byte("{}")}
	h.db.commit(h.T, func(b *Batch) error { return b.AddSnapshot(&s) })
	return s, h.all()
}

// TestRewindRestoresEveryTable reverts random histories that change rows of every possible table. Each time the rows equal those of a world that
// stopped there, and the rest of the log is undamaged.
func TestRewindRestoresEveryTable(t *testing.T) {
	for seed := range uint64(8) {
		db := made(t, Memory, func(b *Batch) error { return errors.Join(writeMeta(b), writeChain(fullDelta())(b)) })
		h := &history{T: t, db: db, random: rand.New(rand.NewPCG(seed, 40)), rows: map[string][][]any{}}
		for _, table := range Tables() {
			if rows := db.rowsOf(t, table); len(rows) > 0 && !notUndone[table] && table != "meta" {
				h.tables, h.rows[table] = append(h.tables, table), rows
			}
		}
		if len(h.tables) < 18 {
			t.Fatalf("only %d tables have rows: %s", len(h.tables), h.tables)
		}
		back := func(s Snapshot, want string) {
			t.Helper()
			if h.all() == want {
				t.Errorf("seed %d: nothing has changed since commit %d", seed, s.Sequence)
			}
			db.commit(t, func(b *Batch) error {
				return errors.Join(b.Rewind(RewindOptions{To: s.Sequence}), b.DropSnapshots(s.ID+1, 1<<62))
			})
			if got := h.all(); got != want {
				t.Errorf("seed %d, back to commit %d: the rows are\n%.2000s\nthey were\n%.2000s", seed, s.Sequence, got, want)
			}
			if now := db.LastCommit().Sequence; now != s.Sequence {
				t.Errorf("seed %d: the last commit is %d, want %d", seed, now, s.Sequence)
			}
			if err := db.CheckUndo(t.Context(), func(int64) []byte { return hash }); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		first, rows := h.mark()
		h.goOn(10)
		second, later := h.mark()
		h.goOn(10)
		back(second, later)
		h.goOn(5)
		back(second, later)
		h.goOn(5)
		back(first, rows)
	}
}

// TestOneWayOut searches the sources: only Rewind deletes rows of blocks. Another statement may delete one only to add it again with a client's
// values.
func TestOneWayOut(t *testing.T) {
	var of []string
	for table, r := range tablesOfBlocks() {
		if r.kind != ofNoBlock {
			of = append(of, table)
		}
	}
	deletes := regexp.MustCompile(`DELETE FROM (?:` + strings.Join(of, "|") + `)\b.*`)
	undoes := regexp.MustCompile(`\b(?:Selective|Undo)\(\w+\.tx|\.Take\(`)
	allowed := map[string]*regexp.Regexp{
		"sim/store/state.go":  regexp.MustCompile(`, b\.add(?:Account|Slot|Token|TokenBalance|NFTState)\(\w\)`),
		"sim/store/rewind.go": undoes,
	}
	found := map[string]int{}
	root := os.DirFS(filepath.Join("..", ".."))
	for _, top := range []string{"main.go", "sim", "seed", "handlers"} {
		err := fs.WalkDir(root, top, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "sim/store/undo/") {
				return err
			}
			text, err := fs.ReadFile(root, path)
			for _, line := range slices.Concat(deletes.FindAllString(string(text), -1), undoes.FindAllString(string(text), -1)) {
				if found[path]++; allowed[path] == nil || !allowed[path].MatchString(line) {
					t.Errorf("%s removes rows of blocks, which Rewind alone does: %s", path, line)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found["sim/store/rewind.go"] == 0 || found["sim/store/state.go"] != 5 {
		t.Errorf("the sources delete rows of blocks in %v", found)
	}
}
