package verify_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// TestInspectNoticesDamage inspects an intact file, and files in which one statement has changed something.
func TestInspectNoticesDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	if err := seedtest.Shared(t, "tiny", 1).DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ damage, where string }{
		{"", ""},
		{"UPDATE tx SET raw = CAST(raw || x'00' AS BLOB) WHERE id = (SELECT max(id) FROM tx)", "chain "},
		{"UPDATE tx SET gas_used = gas_used + 1 WHERE id = (SELECT max(id) FROM tx)", "its gas does not add up"},
		{"UPDATE log SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM log WHERE length(data) > 0)", "its receipts and logs do not match their hash"},
		{"UPDATE call SET gas = gas + 1 WHERE id = (SELECT max(id) FROM call)", "its digest does not match its rows"},
		{"UPDATE primary_block SET gas_excess = gas_excess + 1 WHERE id = (SELECT max(id) FROM primary_block)", "its digest does not match its row"},
		{"UPDATE slot SET value = x'77'", "the slots of 0x"},
		{"PRAGMA ignore_check_constraints = ON; UPDATE deployment SET sender = x'77'", "table deployment, row with id "},
		{"UPDATE persona SET name = 'nobody in particular' WHERE name = 'alice'", "digest"},
		{"UPDATE trie_part SET hash = zeroblob(32)", "parts of the trie of 0x"},
		{"UPDATE trie_part SET keys = t.keys FROM trie_part t WHERE t.prefix <> trie_part.prefix AND length(t.keys) = length(trie_part.keys)", "parts of the trie of 0x"},
		{"UPDATE trie_part SET balances = substr(balances, 1, length(balances) - 1) WHERE length(balances) > 1", "malformed balances of a trie part"},
		{"UPDATE trie_part SET balances = t.balances FROM trie_part t WHERE length(t.owner) = 0 AND length(trie_part.owner) = 0 AND length(t.keys) = length(trie_part.keys) AND t.balances <> trie_part.balances", "the balance of 0x"},
	} {
		t.Run(c.where, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "copy.db")
			if err := os.WriteFile(path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(c.damage)
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			w, err := sim.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			err = verify.Inspect(t.Context(), w, nil)
			var damage *store.DamageError
			if c.damage == "" && err != nil || c.damage != "" && (!errors.As(err, &damage) || !strings.Contains(err.Error(), c.where)) {
				t.Errorf("%v, want %q", err, c.where)
			}
		})
	}
}
