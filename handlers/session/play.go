package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/session"
	"snowglobe/fixtures/worldfile"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Player plays sessions on a world.
type Player struct {
	world   *sim.World
	handler http.Handler // the world's own
}

// NewPlayer plays on a world through the handler that serves it.
func NewPlayer(w *sim.World, h http.Handler) *Player { return &Player{w, h} }

// Played is the outcome of playing a session.
type Played struct {
	Lines  int      `json:"lines" doc:"Number of actions played."`
	Digest string   `json:"digest" doc:"SHA-256 of the whole world now, hex."`
	Notes  []string `json:"notes,omitempty" doc:"Reasons why the world may differ from the recorded one."`
}

// play is one session being played.
type play struct {
	*Player
	names  *names
	labels map[string]string // ids of snapshots by their labels
	played Played
}

// Play plays a session. It stops at the first line whose outcome differs from the session; the error is that line's session.Mistake.
func (p *Player) Play(ctx context.Context, text string) (*Played, error) {
	one, err := p.play(ctx, text)
	if one == nil {
		return nil, err
	}
	return one.end(), err
}

// play plays a session and returns its outcome, or nil if no line was played.
func (p *Player) play(ctx context.Context, text string) (*play, error) {
	steps, err := session.Parse(text)
	if err != nil {
		return nil, err
	}
	if p.world.DB.ReadOnly() {
		return nil, store.ErrReadOnly
	}
	for i := range steps {
		if steps[i].Kind == session.Missing {
			return nil, &session.Mistake{Line: steps[i].Line, Reason: fmt.Errorf("the session leaves out something that it cannot play: %s; do it beforehand, and delete the line", steps[i].Name)}
		}
	}
	one := &play{Player: p, labels: map[string]string{}}
	for i := range steps {
		if err := one.step(ctx, &steps[i]); err != nil {
			return one, &session.Mistake{Line: steps[i].Line, Reason: err}
		}
	}
	return one, nil
}

func (p *play) end() *Played {
	p.played.Digest = fmt.Sprintf("%x", p.world.Digest())
	return &p.played
}

// errPlayed marks the error with which the world answered a line.
type errPlayed struct{ error }

func (p *play) step(ctx context.Context, s *session.Step) (err error) {
	if p.names == nil {
		if p.names, err = readNames(ctx, p.world); err != nil {
			return err
		}
	}
	if s.Kind == session.HTTP || s.Kind == session.Revert || s.Kind == session.Reset { // contracts may get or lose names
		defer func() { p.names = nil }()
	}
	switch digest := fmt.Sprintf("%x", p.world.Digest()); {
	case s.Kind == session.World:
		if s.Data != digest {
			p.played.Notes = append(p.played.Notes, fmt.Sprintf("line %d: the session was recorded on another world, with the digest %s; this one has %s", s.Line, s.Data, digest))
		}
		return nil
	case s.Kind == session.Digest:
		if s.Data != digest {
			return fmt.Errorf("the world has the digest %s", digest)
		}
		return nil
	}
	err = p.do(ctx, s)
	var answered errPlayed
	switch {
	case s.Fails && err == nil:
		return errors.New("it succeeded, but the line expects it to fail")
	case err != nil && !(s.Fails && errors.As(err, &answered)):
		return err
	}
	p.played.Lines++
	return nil
}

func (p *play) do(ctx context.Context, s *session.Step) error {
	switch s.Kind {
	case session.Send, session.Call, session.Deploy:
		return p.send(ctx, s)
	case session.Raw:
		return p.call(ctx, s.Chain, "eth_sendRawTransaction", []string{s.Data}, nil)
	case session.Issue:
		return p.issue(ctx, s)
	case session.Clock:
		return p.clock(ctx, s)
	case session.Mine:
		return p.mine(ctx, s)
	case session.Snapshot:
		var taken struct{ ID string }
		err := p.operate(ctx, http.MethodPost, "/sim/snapshots", marshal(map[string]string{"name": s.Name}), &taken)
		if s.Label != "" {
			p.labels[s.Label] = taken.ID
		}
		return err
	case session.Revert:
		id := p.id(s.Label)
		if !s.Spend {
			return p.operate(ctx, http.MethodPost, "/sim/snapshots/"+id+":revert", nil, nil)
		}
		n, err := strconv.ParseUint(id, 0, 63)
		if err != nil {
			return fmt.Errorf("there is no snapshot %.60s", s.Label)
		}
		var existed bool
		err = p.call(ctx, sim.NameOf(p.world.Chains[0]), "evm_revert", []string{hexutil.EncodeUint64(n)}, &existed)
		if err == nil && !existed {
			err = errPlayed{fmt.Errorf("there is no snapshot %.60s", s.Label)}
		}
		return err
	case session.DeleteSnapshot:
		return p.operate(ctx, http.MethodDelete, "/sim/snapshots/"+p.id(s.Label), nil, nil)
	case session.Reset:
		return p.operate(ctx, http.MethodPost, "/sim/reset", nil, nil)
	case session.HTTP:
		body, err := p.names.unnameJSON(nil, s.Data)
		if err != nil {
			return err
		}
		return p.operate(ctx, s.Method, s.Path, []byte(body), nil)
	}
	return p.method(ctx, s)
}

// id returns the id of the snapshot with a label.
func (p *play) id(label string) string { return cmp.Or(p.labels[label], label) }

