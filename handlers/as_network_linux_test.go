// exec --as-network as a process. Where the system allows a network namespace, nothing leads out of it, not even to a name server.

//go:build linux && !race

package handlers_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	ethrpc "github.com/ethereum/go-ethereum/rpc"
	"golang.org/x/sys/unix"
)

// Roles of this binary: the first process of a network namespace, and commands of exec.
func init() {
	roles["alone"] = runAlone
	roles["reader"] = readEverything
	roles["leak"] = leak
	roles["waiter"] = waitForEnd
	roles["impatient by name"] = lookByName
}

// runAlone starts the program in its arguments, once the loopback interface of its network namespace is up.
func runAlone() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	request := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: unix.IFF_UP}
	copy(request.name[:], "lo")
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	if err := os.Setenv(roleVariable, os.Getenv("THEN")); err != nil {
		return err
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// alone makes a command run in its own network namespace, if the system allows that, with this binary in a role as the command of exec.
func alone(t *testing.T, c *exec.Cmd, role string) *exec.Cmd {
	t.Helper()
	c.Args = append([]string{os.Args[0], c.Path}, c.Args[1:]...)
	c.Path = os.Args[0]
	c.Env = append(os.Environ(), roleVariable+"=alone", "THEN="+role)
	namespace := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	probe := exec.Command(os.Args[0], "/bin/true")
	probe.Env, probe.SysProcAttr = append(os.Environ(), roleVariable+"=alone"), namespace
	if err := probe.Run(); err != nil {
		t.Logf("without a network namespace, which this system refuses: %v", err)
		c.Path, c.Args, c.Env = c.Args[1], c.Args[1:], append(os.Environ(), roleVariable+"="+role)
		return c
	}
	c.SysProcAttr = namespace
	return c
}

// execAsNetwork prepares exec --as-network with this binary as its command, in a role.
func execAsNetwork(t *testing.T, role string, flags ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.db")
	worldFile(t, path)
	return alone(t, command(t, append(append([]string{"exec", "--as-network", "--db", path}, flags...), "--", os.Args[0])...), role)
}

// readEverything reads C, P, X, info, index, Data and Metrics API of both networks with Go's own client and go-ethereum's.
func readEverything() error {
	read := func(url, body, want string) error {
		answer, err := http.Post(url, "application/json", strings.NewReader(body))
		if body == "" {
			answer, err = http.Get(url)
		}
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && !strings.Contains(string(text), want) {
			err = fmt.Errorf("%s: %s %s, without %s", url, answer.Status, text, want)
		}
		return err
	}
	call := func(method string) string { return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}` }
	var errs []error
	for host, want := range map[string]struct{ chain, network string }{"api.avax.network": {"43114", "1"}, "api.avax-test.network": {"43113", "5"}} {
		at := "https://" + host + "/ext/"
		errs = append(errs,
			read(at+"bc/P", call("platform.getHeight"), `"height":"`), read(at+"bc/X", call("avm.getHeight"), `"height":"`),
			read(at+"info", call("info.getNetworkID"), `"networkID":"`+want.network+`"`), read(at+"index/X/block", call("index.getLastAccepted"), `"index":"`),
			read("https://data-api.avax.network/v1/chains/"+want.chain, "", `"chainId":"`+want.chain+`"`),
			read("https://glacier-api.avax.network/v1/chains/"+want.chain, "", `"chainId":"`+want.chain+`"`),
			read("https://metrics.avax.network/v2/chains/"+want.chain, "", `"evmChainId":`+want.chain))
		for _, url := range []string{at + "bc/C/rpc", "wss://" + host + "/ext/bc/C/ws"} {
			c, err := ethrpc.Dial(url)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", url, err))
				continue
			}
			var id string
			if err := c.Call(&id, "eth_chainId"); err != nil || fmt.Sprintf("0x%x", atoi(want.chain)) != id {
				errs = append(errs, fmt.Errorf("%s: %s %w", url, id, err))
			}
			c.Close()
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("read")
	return nil
}

func atoi(text string) (n int) {
	fmt.Sscan(text, &n)
	return n
}

// leak asks for another host and is content without an answer.
func leak() error {
	for range 2 {
		if answer, err := http.Get("http://planted.example/prices"); err == nil {
			answer.Body.Close()
		}
	}
	_, err := http.Get("https://planted.example/prices")
	fmt.Println("content,", err)
	return nil
}

