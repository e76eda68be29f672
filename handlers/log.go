package handlers

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

// NewLogger writes a log as text or as JSON, one line an event; a quiet one holds failures only.
func NewLogger(w io.Writer, format string, quiet bool) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if quiet {
		o.Level = slog.LevelError
	}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("log format %q is not one of text, json", format)
}

// Named tells which operation a mounted handler took a request for: the access log and the counters then know it by that
// name. Names must come from a list, never from the client.
func Named(ctx context.Context, operation string) {
	if x, ok := ctx.Value(contextKey{}).(*exchange); ok {
		x.mounted = operation
	}
}

// LogThrough has a request noted by a logger other than the server's.
func LogThrough(ctx context.Context, log *slog.Logger) {
	if x, ok := ctx.Value(contextKey{}).(*exchange); ok {
		x.logger = log
	}
}

// LoggerOf is the logger that notes a request.
func LoggerOf(ctx context.Context) *slog.Logger {
	if x, ok := ctx.Value(contextKey{}).(*exchange); ok {
		return x.logger
	}
	return slog.New(slog.DiscardHandler)
}

// observe counts an answered request. A handler that wrote nothing has answered 200.
func (x *exchange) observe() {
	if x.server.opts.Observe == nil {
		return
	}
	if x.status == 0 {
		x.status = http.StatusOK
	}
	x.server.opts.Observe(x.operation(), x.status, x.server.opts.Now().Sub(x.start))
}
