package primary_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

var update = flag.Bool("update", false, "write testdata/rows.txt instead of comparing with it")

func generate(t *testing.T) *sim.World {
	t.Helper()
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	t.Cleanup(func() { w.Close() })
	return w
}

// TestRowsAndBack accepts the blocks of a generated world again. The rows must be those of testdata/rows.txt, which changes with the generator as
// testdata/digests.txt does; and a network that is restored from the rows, after whichever block, must be the one that
// accepted the blocks.
func TestRowsAndBack(t *testing.T) {
	w := generate(t)
	rows, err := w.DB.PrimaryNetworks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for i, row := range rows {
		file, err := store.Create(store.Memory)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		batch, err := file.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := batch.End(batch.AddPrimaryNetwork(row)); err != nil {
			t.Fatal(err)
		}
		tables := map[string][]any{}
		var last *primary.Network
		blocks := 0
		err = primary.ReplayStrictly(t.Context(), w.DB, row, i+1, func(n *primary.Network, d *store.PrimaryDelta) error {
			last = n
			batch, err := file.Begin()
			if err != nil {
				return err
			}
			if err := batch.End(batch.AddPrimaryBlock(d)); err != nil {
				return err
			}
			for v, at := reflect.ValueOf(d).Elem(), 0; at < v.NumField(); at++ {
				name := v.Type().Field(at).Name
				tables[name] = append(tables[name], v.Field(at).Interface())
			}
			// Block 0 of each chain comes first. Trying all other blocks would take too long.
			if blocks++; blocks < 3 || blocks%25 > 0 && len(d.L1Validators)+len(d.Blockchains) == 0 && !n.Undecided() {
				return nil
			}
			return restores(t, n, file)
		})
		if err == nil {
			err = restores(t, last, file)
		}
		if err != nil {
			t.Errorf("network %d: %v", row.ID, err)
		}
		for name, all := range tables {
			text, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, fmt.Sprintf("%s %s %x\n", w.Networks[i].Rules.Name, name, sha256.Sum256(text)))
		}
	}
	slices.Sort(sums)
	compare(t, "testdata/rows.txt", sums)
}

// restores compares a network with one restored from the rows that its blocks added to a file.
func restores(t *testing.T, n *primary.Network, file *store.DB) error {
	t.Helper()
	restored, err := primary.Restore(t.Context(), file, n.Rules.NetworkID)
	if n.Undecided() {
		if !errors.Is(err, primary.ErrUndecided) {
			return fmt.Errorf("a proposal is restored: %w", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if one, two := dumpNetwork(t, n), dumpNetwork(t, restored); !slices.Equal(one, two) {
		return fmt.Errorf("after block %d of P, of the network that accepted it the restored one lacks %q and has %q", n.P.Height(), missing(one, two), missing(two, one))
	}
	return nil
}

// missing returns the first line that another dump lacks.
func missing(of, from []string) string {
	for _, line := range of {
		if !slices.Contains(from, line) {
			return line
		}
	}
	return ""
}

func compare(t *testing.T, path string, lines []string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(known), line) {
			t.Errorf("%s does not have %s", path, line)
		}
	}
	if want := strings.Count(string(known), "\n"); len(lines) != want {
		t.Errorf("%d lines, %s has %d", len(lines), path, want)
	}
}

// dumpNetwork is dump with the unspent outputs that a restored network leaves in its file.
func dumpNetwork(t *testing.T, n *primary.Network) []string {
	t.Helper()
	outputs := map[string][]string{}
	for chain, all := range map[txs.Chain]iter.Seq2[*txs.UTXO, error]{txs.PChain: n.P.UTXOs(), txs.XChain: n.X.UTXOs()} {
		for u, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			number, err := n.NumberOf(u, chain)
			if err != nil {
				t.Fatal(err)
			}
			outputs[u.InputID().String()] = append(dump(u), fmt.Sprint(number))
		}
	}
	return append(dump(n), dump(outputs)...)
}

// dump prints a value and everything it points to, one line each, in a fixed order. It omits functions, caches, and empty maps and slices.
func dump(v any) (lines []string) {
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Func:
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				switch name := v.Type().Field(i).Name; name {
				case "journal", "diff", "publicKeys", "Strict", "Rules", "Network", "utxos", "stored", "db":
				case "validatorFees":
					if !strings.Contains(path, ".tips[1]") { // the X-Chain has none
						walk(path+"."+name, v.Field(i))
					}
				default:
					walk(path+"."+name, v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				if v.Len() > 0 {
					lines = append(lines, fmt.Sprintf("%s %x", path, v))
				}
				return
			}
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				walk(fmt.Sprintf("%s[%x]", path, fmt.Sprint(key)), v.MapIndex(key))
			}
		default:
			lines = append(lines, fmt.Sprintf("%s %v", path, v))
		}
	}
	walk("", reflect.ValueOf(v))
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, ".C.UTXOState.time ") }) // each block sets it first
	slices.Sort(lines)
	return lines
}
