package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// server is a program that answers for a world of its own.
type server struct {
	url     string
	folder  string // with the world and the profiles
	command *exec.Cmd
}

const startTimeout = 60 * time.Second

func serve(ctx context.Context, binary, profile string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "world-")
	if err != nil {
		return nil, err
	}
	s := &server{"http://" + address, folder, exec.CommandContext(ctx, binary, "--db", worldIn(folder), "--profile", profile, "--addr", address,
		"--quiet", "--api-admin-enabled", "--profile-dir", folder)}
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get(s.url + "/sim/health") // 503 as long as the world is being made
		if err != nil {
			continue
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode == http.StatusOK {
			return s, err
		}
	}
	_ = s.stop(ctx)
	return nil, fmt.Errorf("%s does not answer", binary)
}

// moveClock moves the world's clock.
func (s *server) moveClock(ctx context.Context, how string) error {
	return s.post(ctx, "/sim/clock", how)
}

func (s *server) post(ctx context.Context, path, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", path, body, answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}

// get decodes an answer of the Data API.
func (n *network) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.server.url+"/v1/networks/"+n.name+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, answer.Status)
	} else {
		err = json.NewDecoder(answer.Body).Decode(into)
	}
	return errors.Join(err, answer.Body.Close())
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func worldIn(folder string) string { return filepath.Join(folder, "world.db") }

// stop ends the program and lets it verify its world, including the clients' changes.
func (s *server) stop(ctx context.Context) error {
	err := s.command.Process.Signal(os.Interrupt)
	if err == nil {
		err = s.command.Wait()
	}
	if err == nil {
		verify := exec.CommandContext(ctx, s.command.Path, "verify", "--quiet", "--db", worldIn(s.folder))
		verify.Stdout, verify.Stderr = os.Stdout, os.Stderr
		err = verify.Run()
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}
