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
	begun := time.Now()
	next, shown := begun.Add(quiet), false
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if now.Before(next) && (!shown || done < total) {
			return
		}
		next, shown = now.Add(refresh), true
		fmt.Fprintf(w, "\r%s: %d of %d %s (%d %%)%s\x1b[K", what, done, total, unit, 100*done/max(total, 1), pace(done, total, now.Sub(begun)))
		if done >= total {
			fmt.Fprintln(w)
		}
	}
}

// pace is how many are done in a second, and how long the rest takes at that rate.
func pace(done, total int, since time.Duration) string {
	if done == 0 || since <= 0 {
		return ""
	}
	text := fmt.Sprintf(", %.0f/s", float64(done)/since.Seconds())
	if done < total {
		left := time.Duration(float64(since) / float64(done) * float64(total-done))
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}
