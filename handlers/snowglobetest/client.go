package snowglobetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers/control"
	"snowglobe/handlers/fault"
)

// patience bounds a request's time, even of one that moves the clock by years.
const patience = 2 * time.Minute

// Client offers the methods of Server for helpers and other goroutines: they return errors instead of failing the test.
type Client struct {
	URL string // of the simulator, or of one of its worlds

	http http.Client
}

func newClient(url string) *Client {
	return &Client{URL: url, http: http.Client{Timeout: patience}}
}

// World describes the world now: its digest, counts, chains, contracts, nodes and sample ids by name, as /sim/world does.
func (c *Client) World(ctx context.Context) (*control.World, error) {
	w := &control.World{}
	return w, c.Ask(ctx, http.MethodGet, "/sim/world", nil, w)
}

// Fund pays an account from the faucet.
func (c *Client) Fund(ctx context.Context, request control.FaucetRequest) (*control.FaucetPayment, error) {
	paid := &control.FaucetPayment{}
	return paid, c.Ask(ctx, http.MethodPost, "/sim/faucet", request, paid)
}

// Advance advances the world's clock. Everything that falls due on the way happens.
func (c *Client) Advance(ctx context.Context, by time.Duration) error {
	return c.Ask(ctx, http.MethodPost, "/sim/clock", map[string]string{"advance": by.String()}, nil)
}

// Now returns the world's time.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	var state control.ClockState
	err := c.Ask(ctx, http.MethodGet, "/sim/clock", nil, &state)
	return time.UnixMilli(state.Milliseconds).UTC(), err
}

// Snapshot takes a snapshot of the whole world: all chains, the clock, the pool, exports and webhooks.
func (c *Client) Snapshot(ctx context.Context) (Snapshot, error) {
	var taken control.Snapshot
	err := c.Ask(ctx, http.MethodPost, "/sim/snapshots", nil, &taken)
	return Snapshot(taken.ID), err
}

// Revert reverts to a snapshot and keeps it; it deletes all later ones.
func (c *Client) Revert(ctx context.Context, to Snapshot) error {
	return c.Ask(ctx, http.MethodPost, "/sim/snapshots/"+string(to)+":revert", nil, nil)
}

// Reset reverts to the freshly generated world.
func (c *Client) Reset(ctx context.Context) error {
	return c.Ask(ctx, http.MethodPost, "/sim/reset", nil, nil)
}

// Fault makes responses fail by a rule, until RemoveFault removes the rule by its id.
func (c *Client) Fault(ctx context.Context, rule fault.Rule) (id string, err error) {
	var added fault.State
	err = c.Ask(ctx, http.MethodPost, "/sim/faults", rule, &added)
	return added.ID, err
}

// RemoveFault removes a rule; removing one twice is not an error.
func (c *Client) RemoveFault(ctx context.Context, id string) error {
	err := c.Ask(ctx, http.MethodDelete, "/sim/faults/"+id, nil, nil)
	if said := (*Refusal)(nil); errors.As(err, &said) && said.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// ClearFaults removes all rules.
func (c *Client) ClearFaults(ctx context.Context) error {
	return c.Ask(ctx, http.MethodDelete, "/sim/faults", nil, nil)
}

// VerifyRequests returns how often clients made the described requests. If Times says otherwise, the error lists the closest requests.
func (c *Client) VerifyRequests(ctx context.Context, expected control.ExpectedRequests) (count int, err error) {
	var found control.Verification
	if err := c.Ask(ctx, http.MethodPost, "/sim/requests:verify", expected, &found); err != nil || found.Verified {
		return found.Count, err
	}
	near, err := json.Marshal(found.NearMisses)
	if err != nil {
		return found.Count, err
	}
	return found.Count, fmt.Errorf("%d requests, expected %s; the closest are %s", found.Count, found.Expected, near)
}

// Mine makes blocks on the EVM chain with a JSON-RPC URL.
func (c *Client) Mine(ctx context.Context, url string, blocks int) error {
	if blocks < 1 {
		return fmt.Errorf("%d blocks cannot be mined: expected 1 or more", blocks)
	}
	client, err := rpc.DialOptions(ctx, url, rpc.WithHTTPClient(&c.http))
	if err != nil {
		return err
	}
	defer client.Close()
	return client.CallContext(ctx, nil, "anvil_mine", hexutil.EncodeUint64(uint64(blocks)))
}

// Ask sends a request to a path of the REST interfaces, with a JSON body unless it is nil, and decodes the response unless answer is nil.
// An error of the interface is a *Refusal.
func (c *Client) Ask(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode >= http.StatusBadRequest:
		return &Refusal{response.StatusCode, fmt.Sprintf("%s %s: %s", method, r.URL.Path, bytes.TrimSpace(text))}
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

// Refusal is a response with an error.
type Refusal struct {
	Status int // of HTTP
	text   string
}

func (r *Refusal) Error() string { return r.text }
