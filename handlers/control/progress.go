package control

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	patience = time.Second            // work that is done sooner says nothing
	refresh  = 150 * time.Millisecond // between two sights of the progress
)

// Progress shows on a terminal how far a long piece of work has come; elsewhere it is silent. The function that it
// answers may be called at the same time from anywhere.
func Progress(w io.Writer, what, unit string) func(done, total int) {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	var mu sync.Mutex
	next, shown := time.Now().Add(patience), false
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if now.Before(next) && (!shown || done < total) {
			return
		}
		next, shown = now.Add(refresh), true
		fmt.Fprintf(w, "\r%s: %d of %d %s (%d %%)", what, done, total, unit, 100*done/max(total, 1))
		if done >= total {
			fmt.Fprintln(w)
		}
	}
}
