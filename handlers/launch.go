package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers/control"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/mcp"
	"snowglobe/handlers/program"
)

// ready tells other programs that the server answers.
type ready struct {
	URL    string `json:"url"`
	PID    int    `json:"pid"`
	Digest string `json:"digest"`
}

// tellReady writes it as a line to stdout, and to the ready file, which appears complete.
func (o *Options) tellReady(r ready) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if o.Stdout != nil {
		if _, err := o.Stdout.Write(line); err != nil {
			return err
		}
	}
	if o.ReadyFile == "" {
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(o.ReadyFile), ".ready-*")
	if err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	_, err = file.Write(line)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return os.Rename(file.Name(), o.ReadyFile)
}

// UntilEnd returns a context that also ends with an input. The operating system closes the input when the program that writes to it exits, even if it
// was killed.
func UntilEnd(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, in) // an unreadable input counts as ended
	}()
	return ctx, stop
}

// ExecDefaults holds the flag defaults of exec.
var ExecDefaults = map[string]string{"db": ":memory:", "profile": "tiny", "addr": "127.0.0.1:0", "fuji-addr": Off, "quiet": "true"}

// variable is an environment variable that a server gives to programs.
type variable struct{ name, value string }

// Given reports whether the server sets an environment variable for its programs.
func Given(name string) bool {
	switch name = strings.TrimPrefix(name, "SNOWGLOBE_"); name {
	case "URL", "RPC_URL", "WS_URL", "DATA_URL", "METRICS_URL", "MNEMONIC", "PROXY_URL", "CHROMIUM_FLAGS", "BINARY": // packages run BINARY instead of their own program
		return true
	}
	return strings.HasSuffix(name, "_ADDRESS") || strings.HasSuffix(name, "_KEY") // address of a persona, or of an account in a world file
}

// environment asks the server at a URL for the variables that programs need.
func environment(ctx context.Context, url string) ([]variable, error) {
	personas, err := personaVariables(ctx, url)
	return append(urlVariables(url), personas...), err
}

// urlVariables returns the variables with a server's URLs.
func urlVariables(url string) []variable {
	rpc := "/ext/bc/C/"
	return []variable{
		{"SNOWGLOBE_URL", url}, {"SNOWGLOBE_RPC_URL", url + rpc + "rpc"}, {"SNOWGLOBE_WS_URL", "ws" + strings.TrimPrefix(url, "http") + rpc + "ws"},
		{"SNOWGLOBE_DATA_URL", url}, {"SNOWGLOBE_METRICS_URL", url}, {"SNOWGLOBE_MNEMONIC", fixtures.Mnemonic},
	}
}

// personaVariables asks the server at a URL for the variables of its world's personas.
func personaVariables(ctx context.Context, url string) (all []variable, err error) {
	world := control.World{}
	text, err := fetch(ctx, url+"/sim/world")
	if err == nil {
		err = json.Unmarshal(text, &world)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range world.Personas {
		name := "SNOWGLOBE_" + strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
		all = append(all, variable{name + "_ADDRESS", cmp.Or(p.Address, p.ChainAddresses[fixtures.MainnetName]["P"])}, variable{name + "_KEY", p.Key})
	}
	return all, nil
}

// asking bounds a server's answer about itself.
const asking = 10 * time.Second

func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return ask(ctx, http.MethodGet, url, nil)
}

// ask returns a server's answer. An error repeats the server's message, or explains how to start a server.
func ask(ctx context.Context, method, url string, body io.Reader) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return nil, fmt.Errorf("no server answers at %s (%w): start one with snowglobe serve, or name another with --addr", r.URL.Host, dial.Err)
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		reply := struct{ Message any }{Message: cmp.Or(strings.TrimSpace(string(text)), answer.Status)}
		_ = json.Unmarshal(text, &reply) // a program other than Snowglobe answers something else
		err = fmt.Errorf("%s: %v", url, reply.Message)
	}
	return text, err
}

// environ returns variables for a command, with those that lead it to the proxy if there is one, and a function that removes what these need.
func (l *Listeners) environ(url string, variables []variable) (environ []string, end func() error, err error) {
	for _, v := range variables {
		environ = append(environ, v.name+"="+v.value)
	}
	if l.proxy == nil {
		return environ, func() error { return nil }, nil
	}
	network, err := l.proxy.Environment(url, portOf(l.direct), os.Environ())
	if err != nil {
		return nil, nil, err
	}
	return append(environ, network.Variables...), network.Close, nil
}

// leaked returns what a sealed proxy refused a command.
func (l *Listeners) leaked() error {
	if l.proxy == nil {
		return nil
	}
	return l.proxy.Leaked()
}

// runProgram runs the command with the environment of the server at a URL, and returns its exit code. A command that a sealed proxy refused
// something has failed, whatever its own code.
func (o *Options) runProgram(ctx context.Context, l *Listeners, url string) error {
	variables, err := environment(ctx, url)
	if err != nil {
		return err
	}
	environ, end, err := l.environ(url, variables)
	if err != nil {
		return err
	}
	if l.proxy != nil && o.Hints != nil {
		fmt.Fprintf(o.Hints, "snowglobe: Chromium's flags, in %s: %s\n", intercept.ChromiumVariable, strings.Join(l.proxy.ChromiumFlags(url), " "))
	}
	err = o.Program.Run(environ)
	if leak := l.leaked(); leak != nil {
		failed := &program.ExitError{Code: 1}
		errors.As(err, &failed)
		err = &program.ExitError{Code: failed.Code, Err: leak}
	}
	return errors.Join(err, end())
}

// PrintEnvironment asks the server at the addresses for exec's environment and prints it as shell exports.
func (a Addresses) PrintEnvironment(ctx context.Context, w io.Writer) error {
	all, err := environment(ctx, a.url())
	if err != nil {
		return err
	}
	for _, v := range all {
		if _, err := fmt.Fprintf(w, "export %s='%s'\n", v.name, v.value); err != nil {
			return err
		}
	}
	return nil
}

// ServeAgent answers an agent's messages about the world of the server at the addresses, until the input ends.
func (a Addresses) ServeAgent(ctx context.Context, o *Options, in io.ReadCloser, out io.Writer) error {
	if err := a.CheckHealth(ctx); err != nil {
		return err
	}
	return mcp.Serve(ctx, a.url(), o.Manual, o.Version, o.Log, in, out)
}

// CheckHealth returns an error if the server at the addresses does not answer or is unhealthy.
func (a Addresses) CheckHealth(ctx context.Context) error {
	_, err := fetch(ctx, a.url()+"/sim/health")
	return err
}

// url returns the URL of the main address for a program on this machine.
func (a Addresses) url() string {
	host, port, _ := strings.Cut(a.Main, ":")
	if host == "" || host == "0.0.0.0" {
		return "http://127.0.0.1:" + port
	}
	return "http://" + a.Main
}
