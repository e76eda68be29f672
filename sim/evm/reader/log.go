package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/store"
)

// Bounds of one search for logs. A node has only MaxAddresses and MaxTopics (coreth eth/filters, maxAddresses and maxTopics); the others
// leave room for a search over a whole chain of a usual world, and keep a request from filling the memory.
const (
	MaxAddresses   = 1_000
	MaxTopics      = 4
	MaxLogs        = 50_000   // logs in one answer
	maxLogBytes    = 32 << 20 // bytes of their data
	maxLogsScanned = 1 << 20  // logs examined
	maxChoices     = 1_000    // topics of a filter, at all positions together
	logPage        = 2_048
)

var (
	// ErrAddresses means that a filter names more than MaxAddresses addresses.
	ErrAddresses = errors.New("exceed max addresses")

	errTopics  = errors.New("exceed max topics")
	errChoices = fmt.Errorf("query names more than %d topics", maxChoices)
)

// LogFilter chooses logs: by any of the addresses (all when there are none) and, position by position, by any of the
// topics (all where there are none).
type LogFilter struct {
	Addresses []common.Address
	Topics    [][]common.Hash
}

// Matches reports whether the filter selects a log with this address and these topics.
func (f *LogFilter) Matches(address common.Address, topics []common.Hash) bool {
	return (len(f.Addresses) == 0 || slices.Contains(f.Addresses, address)) && f.matchesTopics(topics)
}

func (f *LogFilter) matchesTopics(topics []common.Hash) bool {
	if len(f.Topics) > len(topics) {
		return false
	}
	for i, choices := range f.Topics {
		if len(choices) > 0 && !slices.Contains(choices, topics[i]) {
			return false
		}
	}
	return true
}

// Check validates the filter itself.
func (f *LogFilter) Check() error {
	if len(f.Topics) > MaxTopics {
		return errTopics
	}
	if len(f.Addresses) > MaxAddresses {
		return ErrAddresses
	}
	return nil
}

// Bounded refuses a filter with more topics, at all positions together, than each log can be compared with.
func (f *LogFilter) Bounded() error {
	count := 0
	for _, topics := range f.Topics {
		if count += len(topics); count > maxChoices {
			return errChoices
		}
	}
	return nil
}

// EachLog visits the logs that a filter selects in the blocks from first to last, both included: all of one address in order, or of one
// first topic, then those of the next. The log is reused; copy it, topics included, to keep it.
func (l *Ledger) EachLog(ctx context.Context, f *LogFilter, first, last uint64, each func(store.Position, *types.Log)) error {
	if err := f.Bounded(); err != nil || len(f.Topics) > MaxTopics { // no log has more topics
		return err
	}
	s := &logSearch{filter: f, last: store.At(l.Row.ID, min(last, store.MaxNumber), store.MaxIndex), each: each}
	for _, source := range l.sources(f) {
		if err := s.run(ctx, source, store.At(l.Row.ID, min(first, store.MaxNumber), 0)); err != nil {
			return err
		}
	}
	return nil
}

// LogsAt returns the logs at places, in order.
func (l *Ledger) LogsAt(ctx context.Context, at []store.Position) ([]*types.Log, error) {
	rows, err := l.db.LogViewsAt(ctx, at)
	if err != nil {
		return nil, err
	}
	logs := make([]*types.Log, len(rows))
	for i := range rows {
		logs[i] = logOf(&rows[i])
	}
	return logs, nil
}

// logSource reads a page of logs from one index.
type logSource func(ctx context.Context, first, last store.Position, limit int, visit func(*store.LogView)) error

// sources returns the index ranges that together cover every log of the filter exactly once.
func (l *Ledger) sources(f *LogFilter) []logSource {
	switch {
	case len(f.Addresses) > 0:
		return sourcesOf(f.Addresses, common.Address.Bytes, l.db.EachLogViewOfAddress)
	case len(f.Topics) > 0 && len(f.Topics[0]) > 0:
		return sourcesOf(f.Topics[0], common.Hash.Bytes, l.db.EachLogViewOfTopic)
	default:
		return []logSource{l.db.EachLogView}
	}
}

func sourcesOf[T comparable](keys []T, raw func(T) []byte,
	read func(context.Context, []byte, store.Position, store.Position, int, func(*store.LogView)) error) []logSource {
	var all []logSource
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue
		}
		all = append(all, func(ctx context.Context, first, last store.Position, limit int, visit func(*store.LogView)) error {
			return read(ctx, raw(key), first, last, limit, visit)
		})
	}
	return all
}

// logSearch finds the logs of several sources within the bounds.
type logSearch struct {
	filter  *LogFilter
	last    store.Position
	each    func(store.Position, *types.Log)
	found   int
	bytes   int
	scanned int
	log     types.Log // the log under examination
}

func (s *logSearch) run(ctx context.Context, read logSource, next store.Position) error {
	for {
		count, problem := 0, error(nil)
		err := read(ctx, next, s.last, logPage, func(row *store.LogView) {
			if count++; problem == nil {
				problem = s.add(row)
			}
			next = row.ID + 1
		})
		if err = cmp.Or(err, problem); err != nil || count < logPage {
			return err
		}
	}
}

func (s *logSearch) add(row *store.LogView) error {
	if s.scanned++; s.scanned > maxLogsScanned {
		return fmt.Errorf("query looks at more than %d logs; narrow the block range", maxLogsScanned)
	}
	log := &s.log
	fillLog(log, row)
	if !s.filter.Matches(log.Address, log.Topics) {
		return nil
	}
	s.found++
	s.bytes += len(log.Data)
	if s.found > MaxLogs {
		return fmt.Errorf("query returned more than %d results; narrow the block range", MaxLogs)
	}
	if s.bytes > maxLogBytes {
		return fmt.Errorf("query returned more than %d bytes of log data; narrow the block range", maxLogBytes)
	}
	s.each(row.ID, log)
	return nil
}

// logOf converts a row to a log with its place in the chain.
func logOf(e *store.LogView) *types.Log {
	log := new(types.Log)
	fillLog(log, e)
	return log
}

// fillLog is logOf into a reused variable and its topics.
func fillLog(log *types.Log, e *store.LogView) {
	*log = types.Log{
		Address: common.BytesToAddress(e.Address), Topics: appendTopics(log.Topics[:0], &e.Log), Data: e.Data,
		BlockNumber: e.ID.Number(), BlockHash: common.BytesToHash(e.BlockHash),
		TxHash: common.BytesToHash(e.TxHash), TxIndex: uint(e.Tx), Index: uint(e.ID.Index()),
	}
}

func appendTopics(topics []common.Hash, row *store.Log) []common.Hash {
	if topics = slices.Grow(topics, 1+len(row.Topics)/common.HashLength); len(row.Topic) == 0 {
		return topics
	}
	topics = append(topics, common.BytesToHash(row.Topic))
	for rest := row.Topics; len(rest) >= common.HashLength; rest = rest[common.HashLength:] {
		topics = append(topics, common.BytesToHash(rest[:common.HashLength]))
	}
	return topics
}
