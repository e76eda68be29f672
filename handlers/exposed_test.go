// Warnings of a server beyond loopback, which depend on all of its flags.

package handlers

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/permit"
	"snowglobe/sim"
)

// TestExposedServersWarn: no warning on loopback; beyond it, the more clients may do, the stronger the warning.
func TestExposedServersWarn(t *testing.T) {
	for address, exposed := range map[string]bool{"127.0.0.1": false, "127.1.2.3": false, "::1": false, "0.0.0.0": true, "::": true, "192.168.1.7": true} {
		if got := beyondLoopback(&net.TCPAddr{IP: net.ParseIP(address), Port: 9650}); got != exposed {
			t.Errorf("%s is beyond loopback: %v", address, got)
		}
	}
	loopback, everywhere, fuji := at("127.0.0.1:9650"), at("0.0.0.0:9650"), at("192.168.1.7:9652")
	mayControl := Options{Permit: permit.Rule{Control: true}}
	for _, c := range []struct {
		options   Options
		listeners Listeners
		want      []string
	}{
		{Options{}, Listeners{Main: loopback, Fuji: loopback}, nil},
		{Options{Permit: permit.Rule{Control: true}, Node: NodeOptions{Admin: true}}, Listeners{Main: loopback}, nil},
		{Options{}, Listeners{Main: everywhere}, []string{"listening on 0.0.0.0:9650: ", "personas' keys"}},
		{Options{}, Listeners{Main: loopback, Fuji: fuji}, []string{"listening on 192.168.1.7:9652: "}},
		{Options{}, Listeners{Main: everywhere, Fuji: fuji}, []string{"listening on 0.0.0.0:9650 and 192.168.1.7:9652: "}},
		{Options{Faucet: func(*sim.World) control.Faucet { return nil }}, Listeners{Main: everywhere}, []string{"personas' keys", "the faucet pays them"}},
		{mayControl, Listeners{Main: everywhere}, []string{"DANGER", "--allow-control"}},
		{Options{Node: NodeOptions{Admin: true}}, Listeners{Main: everywhere}, []string{"DANGER", "--api-admin-enabled"}},
		{Options{Proxy: &intercept.Proxy{}}, Listeners{Main: everywhere}, []string{"DANGER", "--as-network"}},
	} {
		var notes, log bytes.Buffer
		c.options.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.options.warn(&notes, c.listeners.exposed())
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

// listener has nothing but an address.
type listener struct {
	net.Listener
	address *net.TCPAddr
}

func (l listener) Addr() net.Addr { return l.address }

func at(address string) net.Listener {
	return listener{address: net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}
}
