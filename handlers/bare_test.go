// make bench: a bare HTTP server, in a process of its own, to compare with.

package handlers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
)

// bareVariable turns the test binary into a server that only writes given answers, which shows the cost of net/http.
const bareVariable = "SNOWGLOBE_TEST_BARE"

// answer is a server's response.
type answer struct {
	Header http.Header
	Body   []byte
}

// serveBare reads answers from stdin, prints its address, and serves answer n at the path /n until stdin ends.
func serveBare(in io.Reader, out io.Writer) error {
	var answers []answer
	if err := json.NewDecoder(in).Decode(&answers); err != nil {
		return err
	}
	mux := http.NewServeMux()
	for i, a := range answers {
		a.Header.Del("Date")
		mux.HandleFunc(barePath(i), func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for name, values := range a.Header {
				w.Header()[name] = values
			}
			_, _ = w.Write(a.Body) // a client that left wants no answer
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	server := &http.Server{Handler: mux}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func barePath(i int) string { return "/" + strconv.Itoa(i) }

// bare starts a bare server of the answers in a process of its own.
func (r *report) bare(answers []answer) (address string, pid int, stop func()) {
	self, err := os.Executable()
	if err != nil {
		r.b.Fatal(err)
	}
	cmd := exec.CommandContext(r.b.Context(), self)
	cmd.Env = append(os.Environ(), bareVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		r.b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.b.Fatal(err)
	}
	if err := errors.Join(cmd.Start(), json.NewEncoder(in).Encode(answers)); err != nil {
		r.b.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, &address); err != nil {
		r.b.Fatal(err)
	}
	return address, cmd.Process.Pid, func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			r.b.Fatal(err)
		}
	}
}
