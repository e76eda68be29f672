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

// Handler is a slog.Handler.
type Handler struct {
	w     io.Writer
	mu    *sync.Mutex
	level slog.Level
	color bool
	attrs []slog.Attr
	group string
}

// New makes a handler for events from a level on, optionally in colour.
func New(w io.Writer, level slog.Level, color bool) *Handler {
	return &Handler{w: w, mu: new(sync.Mutex), level: level, color: color}
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

// Enabled reports whether a level is written.
func (h *Handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// WithAttrs returns a handler that adds these attributes to its events.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(c.attrs[:len(c.attrs):len(c.attrs)], c.named(attrs)...)
	return &c
}

// WithGroup returns a handler that prefixes attributes with a name.
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

// lines pools line buffers: allocating each anew would take a tenth of a busy server's time here.
var lines = sync.Pool{New: func() any { return new(line) }}

// keptLine is the size above which a line is not reused.
const keptLine = 4 << 10

// Handle writes a line.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	l := lines.Get().(*line)
	defer l.release()
	l.color, l.attrs = h.color, append(l.attrs, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		if h.group != "" {
			a.Key = h.group + a.Key
		}
		l.attrs = append(l.attrs, a)
		return true
	})
	l.begin(dim)
	l.b = r.Time.AppendFormat(l.b, "15:04:05.000")
	l.end(dim)
	if r.Message == Request {
		l.request()
	} else {
		l.event(r.Level, r.Message)
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
	attrs []slog.Attr
	color bool
}

func (l *line) release() {
	if cap(l.b) > keptLine {
		return
	}
	clear(l.attrs)
	l.b, l.attrs = l.b[:0], l.attrs[:0]
	lines.Put(l)
}

// begin writes a space before a word and starts its colour.
func (l *line) begin(color string) {
	if len(l.b) > 0 {
		l.b = append(l.b, ' ')
	}
	if l.color && color != none {
		l.b = append(append(append(l.b, "\x1b["...), color...), 'm')
	}
}

func (l *line) end(color string) {
	if l.color && color != none {
		l.b = append(l.b, "\x1b[0m"...)
	}
}

// add writes a word without characters that would move a terminal's cursor.
func (l *line) add(color, text string) {
	if text == "" {
		return
	}
	l.begin(color)
	if moves(text) {
		l.b = strconv.AppendQuote(l.b, text)
	} else {
		l.b = append(l.b, text...)
	}
	l.end(color)
}

// moves reports whether a text has characters that a terminal acts on.
func moves(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}

func (l *line) event(level slog.Level, message string) {
	color := none
	switch {
	case level >= slog.LevelError:
		color = red
	case level >= slog.LevelWarn:
		color = yellow
	}
	l.add(color, level.String())
	l.add(none, message)
	for _, a := range l.attrs {
		text := a.Value.String()
		if strings.ContainsAny(text, " \"=") || text == "" {
			text = strconv.Quote(text)
		}
		l.add(dim, a.Key+"="+text)
	}
}

// value returns the value of an attribute, the last with its name.
func (l *line) value(name string) (v slog.Value, given bool) {
	for i := len(l.attrs) - 1; i >= 0; i-- {
		if l.attrs[i].Key == name {
			return l.attrs[i].Value, true
		}
	}
	return v, false
}

func (l *line) text(name string) string {
	if v, given := l.value(name); given {
		return v.String()
	}
	return ""
}

// request writes the line of a request.
func (l *line) request() {
	target := l.text(Path)
	if q := l.text(Query); q != "" {
		target += "?" + q
	}
	l.add(bold, l.text(Method))
	l.add(none, target)
	calls, _ := l.value(Calls)
	if calls, ok := calls.Any().([]string); ok {
		l.add(cyan, l.text(Operation)+"["+strings.Join(calls, ", ")+"]")
	} else if l.text(Interface) == "node" {
		l.add(cyan, l.text(Operation))
	}
	status, cause := l.text(Status), l.text(Cause)
	l.add(colorOf(status, cause), status)
	if took, given := l.value(Took); given && took.Kind() == slog.KindFloat64 {
		l.begin(dim)
		l.b = appendDuration(l.b, took.Float64())
		l.end(dim)
	}
	l.add(colorOf(status, cause), cause)
	if fault := l.text(Fault); fault != "" {
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

// appendDuration formats milliseconds for people.
func appendDuration(b []byte, milliseconds float64) []byte {
	if milliseconds < 100 {
		return append(strconv.AppendFloat(b, milliseconds, 'f', 1, 64), "ms"...)
	}
	return append(b, time.Duration(milliseconds*float64(time.Millisecond)).Round(time.Millisecond).String()...)
}
