package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snowglobe/fixtures/session"
	"snowglobe/handlers/rest"
)

// Timeline is the answer of GET /sim/session/lines.
type Timeline struct {
	Lines []TimelineLine `json:"lines"`
	Back  bool           `json:"back" doc:"Whether the world can go back to the start of the session."`
}

// TimelineLine is a line of a session on the page.
type TimelineLine struct {
	Line     int    `json:"line" doc:"Number of the line, counting from 1 without comments and the world's line."`
	Text     string `json:"text"`
	Snapshot string `json:"snapshot,omitempty" doc:"Id of the snapshot that the line took, if it still exists."`
	Digest   string `json:"digest,omitempty" doc:"Digest of the world after the line, hex."`
	Back     bool   `json:"back" doc:"Whether the world can go back to this line."`
}

// base is a state from which lines can be played again: a snapshot that a line took, or the beginning.
type base struct {
	line     int // 0 for the beginning
	snapshot string
}

// bases returns the snapshots that lines took and that still exist, in the order of the lines, and the beginning if a reset leads there.
func (r *Recorder) bases(ctx context.Context, lines []line) (all []base, err error) {
	existing, err := r.world.DB.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	if r.fresh && (len(lines) == 0 || !strings.HasPrefix(lines[0].text, "missing ")) {
		all = append(all, base{})
	}
	at := map[string]int{} // the last line that took each snapshot
	for i, l := range lines {
		if s, err := session.ParseLine(l.text); err == nil && s != nil && s.Kind == session.Snapshot && !s.Fails {
			at[s.Label] = i + 1
		}
	}
	for i := range existing {
		id := strconv.FormatInt(existing[i].ID, 10)
		if n := at[id]; n > 0 {
			all = append(all, base{n, id})
		}
	}
	slices.SortFunc(all, func(a, b base) int { return a.line - b.line })
	return all, nil
}

// covered lists the methods, without their prefixes, whose effect a revert undoes. The others set how blocks are made, which a revert leaves alone.
var covered = []string{
	"setBalance", "addBalance", "setCode", "setNonce", "setStorageAt", "dealERC20", "setERC20Balance", "setERC20Allowance", "setAccountBalance", "setAccountCode",
	"setAccountNonce", "setAccountStorageAt", "mine", "mine_detailed", "dropTransaction", "dropAllTransactions", "removePoolTransactions", "loadState", "reorg",
	"rollback", "sendTransaction", "sendUnsignedTransaction", "sendCalls", "impersonateAccount", "stopImpersonatingAccount", "autoImpersonateAccount",
}

// beyond reports whether lines change something that no snapshot contains: how blocks are made, or the server.
func beyond(lines []line) (settings, server bool) {
	for _, l := range lines {
		s, err := session.ParseLine(l.text)
		if err != nil || s == nil {
			continue
		}
		_, name, _ := strings.Cut(s.Method, "_")
		settings = settings || s.Kind == session.RPC && name != "" && !slices.Contains(covered, name)
		server = server || s.Kind == session.HTTP && s.Path != "/sim/imports" && s.Path != "/sim/faucet"
	}
	return settings, server
}

// usable returns the bases from which playing the lines again gives the same world: only a reset restores how blocks are made.
func usable(all []base, lines []line) []base {
	if settings, server := beyond(lines); settings || server {
		return slices.DeleteFunc(slices.Clone(all), func(b base) bool { return b.line > 0 })
	}
	return all
}

// before returns the last base at or before a line.
func before(all []base, line int) (found base, ok bool) {
	for _, b := range all {
		if b.line <= line {
			found, ok = b, true
		}
	}
	return found, ok
}

// Timeline returns the session for a page.
func (r *Recorder) Timeline(ctx context.Context) (*Timeline, error) {
	lines, err := r.Lines(ctx)
	if err != nil {
		return nil, err
	}
	all, err := r.bases(ctx, lines)
	if err != nil {
		return nil, err
	}
	t := &Timeline{Lines: []TimelineLine{}}
	ways := usable(all, lines)
	_, t.Back = before(ways, 0)
	for i, l := range lines {
		shown := TimelineLine{Line: i + 1, Text: l.text}
		_, shown.Back = before(ways, i+1)
		if b, found := before(all, i+1); found && b.line == i+1 {
			shown.Snapshot = b.snapshot
		}
		if l.own && l.last.digest != nil {
			shown.Digest = fmt.Sprintf("%x", l.last.digest)
		}
		t.Lines = append(t.Lines, shown)
	}
	return t, nil
}

var (
	errNoBase = errors.New("the world cannot go back that far: the session does not begin with the freshly generated world, and no snapshot before the line covers every setting since")
	errGoing  = errors.New("the world is already going back")
	errOther  = errors.New("the world's digest differs from the one after that line: something outside the session changed the world")
)

// Back takes the world back to where it was after a line; 0 is the beginning. It reverts to the last snapshot before the line, or resets to the freshly
// generated world, and plays the lines from there again. The session then ends with that line.
func (r *Recorder) Back(ctx context.Context, p *Player, number int) error {
	lines, err := r.Lines(ctx)
	if err != nil {
		return err
	}
	if number < 0 || number > len(lines) {
		return rest.NotFound("the session has no line %d: it has %d lines", number, len(lines))
	}
	all, err := r.bases(ctx, lines)
	if err != nil {
		return err
	}
	from, ok := before(usable(all, lines), number)
	if !ok {
		return rest.Conflict(errNoBase.Error())
	}
	if !r.going.CompareAndSwap(false, true) {
		return rest.Conflict(errGoing.Error())
	}
	defer r.going.Store(false)
	text := "reset\n"
	if from.line > 0 {
		text = "revert to " + from.snapshot + "\n"
	} else if _, server := beyond(lines); server {
		text += "DELETE /sim/faults\nDELETE /sim/node\nDELETE /sim/index\n"
	}
	for _, l := range lines[from.line:number] {
		text += l.text + "\n"
	}
	one, err := p.play(ctx, text)
	if one == nil {
		return err
	}
	if err != nil {
		r.beginAnew()
		return err
	}
	r.cut(lines[:number], one.labels)
	if n := number - 1; n >= 0 && lines[n].own && lines[n].last.digest != nil && !bytes.Equal(lines[n].last.digest, r.world.Digest()) {
		return rest.Conflict(errOther.Error())
	}
	return nil
}

// cut ends the session with the last of these lines. Snapshots that were taken again have new ids.
func (r *Recorder) cut(lines []line, ids map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := 0
	r.clock = r.begunAt
	if len(lines) > 0 && lines[len(lines)-1].last != nil {
		end := lines[len(lines)-1]
		kept, r.clock = slices.Index(r.actions, end.last)+1, end.last.after
	}
	r.actions = slices.Clip(r.actions[:kept])
	r.bytes = 0
	for _, a := range r.actions {
		if s, err := session.ParseLine(a.line); err == nil && s != nil && s.Label != "" && ids[s.Label] != "" {
			s.Label = ids[s.Label]
			a.line = s.String()
		}
		r.bytes += a.bytes()
	}
}

// beginAnew starts a new session with the world as it is.
func (r *Recorder) beginAnew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.actions, r.bytes, r.dropped, r.fresh = nil, 0, 0, false
	r.begun, r.clock = r.world.Digest(), r.world.Clock.UnixMilli()
	r.begunAt = r.clock
}
