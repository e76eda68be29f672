// Command proxy stands between go-ethereum's cmd/workload and a chain of Avalanche. The tool computes the hashes of blocks from the fields that it
// knows, so it asks for blocks by hashes that do not exist. The proxy learns the real hash of each block that passes through it, puts it into
// the requests that follow, and the tool's into the answers.
//
//	proxy ADDRESS URL HASHES
//
// It writes its own address to the file ADDRESS, and keeps what it learned in the file HASHES.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/core/types"
)

// hashes maps the tool's hashes to the real ones. A file keeps them from one run to the next.
type hashes struct {
	mu   sync.Mutex
	real map[string]string // by the tool's
	tool map[string]string // by the real one
	file *os.File
}

func openHashes(name string) (*hashes, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	known, err := io.ReadAll(f)
	h := &hashes{real: map[string]string{}, tool: map[string]string{}, file: f}
	for line := range strings.Lines(string(known)) {
		if computed, found, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			h.real[computed], h.tool[found] = found, computed
		}
	}
	return h, err
}

// learn reads a block in an answer.
func (h *hashes) learn(answer []byte) {
	var block struct {
		Result *struct{ Hash string }
	}
	var header struct{ Result *types.Header }
	if json.Unmarshal(answer, &block) != nil || block.Result == nil || json.Unmarshal(answer, &header) != nil || header.Result == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	computed := header.Result.Hash().Hex()
	if h.real[computed] == "" {
		h.real[computed], h.tool[block.Result.Hash] = block.Result.Hash, computed
		_, _ = h.file.WriteString(computed + " " + block.Result.Hash + "\n")
	}
}

// replace replaces the hashes in a text, but for those of parents, which are among the fields that the tool hashes.
func (h *hashes) replace(body []byte, by map[string]string) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	const length = 2 + 64
	for at := 0; ; at++ {
		next := bytes.Index(body[at:], []byte(`"0x`))
		if next < 0 {
			return body
		}
		at += next
		if at+1+length < len(body) && !bytes.HasSuffix(body[:at], []byte(`"parentHash":`)) {
			if other := by[string(body[at+1:at+1+length])]; other != "" {
				copy(body[at+1:], other)
			}
		}
	}
}

func main() {
	address, url := os.Args[1], os.Args[2]
	h, err := openHashes(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(address, []byte(listener.Addr().String()), 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		response, err := http.Post(url, "application/json", bytes.NewReader(h.replace(body, h.real)))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte("eth_getBlockBy")) {
			h.learn(answer)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(h.replace(answer, h.tool))
	})))
}
