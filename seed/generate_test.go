package seed

import (
	"context"
	"fmt"
	"testing"
	"time"

	"snowglobe/sim/store"
)

func TestTmp(t *testing.T) {
	for _, name := range []string{"tiny", "default"} {
		p, err := LoadProfile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			t0 := time.Now()
			w, err := Generate(context.Background(), Options{Path: store.Memory, Seed: 1, Profile: p, Until: DefaultUntil})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%s %x %v\n", name, w.Meta.Digest, time.Since(t0))
			t0 = time.Now()
			f, err := w.Verify(context.Background(), nil)
			fmt.Println(f, err, time.Since(t0))
			w.Close()
		}
	}
}
