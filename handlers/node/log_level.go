package node

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"snowglobe/sim"
)

// LogLevel is the level from which a logger lets events through.
type LogLevel string

// levels lists the levels of avalanchego's utils/logging, each with its lower bound on slog's scale.
var levels = map[LogLevel]slog.Level{
	"OFF": math.MaxInt, "FATAL": 12, "ERROR": slog.LevelError, "WARN": slog.LevelWarn, "INFO": slog.LevelInfo,
	"TRACE": -2, "DEBUG": slog.LevelDebug, "VERBO": -8,
}

var errLevel = errors.New("unknown log level")

// UnmarshalJSON reads a level in any case.
func (l *LogLevel) UnmarshalJSON(data []byte) error {
	var text string
	if err := stdjson.Unmarshal(data, &text); err != nil {
		return err
	}
	*l = LogLevel(strings.ToUpper(text))
	if _, known := levels[*l]; !known {
		return fmt.Errorf("%w: %q", errLevel, text)
	}
	return nil
}

// LogAndDisplayLevels holds a logger's two levels. The program writes one log, so it writes an event that either level lets through.
type LogAndDisplayLevels struct {
	LogLevel     LogLevel `json:"logLevel"`
	DisplayLevel LogLevel `json:"displayLevel"`
}

// Loggers holds the loggers of one network's node by name: main, vm-factory, P, X, C, and one for each L1.
type Loggers struct {
	names []string
	all   map[string]*logger
}

type logger struct {
	*slog.Logger
	levels atomic.Pointer[LogAndDisplayLevels]

	mu     sync.Mutex
	before *LogAndDisplayLevels // the log of requests was turned off
}

// NewLoggers makes the loggers of a network's node, which write to log and start at its level.
func NewLoggers(n *sim.Network, log *slog.Logger) *Loggers {
	g := &Loggers{names: append([]string{"main", "vm-factory"}, n.Aliases.Chains()...), all: map[string]*logger{}}
	begin := LogAndDisplayLevels{"INFO", "OFF"}
	if !log.Enabled(context.Background(), slog.LevelInfo) {
		begin.LogLevel = "ERROR"
	}
	for _, name := range g.names {
		one := &logger{}
		one.levels.Store(&begin)
		one.Logger = slog.New(levelHandler{log.Handler(), one}).With("logger", name)
		g.all[name] = one
	}
	return g
}

// Main returns the logger for everything that concerns no chain.
func (g *Loggers) Main() *slog.Logger { return g.all["main"].Logger }

// named returns a chain's logger, or main.
func (g *Loggers) named(name string) *slog.Logger {
	if one := g.all[name]; one != nil {
		return one.Logger
	}
	return g.Main()
}

// choose returns the names that a request means: one, or all if it names none.
func (g *Loggers) choose(name string) ([]string, error) {
	if name == "" {
		return g.names, nil
	}
	if !slices.Contains(g.names, name) {
		return nil, fmt.Errorf("logger with name %q not found", name)
	}
	return []string{name}, nil
}

// levelHandler applies a logger's current levels, whatever level the handler behind it has.
type levelHandler struct {
	slog.Handler
	logger *logger
}

func (h levelHandler) Enabled(_ context.Context, at slog.Level) bool {
	pair := h.logger.levels.Load()
	return at >= min(levels[pair.LogLevel], levels[pair.DisplayLevel])
}

func (h levelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(attrs), h.logger}
}

func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.logger}
}

// setRequests turns a logger's log of requests on, at the levels that it had, or off, which leaves warnings and errors.
func (l *logger) setRequests(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := l.levels.Load(); {
	case on && l.before != nil:
		l.levels.Store(l.before)
		l.before = nil
	case !on && l.before == nil:
		l.before = now
		l.levels.Store(&LogAndDisplayLevels{now.LogLevel.warn(), now.DisplayLevel.warn()})
	}
}

// warn returns the level, or WARN if the level lets more through.
func (l LogLevel) warn() LogLevel {
	if levels[l] < levels["WARN"] {
		return "WARN"
	}
	return l
}
