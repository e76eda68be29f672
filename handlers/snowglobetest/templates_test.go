package snowglobetest

import "testing"

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
	_ = used.release() // nothing was made of it
	templates.Lock()
	defer templates.Unlock()
	if len(templates.all) > mostTemplates || templates.all[len(templates.all)-1] != used {
		t.Errorf("%d templates are kept", len(templates.all))
	}
	templates.all = nil
}
