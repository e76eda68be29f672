package handlers

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"

	"snowglobe/handlers/permit"
)

// TestExposedServersWarn: nothing is said on loopback; beyond it, the more can be done there, the more.
func TestExposedServersWarn(t *testing.T) {
	for address, exposed := range map[string]bool{"127.0.0.1": false, "127.1.2.3": false, "::1": false, "0.0.0.0": true, "::": true, "192.168.1.7": true} {
		if got := beyondLoopback(&net.TCPAddr{IP: net.ParseIP(address), Port: 9650}); got != exposed {
			t.Errorf("%s is beyond loopback: %v", address, got)
		}
	}
	everywhere := &net.TCPAddr{IP: net.IPv4zero, Port: 9650}
	for _, c := range []struct {
		options Options
		want    []string
	}{
		{Options{}, nil},
		{Options{Permit: permit.Rule{Control: true}, Node: NodeOptions{Admin: true}}, nil},
		{Options{Permit: permit.Rule{Exposed: true}}, []string{"0.0.0.0:9650", "personas' keys"}},
		{Options{Permit: permit.Rule{Exposed: true, Control: true}}, []string{"DANGER", "--allow-control"}},
		{Options{Permit: permit.Rule{Exposed: true}, Node: NodeOptions{Admin: true}}, []string{"DANGER", "--api-admin-enabled"}},
	} {
		var notes, log bytes.Buffer
		c.options.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.options.warn(&notes, everywhere)
		for _, text := range []string{notes.String(), log.String()} {
			if len(c.want) == 0 && text != "" || strings.Contains(text, "DANGER") && c.want[0] != "DANGER" {
				t.Errorf("%+v: %s", c.options, text)
			}
			for _, part := range c.want {
				if !strings.Contains(text, part) {
					t.Errorf("%+v: %q lacks %q", c.options, text, part)
				}
			}
		}
	}
}
