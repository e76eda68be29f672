package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/sim/evm"
)

// Limits of a batch, as a node has them.
const (
	batchItems = 1_000
	batchBytes = 25_000_000
)

// endpoint is one chain's JSON-RPC.
type endpoint struct {
	chain       *evm.Chain
	server      *rpc.Server
	websocket   *socket
	offer       *offer
	broadcaster *broadcaster
	methods     map[string]bool // that it has, by name
	maxBody     int64
}

func newEndpoint(chain *evm.Chain, o Options) (*endpoint, error) {
	e := &endpoint{chain: chain, server: rpc.NewServer(), broadcaster: newBroadcaster(chain), maxBody: o.MaxBody}
	e.server.SetBatchLimits(batchItems, batchBytes)
	e.server.SetHTTPBodyLimit(int(o.MaxBody))
	e.server.SetWebsocketReadLimit(o.MaxBody)
	all := services(chain, e.broadcaster, o.Version)
	e.methods = methodsOf(all)
	names := slices.Sorted(maps.Keys(e.methods))
	e.offer = &offer{[]string{http.MethodPost}, names}
	e.websocket = &socket{e.server.WebsocketHandler([]string{"*"}), &offer{[]string{http.MethodGet}, slices.Concat(names, []string{"eth_subscribe", "eth_unsubscribe"})}}
	for _, s := range all {
		if err := e.server.RegisterName(s.namespace, s.methods); err != nil {
			return nil, err
		}
	}
	return e, nil
}

type service struct {
	namespace string
	methods   any
}

func services(chain *evm.Chain, h *broadcaster, version string) []service {
	a := &api{chain: chain, blocks: newBlockCache()}
	all := []service{
		{"eth", &chainAPI{a}}, {"eth", &blockAPI{a}}, {"eth", &transactionAPI{a}}, {"eth", &stateAPI{a}},
		{"eth", &callAPI{a}}, {"eth", &gasAPI{a}}, {"eth", &logAPI{a}}, {"eth", newFilterAPI(a)}, {"eth", &subscribeAPI{a, h}},
		{"debug", &debugAPI{a}}, {"txpool", &txpoolAPI{}}, {"net", &netAPI{chain.Genesis.ChainID}}, {"web3", &web3API{version}},
	}
	if chain.Kind == evm.KindC {
		return append(all, service{"eth", &priceAPI{a}})
	}
	return append(all, service{"eth", &rulesAPI{a}})
}

func (e *endpoint) close() {
	e.server.Stop()
	e.broadcaster.close()
}

// ServeHTTP reads the request whole, within the limit, and leaves to go-ethereum's server what that does as a node does.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r, e.maxBody)
	if !ok {
		return
	}
	body = firstValue(body)
	called(r.Context(), e.operation(body))
	request := *r
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	e.server.ServeHTTP(&lineWriter{ResponseWriter: w}, &request)
}

// readBody reads a request whole. When it is too large, or cannot be read, it has answered that.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("request body too large: the limit is %d bytes", limit), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the request body could not be read", http.StatusBadRequest)
		return nil, false
	}
	return body, true
}

// firstValue drops what follows the first JSON value: a node never looks at it.
func firstValue(body []byte) []byte {
	if json.Valid(body) {
		return body
	}
	var value json.RawMessage
	if json.NewDecoder(bytes.NewReader(body)).Decode(&value) != nil {
		return body
	}
	return value
}

// lineWriter ends an answer with a newline, as a node does. Answers to requests that could not be read at all have
// none; go-ethereum's server marks them by a transfer encoding that would also close the connection.
type lineWriter struct{ http.ResponseWriter }

func (l *lineWriter) Write(answer []byte) (int, error) {
	header := l.Header()
	if header.Get("Transfer-Encoding") != "" {
		header.Del("Transfer-Encoding")
		return l.ResponseWriter.Write(answer)
	}
	if header.Get("Content-Length") != strconv.Itoa(len(answer)) {
		return l.ResponseWriter.Write(answer) // a text written by http.Error
	}
	header.Set("Content-Length", strconv.Itoa(len(answer)+1))
	n, err := l.ResponseWriter.Write(answer)
	if err == nil {
		_, err = l.ResponseWriter.Write(newline)
	}
	return n, err
}

var newline = []byte{'\n'}
