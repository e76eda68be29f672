package main

import (
	"context"
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
	folder  string // with the world
	command *exec.Cmd
}

const startTimeout = 1500 * time.Second // as long as a large world takes

func serve(ctx context.Context, binary, profile string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "world-")
	if err != nil {
		return nil, err
	}
	profile, upgrade, chosen := strings.Cut(profile, "@")
	args := []string{"--db", worldIn(folder), "--profile", profile, "--addr", address, "--quiet"}
	if chosen {
		args = append(args, "--upgrade", upgrade)
	}
	s := &server{"http://" + address, folder, exec.CommandContext(ctx, binary, args...)}
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
	_ = s.stop()
	return nil, fmt.Errorf("%s does not answer", binary)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func worldIn(folder string) string { return filepath.Join(folder, "world.db") }

// stop ends the program.
func (s *server) stop() error {
	err := s.command.Process.Signal(os.Interrupt)
	if err == nil {
		err = s.command.Wait()
	}
	return err
}

// verify lets the program verify its world, including the clients' changes.
func (s *server) verify(ctx context.Context) error {
	verify := exec.CommandContext(ctx, s.command.Path, "verify", "--quiet", "--db", worldIn(s.folder))
	verify.Stdout, verify.Stderr = os.Stdout, os.Stderr
	return verify.Run()
}
