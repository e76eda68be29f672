package rest

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

// NameOperation tells which operation a mounted handler took a request for: the access log and the counters then know it by that
// name. Names must come from a list, never from the client.
func NameOperation(ctx context.Context, operation string) {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		c.mounted = operation
	}
}

// SetLogger has a request noted by a logger other than the server's.
func SetLogger(ctx context.Context, log *slog.Logger) {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		c.logger = log
	}
}

// Logger is the logger that notes a request.
func Logger(ctx context.Context) *slog.Logger {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		return c.logger
	}
	return slog.New(slog.DiscardHandler)
}

// observe counts an answered request. A handler that wrote nothing has answered 200.
func (c *requestContext) observe() {
	if c.server.opts.Observe == nil {
		return
	}
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.server.opts.Observe(c.operation(), c.status, c.server.opts.Now().Sub(c.start))
}
