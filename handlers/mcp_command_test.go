// The verb mcp of the built program, as agents start it.

//go:build !race

package handlers_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// startAgent starts the program for an agent.
func startAgent(t *testing.T, args ...string) *agent {
	t.Helper()
	run := command(t, append([]string{"mcp"}, args...)...)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: run}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &agent{t, session}
}

// TestAgentsStartAWorld: while the agent runs, the program serves a world at the URLs it announces, or forwards to a server.
func TestAgentsStartAWorld(t *testing.T) {
	t.Parallel()
	own := startAgent(t, "--seed", "7")
	world := own.does("describe_world", nil, `"seed":7`)
	own.does("request_funds", args{"address": fresh}, `"status":"accepted"`)
	rpc := world["urls"].(args)["cChain"].(string)
	another := startAgent(t, "--addr", strings.TrimPrefix(strings.TrimSuffix(rpc, "/ext/bc/C/rpc"), "http://"))
	another.does("describe_world", nil, rpc)
	another.does("list_requests", args{"operation": "requestFunds"}, fresh)
	another.does("mine", args{}, `"0x`)
	resource, err := another.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "snowglobe://manual/agents"})
	if err != nil || !strings.Contains(resource.Contents[0].Text, "# Agents") {
		t.Error(err)
	}
	for _, a := range []*agent{another, own} {
		if err := a.session.Close(); err != nil { // when its input ends, the program exits with code 0
			t.Error(err)
		}
	}
	if code, stdout, stderr := outcome(t, command(t, "mcp", "--addr", "127.0.0.1:1")); code != 1 || stdout != "" || !strings.Contains(stderr, "no server answers at 127.0.0.1:1") {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
	broken := command(t, "mcp")
	broken.Stdin = strings.NewReader("this is no JSON\n")
	if code, stdout, stderr := outcome(t, broken); code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
}
