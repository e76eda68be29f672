// Package textlog writes the log for a person who reads along: one line per event, and for a request its method, path and query, its
// JSON-RPC calls, status, duration and the reason for a rejection.
package textlog

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Request is the message of a request's line, whose attributes have these names.
const (
	Request   = "request"
	Method    = "method"
	Path      = "path"
	Query     = "query"
	Interface = "interface"
	Operation = "operation"
	Calls     = "calls" // texts
	Status    = "status"
	Took      = "took_ms"
	Cause     = "cause"
	Fault     = "fault"
	World     = "world"
)

const clockTime = "15:04:05.000"

// Handler writes the lines of requests; a slog.TextHandler writes all others.
type Handler struct {
	slog.Handler
	w     io.Writer
	color bool
}

// New makes a handler for events from a level on, optionally in colour.
func New(w io.Writer, level slog.Level, color bool) *Handler {
	w = &lockedWriter{w: w}
	return &Handler{slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			a.Value = slog.StringValue(a.Value.Time().Format(clockTime))
		}
		return a
	}}), w, color}
}

// lockedWriter writes one line at a time.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// Color reports whether to write in colour: to a terminal, unless the environment has NO_COLOR (https://no-color.org).
func Color(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// WithAttrs returns a handler that adds these attributes to its events.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.Handler.WithAttrs(attrs), h.w, h.color}
}

// WithGroup returns a handler that prefixes attributes with a name.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.Handler.WithGroup(name), h.w, h.color}
}

// The colours of a terminal.
const (
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// Handle writes a line.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != Request {
		return h.Handler.Handle(ctx, r)
	}
	words := make(map[string]string, r.NumAttrs())
	var took float64
	var calls []string
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case Took:
			took = a.Value.Float64()
		case Calls:
			calls, _ = a.Value.Any().([]string)
		default:
			words[a.Key] = a.Value.String()
		}
		return true
	})
	l := line{color: h.color}
	l.add(dim, r.Time.Format(clockTime))
	l.add(bold, words[Method])
	target := words[Path]
	if q := words[Query]; q != "" {
		target += "?" + q
	}
	l.add("", target)
	switch {
	case calls != nil:
		l.add(cyan, words[Operation]+"["+strings.Join(calls, ", ")+"]")
	case words[Interface] == "node":
		l.add(cyan, words[Operation])
	}
	color := colorOf(words[Status], words[Cause])
	l.add(color, words[Status])
	l.add(dim, duration(took))
	l.add(color, words[Cause])
	if fault := words[Fault]; fault != "" {
		l.add(yellow, "fault: "+fault)
	}
	_, err := h.w.Write(append(l.text, '\n'))
	return err
}

type line struct {
	text  []byte
	color bool
}

// add writes a word in a colour, without characters that would move a terminal's cursor.
func (l *line) add(color, word string) {
	if word == "" {
		return
	}
	if len(l.text) > 0 {
		l.text = append(l.text, ' ')
	}
	colored := l.color && color != ""
	if colored {
		l.text = append(append(append(l.text, "\x1b["...), color...), 'm')
	}
	if strings.ContainsFunc(word, movesCursor) {
		l.text = strconv.AppendQuote(l.text, word)
	} else {
		l.text = append(l.text, word...)
	}
	if colored {
		l.text = append(l.text, "\x1b[0m"...)
	}
}

func movesCursor(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

func colorOf(status, cause string) string {
	switch {
	case status >= "5" || status == "0":
		return red
	case status >= "4" || cause != "":
		return yellow
	case status >= "3":
		return cyan
	}
	return green
}

// duration formats milliseconds for people.
func duration(milliseconds float64) string {
	if milliseconds < 100 {
		return strconv.FormatFloat(milliseconds, 'f', 1, 64) + "ms"
	}
	return time.Duration(milliseconds * float64(time.Millisecond)).Round(time.Millisecond).String()
}
