package snowglobetest

import (
	"io"
	"testing"
)

// TestTemplatesAreFreed: the least recently used one is freed, but none while it is being copied.
func TestTemplatesAreFreed(t *testing.T) {
	shapes := []string{"a", "b", "c", "d", "e"}
	used := useTemplate("a")
	for _, shape := range shapes[1:] {
		if err := useTemplate(shape).release(); err != nil {
			t.Fatal(err)
		}
	}
	if useTemplate("a") != used {
		t.Error("a template that is being copied is gone")
	}
	if err := used.release(); err != nil {
		t.Fatal(err)
	}
	_ = used.release() // nothing was copied from it
	templates.Lock()
	defer templates.Unlock()
	if len(templates.all) > mostTemplates || templates.all[len(templates.all)-1] != used {
		t.Errorf("%d templates are kept", len(templates.all))
	}
	templates.all = nil
}

// TestTemplatesDifferByUpgrades: a test that chooses when upgrades activate gets no copy of a world of another choice.
func TestTemplatesDifferByUpgrades(t *testing.T) {
	digests := map[string]string{}
	for _, choice := range []string{"helicon=never", "helicon=now"} {
		s, err := read([]Option{Flags("--upgrade", choice)}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.open(t)
		if err != nil {
			t.Fatal(err)
		}
		digests[string(w.Digest())] = choice
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(digests) != 2 {
		t.Errorf("both worlds have the digest of %v", digests)
	}
}
