// Requests before the world is complete.

package handlers_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers"
)

// TestWhileAWorldIsMade sends requests before the world is complete, and continues on the same connections afterwards.
func TestWhileAWorldIsMade(t *testing.T) {
	l, err := handlers.Addresses{Main: "127.0.0.1:0", Fuji: handlers.Off}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	log, told := slog.New(slog.DiscardHandler), 0
	progress := l.Starting("tiny", log, func(done, _ int) { told = done })
	progress(25, 100)
	url := "http://" + l.Main.Addr().String()
	ask := func(method, path, body string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer, string(text)
	}
	for path, says := range map[string]string{"/v1/chains": `"statusCode":503`, "/": "25 of 100", "/sim/health": `"secondsLeft":`} {
		answer, text := ask("GET", path, "")
		if answer.StatusCode != 503 || answer.Header.Get("Retry-After") == "" || !strings.Contains(text, says) {
			t.Errorf("%s: %d %v %s", path, answer.StatusCode, answer.Header, text)
		}
	}
	var health struct {
		Healthy bool
		Making  handlers.Making
	}
	if _, text := ask("GET", "/sim/health", ""); json.Unmarshal([]byte(text), &health) != nil || health.Healthy || health.Making.Done != 25 || health.Making.Expected != 100 || told != 25 {
		t.Errorf("%+v, %d was told", health, told)
	}
	if _, text := ask("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":9,"method":"eth_chainId"}`); !strings.Contains(text, `"id":9`) || !strings.Contains(text, `"code":-32000`) {
		t.Errorf("the node says %s", text)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, w := io.Pipe()
	stopped := make(chan error, 1)
	go func() {
		stopped <- handlers.Run(ctx, l, readWorld(t), handlers.Options{Network: "mainnet", Log: log, Stdout: w}, io.Discard)
	}()
	if line, err := bufio.NewReader(ready).ReadString('\n'); err != nil || !strings.Contains(line, url) {
		t.Error(line, err)
	}
	if answer, text := ask("GET", "/sim/health", ""); answer.StatusCode != 200 {
		t.Error(answer.StatusCode, text)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestWhileAWorldIsOpened sends a request before a world is open: the client waits, and gets the world's response.
func TestWhileAWorldIsOpened(t *testing.T) {
	l, err := handlers.Addresses{Main: "127.0.0.1:0", Fuji: handlers.Off}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	l.Starting("tiny", log, nil)
	c, err := net.Dial("tcp", l.Main.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /sim/health HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		stopped <- handlers.Run(ctx, l, readWorld(t), handlers.Options{Network: "mainnet", Log: log}, io.Discard)
	}()
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
		t.Error(line, err)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
