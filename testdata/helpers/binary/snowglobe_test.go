package binary_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// world holds the variables that snowglobe env prints for the server.
var world map[string]string

// TestMain starts a server for all tests. It runs snowglobe from the PATH, or the program that SNOWGLOBE names.
func TestMain(m *testing.M) {
	program := "snowglobe"
	if path := os.Getenv("SNOWGLOBE"); path != "" {
		program = path
	}
	server := exec.Command(program, "serve", "--db", ":memory:", "--profile", "tiny", "--addr", "127.0.0.1:0", "--fuji-addr", "off", "--quiet")
	server.Stderr = os.Stderr
	stdout, err := server.StdoutPipe()
	must(err)
	must(server.Start())
	var ready struct{ URL string }
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	must(err)
	must(json.Unmarshal(line, &ready))
	exports, err := exec.Command(program, "env", "--addr", strings.TrimPrefix(ready.URL, "http://")).Output()
	must(err)
	world = map[string]string{}
	for line := range strings.Lines(string(exports)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		world[name] = strings.Trim(value, "'")
	}
	code := m.Run()
	must(server.Process.Kill())
	_ = server.Wait() // it was killed
	os.Exit(code)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