// method calls any method of a node.
func (p *play) method(ctx context.Context, s *session.Step) error {
	c, err := p.names.on(s.Chain)
	if err != nil {
		c = nil // path handles the P- and X-Chain
	}
	params, err := p.names.unnameJSON(c, cmp.Or(s.Data, "[]"))
	if err != nil {
		return err
	}
	return p.call(ctx, s.Chain, s.Method, json.RawMessage(params), nil)
}

func (p *play) issue(ctx context.Context, s *session.Step) error {
	method := "avax.issueTx"
	switch _, chain, found := strings.Cut("/"+s.Chain, "/"); {
	case found && strings.HasSuffix(chain, "P"):
		method = "platform.issueTx"
	case found && strings.HasSuffix(chain, "X"):
		method = "avm.issueTx"
	}
	return p.call(ctx, s.Chain, method, map[string]string{"tx": s.Data, "encoding": "hex"}, nil)
}

// send sends a transaction. If the line gives every field, it is signed here, so the bytes are the same again; otherwise the node signs it.
func (p *play) send(ctx context.Context, s *session.Step) error {
	c, err := p.names.on(s.Chain)
	if err != nil {
		return err
	}
	if owner := p.names.accounts[s.From]; owner != nil && owner.key != nil && s.Given() {
		raw, err := p.names.sign(c, s)
		if err != nil {
			return err
		}
		return p.call(ctx, s.Chain, "eth_sendRawTransaction", []string{hexutil.Encode(raw)}, nil)
	}
	from, err := p.names.resolve(c, s.From)
	if err != nil {
		return err
	}
	to, value, data, err := p.names.content(c, s)
	if err != nil {
		return err
	}
	t := sent{From: &from, To: to, Value: (*hexutil.Big)(value), Input: (*hexutil.Bytes)(&data), Nonce: (*hexutil.Uint64)(s.Nonce), Gas: (*hexutil.Uint64)(s.Gas)}
	for _, f := range []struct {
		from session.Amount
		into **hexutil.Big
	}{{s.Price, &t.GasPrice}, {s.Fee, &t.MaxFeePerGas}, {s.Tip, &t.MaxPriorityFeePerGas}} {
		if f.from.Number == "" {
			continue
		}
		var n *big.Int
		if n, err = worldfile.Wei(f.from); err != nil {
			return err
		}
		*f.into = (*hexutil.Big)(n)
	}
	return p.call(ctx, s.Chain, "eth_sendTransaction", []sent{t}, nil)
}

// clock moves the clock. If the clock is already at a recorded time, the line before moved it there.
func (p *play) clock(ctx context.Context, s *session.Step) error {
	body := map[string]any{"populate": s.People}
	if s.Span > 0 {
		body["advance"] = s.Span.String()
	} else {
		at, err := time.Parse(time.RFC3339, s.Time)
		if err != nil {
			return err
		}
		if p.world.Clock.UnixMilli() >= at.UnixMilli() {
			return nil
		}
		body["set"] = s.Time
	}
	return p.operate(ctx, http.MethodPost, "/sim/clock", marshal(body), nil)
}

func (p *play) mine(ctx context.Context, s *session.Step) error {
	if s.Interval {
		c, err := p.names.on(s.Chain)
		if err != nil {
			return err
		}
		return p.world.Scheduled(ctx, c.Chain)
	}
	if s.Count == 1 && s.Span == 0 {
		return p.call(ctx, s.Chain, "evm_mine", []any{}, nil)
	}
	params := []any{hexutil.EncodeUint64(s.Count)}
	if s.Span > 0 {
		params = append(params, hexutil.EncodeUint64(uint64(s.Span/time.Second)))
	}
	return p.call(ctx, s.Chain, "anvil_mine", params, nil)
}

func marshal(v any) []byte {
	text, _ := json.Marshal(v) // texts, numbers and lists of them
	return text
}

func (p *play) call(ctx context.Context, chain, method string, params, result any) error {
	path, err := p.names.path(chain, method)
	if err != nil {
		return err
	}
	body := marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	status, answer := p.request(ctx, http.MethodPost, path, body)
	var said struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	switch err := json.Unmarshal(answer, &said); {
	case err != nil:
		return errPlayed{fmt.Errorf("status %d: %.200s", status, bytes.TrimSpace(answer))}
	case said.Error != nil:
		return errPlayed{fmt.Errorf("%s: %s", method, said.Error.Message)}
	case result != nil:
		return json.Unmarshal(said.Result, result)
	}
	return nil
}

// operate uses an operation of the simulator.
func (p *play) operate(ctx context.Context, method, path string, body []byte, result any) error {
	status, answer := p.request(ctx, method, path, body)
	if status >= http.StatusBadRequest {
		var said struct{ Message any }
		_ = json.Unmarshal(answer, &said) // a response without a message is shown as it is
		if said.Message == nil {
			said.Message = string(answer)
		}
		return errPlayed{fmt.Errorf("%v", said.Message)}
	}
	if result != nil {
		return json.Unmarshal(answer, result)
	}
	return nil
}

// request sends a request to the world's own server.
func (p *play) request(ctx context.Context, method, path string, body []byte) (status int, answer []byte) {
	r, err := http.NewRequestWithContext(rest.Inside(ctx), method, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, []byte(err.Error())
	}
	r.RequestURI, r.RemoteAddr = path, "127.0.0.1:0"
	r.Header.Set("Content-Type", "application/json")
	w := rest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	return w.Status, w.Body.Bytes()
}
