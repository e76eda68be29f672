package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/data/tokenuri"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

const (
	reindexPause = time.Hour
	maxDocument  = 10 << 20 // bytes of metadata that an indexer reads
	maxReindexed = 4096     // items whose last reindex is remembered
)

// reindexes remembers when items were reindexed, by the wall clock.
type reindexes struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// wait returns how long an item has to wait until its next reindex.
func (x *reindexes) wait(asset store.AssetKey, now time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	last, known := x.last[string(asset)]
	if !known {
		return 0
	}
	return last.Add(reindexPause).Sub(now)
}

func (x *reindexes) did(asset store.AssetKey, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.last == nil || len(x.last) >= maxReindexed {
		x.last = map[string]time.Time{}
	}
	x.last[string(asset)] = now
}

// reindex reads an item's URI from its contract, and then the document there.
func (a *tokenAPI) reindex(r *rest.Request, c *reader.Chain) (any, error) {
	_, t, asset, n, err := a.item(r, c)
	if err != nil {
		return nil, err
	}
	now := a.World.Clock.Unix()
	before, err := a.World.DB.Reindexed(r.Context(), asset)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if wait := a.reindexes.wait(asset, time.Now()); wait > 0 && now-before.Time < int64(reindexPause/time.Second) {
		return nil, rest.TooMany("the server read the token less than an hour ago; wait, or move the world's clock by an hour", int64(wait/time.Second)+1)
	}
	row, err := a.readAgain(r.Context(), c, common.BytesToAddress(t.Token.Address), asset, n)
	if err != nil {
		return nil, err
	}
	row.Time = now
	if err := a.World.Write(r.Context(), func(b *store.Batch) error { return b.PutReindexed(row) }); err != nil {
		return nil, err
	}
	a.reindexes.did(asset, time.Now())
	return rest.Empty{}, nil
}

// readAgain asks the contract for the URI and looks there.
func (a *tokenAPI) readAgain(ctx context.Context, c *reader.Chain, contract common.Address, asset store.AssetKey, n *store.NFT) (*store.Reindexed, error) {
	row := &store.Reindexed{Asset: asset, Status: "MISSING_TOKEN"}
	if n.Owner == nil && asset.Token().Standard() == store.ERC721 {
		return row, nil
	}
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	input := hexutil.Bytes(index.URICall(asset.Token().Standard(), asset.Item()))
	result, err := c.Call(ctx, head, &reader.Call{To: &contract, Input: &input}, reader.Overrides{})
	if err != nil {
		return nil, err
	}
	uri, said := index.ParseText(result.Return())
	if !said {
		return row, nil
	}
	row.URI, row.Status = &uri, "UNKNOWN"
	if uri == "" {
		return row, nil
	}
	var found *tokenuri.Document
	if row.Status, found = a.lookAgain(ctx, expand(uri, asset.Item())); found != nil {
		text, err := data.Marshal(found)
		if err != nil {
			return nil, err
		}
		row.Document = string(text)
	}
	return row, nil
}

// unindexed marks valid metadata that nobody has fetched yet.
const unindexed = "unindexed/"

// lookAgain fetches a URI as an indexer does, including metadata that was never fetched and documents off chain.
func (a *tokenAPI) lookAgain(ctx context.Context, uri string) (status string, d *tokenuri.Document) {
	if strings.HasPrefix(uri, fixtures.MetadataURL+unindexed) {
		return tokenuri.Parse([]byte(`{"name":"Nobody has looked at this yet"}`))
	}
	status, d = tokenuri.Read(uri)
	if status != "UNREACHABLE_TOKEN_URI" || a.Fetch == nil || !strings.HasPrefix(uri, "http") {
		return status, d
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, uri, nil)
	if err != nil {
		return "INVALID_TOKEN_URI", nil
	}
	answer, err := a.Fetch.Do(request)
	if err != nil {
		return status, nil
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusTooManyRequests:
		return "THROTTLED_TOKEN_URI", nil
	case answer.StatusCode != http.StatusOK:
		return status, nil
	}
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	switch {
	case err != nil:
		return status, nil
	case len(content) > maxDocument:
		return "METADATA_CONTENT_TOO_LARGE", nil
	}
	return tokenuri.Parse(content)
}

// reindexed returns the result of a client's reindex, unless the index has seen another URI since.
func (s *tokenView) reindexed(asset store.AssetKey, n *store.NFT) *metadata {
	if s.again == nil {
		return nil
	}
	row, err := s.again.Reindexed(s.Context(), asset)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.Fail(err)
	}
	if err != nil || n.Updated != nil && *n.Updated > row.Time && (n.URI == nil || row.URI == nil || string(*n.URI) != *row.URI) {
		return nil
	}
	m := &metadata{status: row.Status, time: row.Time}
	if row.URI != nil {
		m.uri = expand(*row.URI, asset.Item())
	}
	if row.Document != "" {
		if err := json.Unmarshal([]byte(row.Document), &m.document); err != nil {
			s.Fail(fmt.Errorf("document of a reindexed token: %w", err))
		}
	}
	return m
}
