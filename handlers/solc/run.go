package solc

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Bounds of one run.
const (
	maxTime    = 90 * time.Second
	maxMemory  = 2 << 30  // bytes of data, where the system can limit them
	maxOutput  = 48 << 20 // bytes
	maxMessage = 8 << 10  // bytes of what it prints to stderr
	killDelay  = 2 * time.Second
)

//go:embed soljson.js
var script string

var (
	errTime   = fmt.Errorf("the compiler did not finish within %s", maxTime)
	errOutput = fmt.Errorf("the compiler's output is larger than %d MiB", maxOutput>>20)
)

// buffer takes so many bytes, and calls full when there are more.
type buffer struct {
	kept bytes.Buffer // not embedded: its ReadFrom takes everything
	most int
	full func()
	over bool
}

func (b *buffer) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.most {
		if b.over = true; b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.kept.Write(p)
}

// run runs a compiler once and returns what it prints.
func (c *Compilers) run(ctx context.Context, file string, args []string, input []byte) ([]byte, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	program, args, err := command(file, args)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "snowglobe-solc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	limited, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out, message := &buffer{most: maxOutput, full: cancel}, &buffer{most: maxMessage}
	err = start(limited, func(isolate bool) (*exec.Cmd, error) {
		cmd := exec.CommandContext(limited, program, args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = folder, environment(), killDelay
		cmd.Stdout, cmd.Stderr = out, message
		confine(cmd, isolate)
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		if err := bound(cmd.Process.Pid); err != nil {
			cancel()
		}
		go func() { // the compiler gets its input once it is bounded
			_, _ = in.Write(input) // it may have ended
			_ = in.Close()
		}()
		return cmd, nil
	})
	switch {
	case out.over:
		return nil, errOutput
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, errTime
	case err != nil:
		if text := strings.TrimSpace(message.kept.String()); text != "" {
			return nil, fmt.Errorf("%w: %.500s", err, text)
		}
		return nil, err
	}
	return out.kept.Bytes(), nil
}

// start starts a command, without a network if the system allows that, and waits for it.
func start(ctx context.Context, command func(isolate bool) (*exec.Cmd, error)) error {
	cmd, err := command(true)
	if err != nil && ctx.Err() == nil {
		cmd, err = command(false)
	}
	if err != nil {
		return err
	}
	return cmd.Wait()
}

// source is one source of an input.
type source struct {
	Content *string         `json:"content"`
	URLs    json.RawMessage `json:"urls,omitempty"`
}

// Input is the compiler's standard JSON input.
type Input struct {
	Language string                     `json:"language"`
	Sources  map[string]source          `json:"sources"`
	Settings map[string]json.RawMessage `json:"settings"`
}

// maxSources bounds the sources of an input.
const maxSources = 5_000

// ParseInput reads an input. What it returns asks for what verification needs, whatever the text asks for.
func ParseInput(text []byte) (*Input, error) {
	in := &Input{}
	if err := json.Unmarshal(text, in); err != nil {
		return nil, errors.New("the source is not a standard JSON input of the compiler")
	}
	switch {
	case in.Language != "Solidity" && in.Language != "Yul":
		return nil, fmt.Errorf("the language %.40q is not supported: expected Solidity or Yul", in.Language)
	case len(in.Sources) == 0:
		return nil, errors.New("the standard JSON input has no sources")
	case len(in.Sources) > maxSources:
		return nil, fmt.Errorf("the standard JSON input has more than %d sources", maxSources)
	}
	for name, s := range in.Sources {
		if s.Content == nil {
			return nil, fmt.Errorf("the source %.200q has no content: URLs and paths are not read", name)
		}
		s.URLs = nil
		in.Sources[name] = s
	}
	if in.Settings == nil {
		in.Settings = map[string]json.RawMessage{}
	}
	delete(in.Settings, "modelChecker") // it starts solvers
	delete(in.Settings, "stopAfter")
	return in, nil
}

// Single makes the input for one source.
func Single(name, content string, settings map[string]any) (*Input, error) {
	in := &Input{Language: "Solidity", Sources: map[string]source{name: {Content: &content}}, Settings: map[string]json.RawMessage{}}
	for key, value := range settings {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		in.Settings[key] = raw
	}
	return in, nil
}

// selection is what the output has of a contract.
var selection = []string{
	"abi", "metadata", "evm.bytecode.object", "evm.bytecode.sourceMap", "evm.bytecode.linkReferences",
	"evm.deployedBytecode.object", "evm.deployedBytecode.sourceMap", "evm.deployedBytecode.linkReferences", "evm.deployedBytecode.immutableReferences",
}

// Has reports whether the input has a source.
func (in *Input) Has(name string) bool {
	_, there := in.Sources[name]
	return there
}

// For returns the JSON of the input that compiles one contract of a source, or every one of that name where the source is "*".
func (in *Input) For(source, contract string) ([]byte, error) {
	raw, err := json.Marshal(map[string]map[string][]string{source: {contract: selection}})
	if err != nil {
		return nil, err
	}
	in.Settings["outputSelection"] = raw
	return json.Marshal(in)
}

// Compile compiles an input and returns the compiler's output. Errors in the sources are errors here, in the compiler's words.
func (c *Compiler) Compile(ctx context.Context, input []byte) (output []byte, err error) {
	if output, err = c.all.run(ctx, c.File, []string{"--standard-json"}, input); err != nil {
		return nil, err
	}
	var told struct {
		Errors []struct{ Severity, FormattedMessage, Message string }
	}
	if err := json.Unmarshal(output, &told); err != nil {
		return nil, errors.New("the compiler's output is not JSON")
	}
	for _, e := range told.Errors {
		if e.Severity == "error" {
			text := cmp.Or(e.FormattedMessage, e.Message)
			return nil, &SourceError{strings.TrimSpace(text)}
		}
	}
	return output, nil
}

// SourceError is an error that the compiler found in the sources.
type SourceError struct{ Text string }

func (e *SourceError) Error() string { return fmt.Sprintf("the compiler says: %.1000s", e.Text) }
