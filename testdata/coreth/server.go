package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// server is a program that answers for a world in memory.
type server struct {
	url     string
	command *exec.Cmd
}

const startTimeout = 300 * time.Second

func serve(ctx context.Context, binary, profile string) (*server, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{"http://" + address, exec.CommandContext(ctx, binary, "--db", ":memory:", "--profile", profile, "--addr", address, "--quiet")}
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if answer, err := http.Get(s.url + "/sim/world"); err == nil {
			return s, answer.Body.Close()
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

func (s *server) stop() error {
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.command.Wait()
}
