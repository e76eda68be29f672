package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/session"
	"snowglobe/sim"
)

const playOperands = "FILE"

// Play is the session that the verb play plays.
type Play struct {
	path, text string
}

// ParsePlay reads the file that play names; it returns nil for other verbs.
func ParsePlay(verb string, operands []string) (*Play, error) {
	if verb != "play" {
		return nil, nil
	}
	if len(operands) != 1 {
		return nil, fmt.Errorf("play: expected the %s of a session", playOperands)
	}
	raw, err := userfile.Read(operands[0], session.MostBytes)
	return &Play{operands[0], string(raw)}, err
}

// Run plays the session on a world that no server has open, with the options of a server, and prints the digest.
func (p *Play) Run(ctx context.Context, w *sim.World, o Options, out *Output, notes io.Writer) error {
	if err := w.Claim(ctx); err != nil {
		return err
	}
	s, err := New(w, o)
	if err != nil {
		return err
	}
	defer s.Close()
	played, err := session.NewPlayer(w, s.Handler).Play(ctx, p.text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	return show(played, out, notes)
}

// mostInBody is the largest session sent in a request's body; the server reads a larger one from its path.
const mostInBody = 500 << 10

// Play plays the session on the running server's world.
func (a Addresses) Play(ctx context.Context, p *Play, out *Output, notes io.Writer) error {
	body := map[string]string{"session": p.text}
	if len(p.text) > mostInBody {
		path, err := filepath.Abs(p.path)
		if err != nil {
			return err
		}
		body = map[string]string{"path": path}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := ask(ctx, "POST", a.url()+"/sim/session:play", bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	var played session.Played
	if err := json.Unmarshal(answer, &played); err != nil {
		return err
	}
	return show(&played, out, notes)
}

func show(played *session.Played, out *Output, notes io.Writer) error {
	for _, note := range played.Notes {
		fmt.Fprintf(notes, "snowglobe: %s\n", note)
	}
	return out.Print(played.Digest, played)
}

// writeSession writes the session of the server at a URL to a file.
func writeSession(ctx context.Context, url, path string) error {
	text, err := fetch(ctx, url+"/sim/session")
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}
