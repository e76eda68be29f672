package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers/control"
	"snowglobe/handlers/intercept"
)

// Addresses holds the addresses to listen on: one for everything, and one for fuji alone.
type Addresses struct {
	Main string
	Fuji string // HOST:PORT, Off, or empty for two ports above Main

	AsNetwork *AsNetwork // nil for a server that answers to its own addresses only
}

// AsNetwork are the choices for answering to the real network's host names.
type AsNetwork struct {
	intercept.Options
	Log     *slog.Logger
	Exposed bool // even beyond loopback
}

// Off disables a listener.
const Off = "off"

// fujiAbove is the default distance of fuji's port above the main port. Real nodes use the port between them to talk to each other.
const fujiAbove = 2

// Listeners are the listeners of a server.
type Listeners struct {
	Main net.Listener
	Fuji net.Listener // serves fuji under /ext; nil for none
	Note string       // why a default listener is missing

	proxy  *intercept.Proxy // on Main, for the real network's host names; nil for none
	direct net.Listener     // for sockets to these hosts that are redirected here

	live *liveListener // nil before the first handler
}

// Listen listens on the addresses. Only an address that the user chose must be free: without its default port, fuji merely has no origin of
// its own.
func (a Addresses) Listen() (l *Listeners, err error) {
	l = &Listeners{}
	if l.Main, err = net.Listen("tcp", a.Main); err != nil {
		return l, a.taken(err)
	}
	if err := l.asNetwork(a.AsNetwork); err != nil {
		return l, errors.Join(err, l.Main.Close())
	}
	if a.Fuji == Off {
		return l, nil
	}
	address, problem := a.Fuji, error(nil)
	if address == "" {
		address, problem = above(a.Main)
	}
	if problem == nil {
		l.Fuji, problem = net.Listen("tcp", address)
	}
	switch {
	case problem == nil:
	case a.Fuji != "":
		return l, errors.Join(fmt.Errorf("--fuji-addr: %w", problem), l.Main.Close())
	default:
		l.Fuji, l.Note = nil, fmt.Sprintf("fuji has no port of its own (%v): choose one with --fuji-addr, or off to have none", problem)
	}
	return l, nil
}

// asNetwork makes the proxy for the real network's host names.
func (l *Listeners) asNetwork(o *AsNetwork) (err error) {
	if o == nil {
		return nil
	}
	if beyondLoopback(l.Main.Addr()) && !o.Exposed {
		return fmt.Errorf("--as-network: %s can be reached from other machines, and would proxy for them; allow that with --allow-control", l.Main.Addr())
	}
	if l.proxy, err = intercept.New(o.Options, o.Log); err != nil {
		return err
	}
	l.direct, err = net.Listen("tcp", "127.0.0.1:0")
	return err
}

// introduction bounds the time in which the program that holds an address identifies itself.
const introduction = time.Second

// taken reports which program holds the main address, if any, and what to do about it.
func (a Addresses) taken(err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), introduction)
	defer cancel()
	text, silence := fetch(ctx, a.url()+"/sim/health")
	var health control.Health
	const advice = "stop it, or choose another port with --addr, such as 127.0.0.1:0 for any free one"
	switch {
	case silence == nil && json.Unmarshal(text, &health) == nil && health.Digest != "":
		return fmt.Errorf("another Snowglobe answers at %s, with the world with digest %.8s…: %s (%w)", a.Main, health.Digest, advice, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EACCES) || !connects(a.url()):
		return fmt.Errorf("--addr: %w", err)
	}
	return fmt.Errorf("a program other than Snowglobe listens at %s: %s (%w)", a.Main, advice, err)
}

// connects reports whether a server listens at a URL.
func connects(url string) bool {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), introduction)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was sent
	return true
}

// above derives fuji's address from the main one: two ports above it, or any port if the main one is any port.
func above(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", err
	}
	if n != 0 {
		n += fujiAbove
	}
	if n > 1<<16-1 {
		return "", fmt.Errorf("there is no port %d", n)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

// URL returns the URL at which a client on this machine reaches everything.
func (l *Listeners) URL() string { return "http://" + reachable(l.Main.Addr()) }

// ports maps networks to their ports; main is the network of the main listener.
func (l *Listeners) ports(main string) map[string]int {
	ports := map[string]int{main: portOf(l.Main)}
	if l.Fuji != nil && main != fixtures.FujiName {
		ports[fixtures.FujiName] = portOf(l.Fuji)
	}
	return ports
}

func portOf(l net.Listener) int {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// exposed lists the addresses that other machines can reach.
func (l *Listeners) exposed() (addresses []string) {
	for _, listener := range []net.Listener{l.Main, l.Fuji} {
		if listener != nil && beyondLoopback(listener.Addr()) {
			addresses = append(addresses, listener.Addr().String())
		}
	}
	return addresses
}

// beyondLoopback reports whether other machines can reach an address.
func beyondLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}
