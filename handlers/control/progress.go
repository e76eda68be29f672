package control

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	quiet    = time.Second            // work that ends sooner shows no progress
	refresh  = 150 * time.Millisecond // between two updates of the bar
	lines    = 10 * time.Second       // between two lines without a terminal
	barWidth = 24
)

// Progress shows the progress of long work: on a terminal a bar with the rate and the time left, in a file a line every ten seconds.
// Several goroutines may call the function that it returns; it returns nil if nobody reads the output.
func Progress(w io.Writer, what, unit string) func(done, total int) {
	file, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return (&progress{w: w, what: what, unit: unit, terminal: info.Mode()&os.ModeCharDevice != 0, now: time.Now, begun: time.Now()}).show
}

// progress is work whose progress is shown.
type progress struct {
	w          io.Writer
	what, unit string
	terminal   bool
	now        func() time.Time
	begun      time.Time

	mu    sync.Mutex
	shown time.Time
}

func (p *progress) show(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, pause := p.now(), lines
	if p.terminal {
		if pause = refresh; p.shown.IsZero() {
			pause = quiet
		}
	}
	since := p.shown
	if since.IsZero() {
		since = p.begun
	}
	ended := done >= total && !p.shown.IsZero() && p.terminal
	if now.Sub(since) < pause && !ended {
		return
	}
	p.shown = now
	took := now.Sub(p.begun)
	rate := float64(done) / max(took.Seconds(), 0.001)
	left := "ready"
	if done < total && rate > 0 {
		left = (time.Duration(float64(total-done)/rate) * time.Second).String() + " left"
	}
	state := fmt.Sprintf("%s: %d of %d %s, %d %%, %.0f/s, %s", p.what, done, total, p.unit, 100*done/max(total, 1), rate, left)
	if !p.terminal {
		fmt.Fprintln(p.w, state)
		return
	}
	full := barWidth * min(done, total) / max(total, 1)
	bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	end := ""
	if done >= total {
		end = "\n"
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s %s%s", bar, state, end)
}
