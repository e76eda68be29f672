package handlers

import (
	"fmt"
	"io"
	"log/slog"
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
