package seed_test

import (
	"testing"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed"
)

// FuzzProfile reads profiles. An accepted profile is within bounds, and survives writing and reading.
func FuzzProfile(f *testing.F) {
	for _, name := range seed.BuiltInProfiles() {
		raw, err := fixtures.Profiles.ReadFile("profiles/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte("name: x\ndays: 9\nchains: 2\ntransactions: 500\n"))
	f.Add([]byte("name: &a [*a]"))
	f.Add([]byte("name: x\nplay:\n- from: alice\n  to: bob\n  method: f\n  args: &a [*a]\n"))
	f.Add([]byte(worldfile.Example))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := seed.ParseProfile("p.yaml", raw)
		if err != nil {
			return
		}
		text, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := seed.ParseProfile("p.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q became %q: %v", raw, text, err)
		}
		if same, err := again.YAML(); err != nil || same != text {
			t.Errorf("%q became %q, and that %q: %v", raw, text, same, err)
		}
	})
}