// waitForEnd prints where its certificates are.
func waitForEnd() error {
	fmt.Println(os.Getpid(), os.Getenv("SSL_CERT_FILE"), os.Getenv("NODE_EXTRA_CA_CERTS"))
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func TestACommandReachesTheWorldOnly(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := outcome(t, execAsNetwork(t, "reader", "--sealed"))
	if code != 0 || stdout != "read\n" || !strings.HasPrefix(stderr, "snowglobe: Chromium's flags, in SNOWGLOBE_CHROMIUM_FLAGS: --proxy-server=http://127.0.0.1:") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, stdout %s, stderr %s", code, stdout, stderr)
	}
}

func TestALeakFailsASealedCommand(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := outcome(t, execAsNetwork(t, "leak", "--sealed"))
	if code != 1 || !strings.HasPrefix(stdout, "content,") {
		t.Errorf("exit %d, stdout %s", code, stdout)
	}
	for _, want := range []string{"refused 3 requests", "2 × GET planted.example:80 by Go-http-client/1.1\n", "1 × CONNECT planted.example:443 by Go-http-client/1.1\n", "--allow-host"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr %s, without %s", stderr, want)
		}
	}
	if code, _, stderr := outcome(t, execAsNetwork(t, "leak", "--quiet")); code != 0 || stderr != "" {
		t.Errorf("not sealed: exit %d, stderr %s", code, stderr)
	}
	if code, _, stderr := outcome(t, execAsNetwork(t, "leak", "--quiet", "--sealed", "--allow-host", "planted.example")); code != 0 || stderr != "" {
		t.Errorf("allowed: exit %d, stderr %s", code, stderr)
	}
}

// TestNoFileIsLeft: no file stays behind when exec ends or is killed, or when the command is.
func TestNoFileIsLeft(t *testing.T) {
	t.Parallel()
	for _, dies := range []string{"nobody", "command", "exec"} {
		folder := t.TempDir()
		path := filepath.Join(folder, "w.db")
		worldFile(t, path)
		c := command(t, "exec", "--as-network", "--db", path, "--", os.Args[0])
		temporary := t.TempDir()
		c.Env = append(os.Environ(), roleVariable+"=waiter", "TMPDIR="+temporary)
		var errs bytes.Buffer
		c.Stderr = &errs
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		var files [2]string
		if _, err := fmt.Fscan(bufio.NewReader(out), &pid, &files[0], &files[1]); err != nil {
			t.Fatal(err, errs.String())
		}
		for _, f := range files {
			if text, err := os.ReadFile(f); err != nil || !bytes.Contains(text, []byte("BEGIN CERTIFICATE")) || bytes.Contains(text, []byte("PRIVATE KEY")) {
				t.Fatalf("%s: %v %.100s", f, err, text)
			}
		}
		switch dies {
		case "command":
			err = syscall.Kill(pid, syscall.SIGKILL)
		case "exec":
			err = errors.Join(c.Process.Kill(), syscall.Kill(pid, syscall.SIGKILL)) // nobody else would end the command
		default:
			err = in.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // other tests check exit codes
		gone := func() bool {
			left, _ := os.ReadDir(temporary)
			for _, f := range files {
				if _, err := os.Stat(f); err == nil {
					return false
				}
			}
			return len(left) == 0
		}
		for end := time.Now().Add(20 * time.Second); !gone(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				left, _ := os.ReadDir(temporary)
				t.Fatalf("%s died: %v or %v is left", dies, files, left)
			}
		}
	}
}

// lookByName asks the real network's own name, once.
func lookByName() error {
	r, err := http.Get("https://data-api.avax.network/v1/chains/43114")
	if err == nil && r.StatusCode != http.StatusOK {
		err = errors.New(r.Status)
	}
	return err
}

// TestASearchAsTheNetwork finds faults of requests to the real network's names.
func TestASearchAsTheNetwork(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "schedules.txt")
	code, stdout, stderr := searchFor(t, "impatient by name", corpus, "--as-network", "--sealed", "--allow-host", "a.example", "--allow-host", "b.example")
	if code != 1 || !strings.Contains(stdout, "of GET /v1/chains/43114 ") || !strings.Contains(stdout, " --as-network=true --sealed=true --allow-host=a.example --allow-host=b.example --corpus=") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
	code, _, stderr = searchFor(t, "leak", corpus, "--as-network", "--sealed")
	if code != 1 || !strings.Contains(stderr, "fails without faults") || !strings.Contains(stderr, "2 × GET planted.example:80") {
		t.Errorf("a leak: exit %d, %s", code, stderr)
	}
}
