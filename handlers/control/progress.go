package control

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	quiet   = time.Second            // progress of work that ends sooner is not shown
	refresh = 150 * time.Millisecond // between two lines of progress
)

// Progress shows on a terminal how far a long piece of work is; without a terminal it is nil. The function that it returns may be
// called from several goroutines.
func Progress(w io.Writer, what, unit string) func(done, total int) {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	var mu sync.Mutex
	next, shown := time.Now().Add(quiet), false
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
