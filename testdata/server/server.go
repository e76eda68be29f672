// Package server serves worlds with a built program, and asks it, for the programs that judge these worlds by the network's own packages. It is a
// module of its own, without dependencies, because those programs need different versions of the packages.
package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Server is a running program that serves a world of its own.
type Server struct {
	URL     string
	Folder  string // of the world; Stop removes it
	command *exec.Cmd
	ended   chan error // of the program
}

const startTimeout = 1500 * time.Second // as long as a large world takes

// Serve starts the program on a free port, and waits until it has generated its world.
func Serve(ctx context.Context, binary string, flags ...string) (*Server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "world-")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + address, Folder: folder, ended: make(chan error, 1)}
	s.command = exec.CommandContext(ctx, binary, append([]string{"--db", s.World(), "--addr", address, "--quiet"}, flags...)...)
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.command.Wait() }()
	for end := time.Now().Add(startTimeout); time.Now().Before(end); {
		select {
		case err := <-s.ended:
			return nil, errors.Join(fmt.Errorf("%s ended before it served", binary), err, os.RemoveAll(folder))
		case <-time.After(50 * time.Millisecond):
		}
		answer, err := http.Get(s.URL + "/sim/health") // 503 while it generates the world
		if err != nil {
			continue
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode == http.StatusOK {
			return s, err
		}
	}
	return nil, errors.Join(fmt.Errorf("%s does not answer", binary), s.Stop(ctx, false))
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// World returns the path of the world's file.
func (s *Server) World() string { return filepath.Join(s.Folder, "world.db") }

// Stop ends the program, and lets it verify its world if asked to, with what clients changed.
func (s *Server) Stop(ctx context.Context, verified bool) error {
	err := s.command.Process.Signal(os.Interrupt)
	if err == nil {
		err = <-s.ended
	}
	if err == nil && verified {
		verify := exec.CommandContext(ctx, s.command.Path, "verify", "--quiet", "--db", s.World())
		verify.Stdout, verify.Stderr = os.Stdout, os.Stderr
		err = verify.Run()
	}
	return errors.Join(err, os.RemoveAll(s.Folder))
}

// MoveClock moves the world's clock, such as by {"advance":"1h"}.
func (s *Server) MoveClock(ctx context.Context, move string) error {
	return s.Post(ctx, "/sim/clock", move)
}

// Post sends a body to one of the server's own operations.
func (s *Server) Post(ctx context.Context, path, body string) error {
	_, err := post(ctx, s.URL+path, []byte(body))
	return err
}

// post returns the answer's body.
func post(ctx context.Context, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s %s", url, body, response.Status, answer)
	}
	return answer, errors.Join(err, response.Body.Close())
}

// Chain is the URL of a chain's JSON-RPC.
type Chain string

// Call calls a method and decodes its result.
func (c Chain) Call(ctx context.Context, result any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": append([]any{}, params...)})
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := c.Send(ctx, body, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %s", method, answer.Error.Message)
	}
	return json.Unmarshal(answer.Result, result)
}

// Send sends a request, or a batch of them, and decodes the answer.
func (c Chain) Send(ctx context.Context, request []byte, answer any) error {
	raw, err := post(ctx, string(c), request)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("%s: %w", request, err)
	}
	return nil
}
