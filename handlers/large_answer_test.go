// Large answers share one bound in the whole process. Some readers are slow or gone.

package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"snowglobe/handlers"
)

// manyLogs holds a server, a request for the logs of some transactions that have many, and the logs.
type manyLogs struct {
	*handlers.Server
	t      *testing.T
	wanted string   // the parameters
	logs   []string // of each transaction as JSON, without brackets
	makers []string // their addresses
}

func newManyLogs(t *testing.T, transactions, logs int) *manyLogs {
	t.Helper()
	h, err := handlers.New(tinyWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	m := &manyLogs{Server: h, t: t}
	// The init code logs that often: PUSH2 n, JUMPDEST, PUSH0, PUSH0, LOG0, PUSH1 1, SWAP1, SUB, DUP1, PUSH1 3, JUMPI.
	code := fmt.Sprintf("0x61%04x5b5f5fa060019003806003570000", logs)
	for range transactions {
		hash := m.result("eth_sendTransaction", `[{"from":"`+good["address"]+`","data":"`+code+`","gas":"0x600000"}]`)
		var receipt struct {
			BlockNumber     string
			ContractAddress string
			Logs            json.RawMessage
		}
		if err := json.Unmarshal(m.result("eth_getTransactionReceipt", "["+string(hash)+"]"), &receipt); err != nil {
			t.Fatal(err)
		}
		if m.wanted == "" {
			m.wanted = `[{"fromBlock":"` + receipt.BlockNumber + `"}]`
		}
		if m.logs = append(m.logs, string(bytes.Trim(receipt.Logs, "[]"))); len(m.logs[0]) < 300*logs {
			t.Fatalf("the logs of a transaction are %d bytes long", len(m.logs[0]))
		}
		m.makers = append(m.makers, receipt.ContractAddress)
	}
	return m
}

func (m *manyLogs) result(method, params string) json.RawMessage {
	m.t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, rpcRequest("/ext/bc/C/rpc", method, params))
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Result == nil {
		m.t.Fatalf("%s: %.300s %v", method, w.Body, err)
	}
	return answer.Result
}

// all returns the response to a request for all logs.
func (m *manyLogs) all() string { return answerTo("[" + strings.Join(m.logs, ",") + "]") }

func answerTo(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }

// TestLargeAnswers requests more logs than the server encodes at a time.
func TestLargeAnswers(t *testing.T) {
	transactions, logs := 5, 10_000 // together, the most that is answered
	if testing.Short() {
		t.Log("left out of a short run: the largest answers")
		transactions, logs = 2, 4_000
	}
	m := newManyLogs(t, transactions, logs)
	t.Run("whole", m.areWhole)
	t.Run("traces", m.areTraced)
	t.Run("memory", m.takeLittleMemory)
	if testing.Short() {
		t.Log("left out of a short run: the areas of one history")
	} else { // give pending work a second
		t.Run("history", m.areOfOneHistory)
	}
}

// areWhole requests a large response in every possible way.
func (m *manyLogs) areWhole(t *testing.T) {
	post := func(body string) string {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "/ext/bc/C/rpc", strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		if length := w.Header().Get("Content-Length"); w.Code != 200 || length != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%.80s: status %d, %d bytes, Content-Length %s", body, w.Code, w.Body.Len(), length)
		}
		return w.Body.String()
	}
	call := func(id int, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_getLogs","params":%s}`, id, params)
	}
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d bytes, want %d: %.200s … %.100s", what, len(got), len(want), got, got[max(0, len(got)-100):])
		}
	}
	same("all", post(call(1, m.wanted)), m.all()+"\n")
	makers := slices.Clone(m.makers)
	slices.Reverse(makers)
	text, _ := json.Marshal(makers) // strings always encode
	same("of contracts, the later first", post(call(1, strings.Replace(m.wanted, "}", `,"address":`+string(text)+"}", 1))), m.all()+"\n")
	one := strings.Replace(m.wanted, "}", `,"address":"`+m.makers[1]+`"}`, 1)
	batch := "[" + call(1, one) + `,{"jsonrpc":"2.0","id":"\u0000","method":"eth_chainId"},{"jsonrpc":"2.0","method":"eth_getLogs","params":` + one + `},` + call(2, `[{"fromBlock":"0xffffffff"}]`) + "," + call(1, one) + "]"
	made := answerTo("[" + m.logs[1] + "]")
	same("a batch", post(batch), "["+made+`,{"jsonrpc":"2.0","id":"\u0000","result":"0xa86a"},{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"requested from block 4294967295 after last accepted block `+
		m.head()+`"}},`+made+"]\n")
	if testing.Short() {
		t.Log("left out of a short run: the bound of a batch's results")
	} else { // a batch is bounded by 25 MB; the result that exceeds the bound is still answered
		full := "[" + strings.Repeat(call(1, m.wanted)+",", 4) + call(1, m.wanted) + "]"
		refused := `,{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"response too large"}}`
		same("a batch that is too large", post(full), "["+m.all()+","+m.all()+strings.Repeat(refused, 3)+"]") // go-ethereum's server ends such an answer without a newline
	}

	server := httptest.NewServer(m)
	defer server.Close()
	socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/ext/bc/C/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.WriteMessage(websocket.TextMessage, []byte(call(1, m.wanted))); err != nil {
		t.Fatal(err)
	}
	_, message, err := socket.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	same("over WebSocket", string(message), m.all()+"\n")

	var taken struct {
		Requests []struct {
			Operation string
			ID, Bytes int
		}
	}
	if err := json.Unmarshal([]byte(ask(m, "GET", "/sim/requests?pageSize=1", "")), &taken); err != nil || len(taken.Requests) != 1 ||
		taken.Requests[0].Operation != "eth_getLogs" || taken.Requests[0].Bytes != len(m.all()) {
		t.Fatalf("%+v %v", taken, err)
	}
	if got := ask(m, "GET", fmt.Sprint("/sim/requests/", taken.Requests[0].ID), ""); !strings.Contains(got, m.makers[0]) {
		t.Errorf("the journal has %.300s", got)
	}
}

