// Package textlog writes the log for a person who reads along: one line an event, and for a request its method, path and query, the
// calls of JSON-RPC in it, status, duration and why it was refused.
package textlog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Request is the message of the line about a request, whose attributes have these names.
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

// Handler is a slog.Handler.
type Handler struct {
	w     io.Writer
	mu    *sync.Mutex
	level slog.Level
	color bool
	attrs []slog.Attr
	group string
}

// New writes events from a level on, in colour if that is wanted.
func New(w io.Writer, level slog.Level, color bool) *Handler {
	return &Handler{w: w, mu: new(sync.Mutex), level: level, color: color}
}

// Color says whether to write in colour: to a terminal, unless the environment has NO_COLOR (https://no-color.org).
func Color(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Enabled says whether a level is written.
func (h *Handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// WithAttrs is a handler whose events have these attributes too.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(c.attrs[:len(c.attrs):len(c.attrs)], c.named(attrs)...)
	return &c
}

// WithGroup puts a name before those of attributes.
func (h *Handler) WithGroup(name string) slog.Handler {
	c := *h
	c.group += name + "."
	return &c
}

func (h *Handler) named(attrs []slog.Attr) []slog.Attr {
	if h.group == "" {
		return attrs
	}
	named := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		named[i] = slog.Attr{Key: h.group + a.Key, Value: a.Value}
	}
	return named
}

// Handle writes a line.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	attrs := h.attrs[:len(h.attrs):len(h.attrs)]
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, slog.Attr{Key: h.group + a.Key, Value: a.Value})
		return true
	})
	l := line{color: h.color}
	l.add(dim, r.Time.Format("15:04:05.000"))
	if r.Message == Request {
		l.request(attrs)
	} else {
		l.event(r.Level, r.Message, attrs)
	}
	l.b = append(l.b, '\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.w.Write(l.b)
	return err
}

// The colours of a terminal.
const (
	none   = ""
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

type line struct {
	b     []byte
	color bool
}

// add writes a word, without what would move a terminal's cursor.
func (l *line) add(color, text string) {
	if text == "" {
		return
	}
	if len(l.b) > 0 {
		l.b = append(l.b, ' ')
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		text = strconv.Quote(text)
	}
	if !l.color || color == none {
		l.b = append(l.b, text...)
		return
	}
	l.b = append(append(append(append(l.b, "\x1b["+color+"m"...), text...), "\x1b[0m"...), ""...)
}

func (l *line) event(level slog.Level, message string, attrs []slog.Attr) {
	color := none
	switch {
	case level >= slog.LevelError:
		color = red
	case level >= slog.LevelWarn:
		color = yellow
	}
	l.add(color, level.String())
	l.add(none, message)
	for _, a := range attrs {
		text := a.Value.String()
		if strings.ContainsAny(text, " \"=") || text == "" {
			text = strconv.Quote(text)
		}
		l.add(dim, a.Key+"="+text)
	}
}

// request writes the line of a request.
func (l *line) request(attrs []slog.Attr) {
	value := map[string]slog.Value{}
	for _, a := range attrs {
		value[a.Key] = a.Value
	}
	text := func(name string) string {
		if v, given := value[name]; given {
			return v.String()
		}
		return ""
	}
	target := text(Path)
	if q := text(Query); q != "" {
		target += "?" + q
	}
	l.add(bold, text(Method))
	l.add(none, target)
	if calls, ok := value[Calls].Any().([]string); ok {
		l.add(cyan, text(Operation)+"["+strings.Join(calls, ", ")+"]")
	} else if text(Interface) == "node" {
		l.add(cyan, text(Operation))
	}
	status, cause := text(Status), text(Cause)
	l.add(colorOf(status, cause), status)
	if took, err := strconv.ParseFloat(text(Took), 64); err == nil {
		l.add(dim, duration(took))
	}
	l.add(colorOf(status, cause), cause)
	if fault := text(Fault); fault != "" {
		l.add(yellow, "fault: "+fault)
	}
}

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

// duration writes milliseconds as a person reads them.
func duration(milliseconds float64) string {
	if milliseconds < 100 {
		return fmt.Sprintf("%.1fms", milliseconds)
	}
	return time.Duration(milliseconds * float64(time.Millisecond)).Round(time.Millisecond).String()
}
