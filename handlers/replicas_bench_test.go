// make bench: three servers on one file behind nginx.

package handlers_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// replicas compares one server with three that read the same file behind nginx, as the manual sets it up.
func (r *report) replicas() {
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		fmt.Println("\nreplicas are left out: there is no nginx here (Debian has it as nginx-light)")
		return
	}
	var servers []*process
	for range 3 {
		p := r.serve("--profile", "default", "--db", r.world("default"), "--read-only", "--fuji-addr", "off", "--http-allowed-hosts", "*")
		defer p.stop()
		servers = append(servers, p)
	}
	proxy := r.proxy(nginx, servers)
	defer proxy.stop()
	one := servers[0]
	all := targets(r.describe(one))
	for _, t := range r.lists(one) {
		if t.name == "transactions, first page" || t.name == "balances:listErc20 of alice, first page" {
			all = append(all, t)
		}
	}
	r.table("16 connections\tone server, requests/s\tp50 ms\tp99 ms\tthree behind nginx, requests/s\tp50 ms\tp99 ms\tratio", func(row func(string, ...any)) {
		for _, t := range all {
			var direct, proxied []exchange
			for _, ask := range t.requests[:min(len(t.requests), 500)] {
				a, b := r.first(one, ask), r.first(proxy, ask)
				if !bytes.Equal(bytes.ReplaceAll(b.Body, []byte(proxy.address), []byte(one.address)), a.Body) {
					r.b.Fatalf("%s: behind nginx the answer is another", ask.path)
				}
				direct, proxied = append(direct, exchange{ask.bytes(one.address), a.Body}), append(proxied, exchange{ask.bytes(proxy.address), b.Body})
			}
			three, single, ratio := r.compare(t.name, side{proxy.address, proxy.cmd.Process.Pid, inTurn(proxied)}, side{one.address, one.cmd.Process.Pid, inTurn(direct)})
			row("%s\t%.0f\t%.2f\t%.2f\t%.0f\t%.2f\t%.2f\t%.2f", t.name, single.perSecond, milliseconds(single.p50), milliseconds(single.p99),
				three.perSecond, milliseconds(three.p50), milliseconds(three.p99), ratio)
		}
	})
}

// proxy starts nginx in front of servers.
func (r *report) proxy(program string, servers []*process) *process {
	page, err := os.ReadFile(filepath.Join("docs", "pages", "replicas.md"))
	if err != nil {
		r.b.Fatal(err)
	}
	frame, err := os.ReadFile(filepath.Join("..", "testdata", "replicas", "nginx.conf"))
	if err != nil {
		r.b.Fatal(err)
	}
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.b.Fatal(err)
	}
	p := &process{r: r, address: probe.Addr().String()}
	probe.Close()
	places := []string{"listen 80;", "listen " + p.address + ";"}
	for n, server := range servers {
		places = append(places, fmt.Sprintf("127.0.0.1:1975%d", n+1), server.address)
	}
	site := strings.NewReplacer(places...).Replace(string(regexp.MustCompile("(?s)```nginx\n(.*?)```").FindSubmatch(page)[1]))
	folder := r.b.TempDir()
	for name, text := range map[string]string{"nginx.conf": string(frame), "site.conf": site} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			r.b.Fatal(err)
		}
	}
	p.cmd = exec.CommandContext(r.b.Context(), program, "-p", folder, "-e", "error.log", "-c", "nginx.conf", "-g", "daemon off;")
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) } // nginx then ends its workers
	if err := p.cmd.Start(); err != nil {
		r.b.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := p.once(request{http.MethodGet, "/v1/health-check", ""}); err == nil {
			return p
		} else if time.Since(begin) > patience {
			said, _ := os.ReadFile(filepath.Join(folder, "error.log"))
			r.b.Fatalf("nginx: %v: %s", err, said)
		}
	}
}