// areTraced requests one trace alone, as part of its block's, and in a batch.
func (m *manyLogs) areTraced(t *testing.T) {
	var log struct{ TransactionHash, BlockNumber string }
	if err := json.Unmarshal([]byte("["+m.logs[0]+"]"), &[]any{&log}); err != nil {
		t.Fatal(err)
	}
	const most = `{"limit":300000}`
	trace := string(m.result("debug_traceTransaction", `["`+log.TransactionHash+`",`+most+`]`))
	if len(trace) < 300_000 || !strings.HasPrefix(trace, `{"gas":`) {
		t.Fatalf("the trace has %d bytes: %.100s", len(trace), trace)
	}
	block := `[{"txHash":"` + log.TransactionHash + `","result":` + trace + `}]`
	params := `["` + log.BlockNumber + `",` + most + `]`
	if got := string(m.result("debug_traceBlockByNumber", params)); got != block {
		t.Errorf("the trace of the block has %d bytes, want %d: %.200s", len(got), len(block), got)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"debug_traceBlockByNumber","params":` + params + `}`
	if got, want := ask(m, "POST", "/ext/bc/C/rpc", "["+call+","+call+"]"), "["+answerTo(block)+","+answerTo(block)+"]"; strings.TrimSpace(got) != want {
		t.Errorf("in a batch they have %d bytes, want %d", len(got), len(want))
	}
}

func (m *manyLogs) head() string {
	n, err := strconv.ParseUint(strings.Trim(string(m.result("eth_blockNumber", "[]")), `"`), 0, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return strconv.FormatUint(n, 10)
}

// slowReader is a client that stops reading after some bytes.
type slowReader struct {
	header  http.Header
	got     int
	stalled chan struct{} // closed when it has stopped reading
	goesOn  chan struct{} // closed when it should read on
	done    chan struct{} // closed when it has the whole answer
}

// slowly asks for all logs.
func (m *manyLogs) slowly(ctx context.Context) *slowReader {
	s := &slowReader{http.Header{}, 0, make(chan struct{}), make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(s.done)
		m.ServeHTTP(s, rpcRequest("/ext/bc/C/rpc", "eth_getLogs", m.wanted).WithContext(ctx))
	}()
	return s
}

func (s *slowReader) Header() http.Header { return s.header }
func (s *slowReader) WriteHeader(int)     {}

func (s *slowReader) Write(b []byte) (int, error) {
	const enough = 100 << 10
	if before := s.got; before < enough && before+len(b) >= enough {
		close(s.stalled)
		<-s.goesOn
	}
	s.got += len(b)
	return len(b), nil
}

// ends lets the client read on, and reports whether it got the announced number of bytes.
func (s *slowReader) ends() (whole bool) {
	close(s.goesOn)
	<-s.done
	return s.header.Get("Content-Length") == strconv.Itoa(s.got)
}

// takeLittleMemory has twenty clients stop reading halfway.
func (m *manyLogs) takeLittleMemory(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	before := live()
	var clients []*slowReader
	for range 20 {
		clients = append(clients, m.slowly(ctx))
	}
	for _, c := range clients {
		<-c.stalled
	}
	whole, taken := len(clients)*len(m.all()), live()-before
	if limit := len(clients) * 3 << 19; taken > int64(limit) {
		t.Errorf("%d answers of %d MB together take %d MB", len(clients), whole>>20, taken>>20)
	}
	t.Logf("%d answers of %d MB together take %.1f MB", len(clients), whole>>20, float64(taken)/(1<<20))
	for i, c := range clients {
		if i == 2 {
			leave()
		}
		if whole := c.ends(); whole != (i < 2) {
			t.Errorf("client %d of those of whom all but two leave: answered to the end is %t", i, whole)
		}
	}
}

// live returns the number of bytes in use.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // frees what pools held
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// areOfOneHistory reverts the world while a client reads a response.
func (m *manyLogs) areOfOneHistory(t *testing.T) {
	snapshot := m.result("evm_snapshot", "[]")
	c := m.slowly(t.Context())
	<-c.stalled
	m.result("evm_revert", "["+string(snapshot)+"]")
	if c.ends() {
		t.Error("an answer was given to its end while the world went back")
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, rpcRequest("/ext/bc/C/rpc", "eth_getLogs", m.wanted))
	if got := w.Body.String(); got != m.all()+"\n" {
		t.Errorf("after that: %.200s", got)
	}
}
