package store

import (
	"context"
	"strings"
)

// listSizes are the lengths of IN lists: few, so that few statements are prepared.
var listSizes = []int{1, 8, 64, 512}

// inList is a list of parameters for IN with room for n values, and how many it has; what is left over repeats a value.
func inList(n int) (text string, size int) {
	size = n
	for _, s := range listSizes {
		if n <= s {
			size = s
			break
		}
	}
	return "(?" + strings.Repeat(", ?", size-1) + ")", size
}

// listArgs are the values of such a list.
func listArgs[T any](values []T, size int) []any {
	args := make([]any, size)
	for i := range args {
		args[i] = values[min(i, len(values)-1)]
	}
	return args
}

// LogsAt reads the logs at positions, in no order.
func (db *DB) LogsAt(ctx context.Context, at []Position) ([]Log, error) {
	if len(at) == 0 {
		return nil, nil
	}
	in, size := inList(len(at))
	return list[Log](ctx, db, `SELECT `+logColumns+` FROM log WHERE id IN `+in, listArgs(at, size)...)
}

// MessageEventsOf lists the events of messages by message id, each in the order of chains and blocks.
func (db *DB) MessageEventsOf(ctx context.Context, hashes [][]byte) (map[string][]MessageEvent, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	in, size := inList(len(hashes))
	rows, err := list[MessageEvent](ctx, db, `SELECT `+messageEventColumns+` FROM message_event WHERE hash IN `+in+` ORDER BY hash, id`,
		listArgs(hashes, size)...)
	events := map[string][]MessageEvent{}
	for _, e := range rows {
		events[string(e.Hash)] = append(events[string(e.Hash)], e)
	}
	return events, err
}
