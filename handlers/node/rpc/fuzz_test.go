package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	avalanche "github.com/ava-labs/avalanchego/utils/json"
	"github.com/ethereum/go-ethereum/common/hexutil"
	ethlog "github.com/ethereum/go-ethereum/log"
	oracle "github.com/ethereum/go-ethereum/rpc"
	gorilla "github.com/gorilla/rpc/v2"
	"github.com/gorilla/rpc/v2/json2"
	"github.com/gorilla/websocket"

	"snowglobe/sim/cache"
)

// fuzzed has methods of all shapes, which go-ethereum's server serves, too.
type fuzzed struct{}

func (fuzzed) Nothing()                                           {}
func (fuzzed) Echo(a *string, b *json.RawMessage) []any           { return []any{a, b} }
func (fuzzed) Need(a string, b int, c *bool) string               { return fmt.Sprint(a, b, c != nil) }
func (fuzzed) Raw(a json.RawMessage) json.RawMessage              { return a }
func (fuzzed) Big(_ context.Context, a *hexutil.Big) (any, error) { return a, nil }
func (fuzzed) Block(n oracle.BlockNumberOrHash) any               { return n }
func (fuzzed) Map(m map[string]any) map[string]any                { return m }
func (fuzzed) Bytes(b hexutil.Bytes, more ...int) (hexutil.Bytes, error) {
	return b, nil
}
func (fuzzed) Null() (*hexutil.Big, error) { return nil, nil }
func (fuzzed) None() json.RawMessage       { return nil }
func (fuzzed) Unwritable() any             { return make(chan int) }
func (fuzzed) Two() (int, string)          { return 1, "" }
func (fuzzed) Crash() int                  { panic("as it is meant to") }
func (fuzzed) Only(fails bool) error       { return map[bool]error{true: errors.New(`<it> "failed"`)}[fails] }
func (fuzzed) Fail(code int, data any) (int, error) {
	return 1, &codedError{code, data}
}

type codedError struct {
	code int
	data any
}

func (e *codedError) Error() string  { return "coded & told" }
func (e *codedError) ErrorCode() int { return e.code }
func (e *codedError) ErrorData() any { return e.data }

// quiet and quietOracle can be subscribed to, each with its own server's types.
type quiet struct{ fuzzed }

func (quiet) Quiet(context.Context, *int) (*Subscription, error) {
	return Subscribe(func(ctx context.Context, _ func(any) error) error { <-ctx.Done(); return nil }), nil
}

func (quiet) Refused(_ context.Context, why string) (*Subscription, error) {
	return nil, errors.New(why)
}

type quietOracle struct{ fuzzed }

func (quietOracle) Quiet(ctx context.Context, _ *int) (*oracle.Subscription, error) {
	n, _ := oracle.NotifierFromContext(ctx)
	return n.CreateSubscription(), nil
}

func (quietOracle) Refused(_ context.Context, why string) (*oracle.Subscription, error) {
	return nil, errors.New(why)
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// randomValue returns JSON that mostly fits some method.
func randomValue(r *rand.Rand, deep int) string {
	switch n := r.IntN(14); {
	case n < 2 && deep > 0:
		var items []string
		for range r.IntN(4) {
			items = append(items, randomValue(r, deep-1))
		}
		return "[" + pick(r, "", " ") + strings.Join(items, pick(r, ",", " , ")) + "]"
	case n < 4 && deep > 0:
		var items []string
		for range r.IntN(4) {
			items = append(items, pick(r, `"a"`, `"b"`, `"blockHash"`, `"Name"`, `"\u0061"`, `""`, `"x<y"`)+pick(r, ":", " : ")+randomValue(r, deep-1))
		}
		return "{" + strings.Join(items, ",") + pick(r, "", "\n") + "}"
	}
	return pick(r, `1`, `0`, `-7`, `1e3`, `12345678901234567890`, `1.50`, `null`, `true`, `false`, `"quiet"`, `"refused"`, `"0x10"`, `"0x"`, `"0xzz"`, `"latest"`, `"a\"b\\"`,
		`"\u003c&\u2028é"`, "\"\xff\"", `""`, `"]}"`, `"0x1"`)
}

// randomCall returns something like a call, usually a valid one.
func randomCall(r *rand.Rand, methods ...string) string {
	if r.IntN(20) == 0 {
		return randomValue(r, 2)
	}
	members := []string{pick(r, `"jsonrpc"`, `"jsonrpc"`, `"jsonrpc"`, `"\u006asonrpc"`) + `:` + pick(r, `"2.0"`, `"2.0"`, `"2.0"`, `"2.0"`, `"2.0"`, `"2\u002e0"`, `"1.0"`, `2.0`, `null`)}
	add := func(often int, member string) {
		if r.IntN(often) > 0 {
			members = append(members, member)
		}
	}
	add(10, `"id"`+pick(r, ":", ": ")+pick(r, `1`, `1`, `"a"`, `"<a>"`, `null`, `-1.5e3`, `{}`, `[1, 2]`, `true`, `""`, `"\ud800"`))
	add(20, pick(r, `"method"`, `"method"`, `"method"`, `"Method"`, `"m\u0065thod"`)+`:`+pick(r, methods...))
	add(8, `"params":`+pick(r, `[]`, `null`, randomValue(r, 3), "["+randomValue(r, 2)+"]", "["+randomValue(r, 2)+", "+randomValue(r, 2)+"]", "["+randomValue(r, 1)+","+randomValue(r, 1)+","+randomValue(r, 1)+"]"))
	if r.IntN(12) == 0 {
		members = append(members, pick(r, `"result":1`, `"error":{"code":1}`, `"more":[{}]`, `"method":7`, `"id":2`, `"params":[]`, `"":0`, `"ID":9`))
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	space := pick(r, "", "", " ", "\n\t")
	return space + "{" + space + strings.Join(members, ","+space) + "}" + space
}

// randomBody returns the body of a request.
func randomBody(seed uint64, methods ...string) string {
	r := rand.New(rand.NewPCG(seed, 1))
	body := randomCall(r, methods...)
	if r.IntN(3) == 0 {
		var calls []string
		for range r.IntN(5) {
			calls = append(calls, randomCall(r, methods...))
		}
		body = pick(r, "", " ") + "[" + strings.Join(calls, ",") + "]"
	}
	if r.IntN(20) == 0 && len(body) > 0 {
		at := r.IntN(len(body))
		body = pick(r, body[:at], body+body[at:], body[:at]+`"`+body[at:], body+" {}")
	}
	return body
}

var fuzzedMethods = []string{`"t_nothing"`, `"t_echo"`, `"t_echo"`, `"t_need"`, `"t_raw"`, `"t_big"`, `"t_block"`, `"t_map"`, `"t_bytes"`, `"t_null"`, `"t_none"`, `"t_unwritable"`, `"t_two"`,
	`"t_crash"`, `"t_only"`, `"t_fail"`, `"t_Echo"`, `"t_nope"`, `"t"`, `"u_echo"`, `""`, `null`, `7`, `"t\u005fecho"`, `"rpc_modules"`, `"t_subscribe"`, `"t_unsubscribe"`, `"u_subscribe"`, `"_unsubscribe"`,
	`"t_quiet"`, `"t_subscription"`, `"t_<é>"`, `"` + strings.Repeat("m", 2049) + `"`}

// answered returns a handler's response to a request.
func answered(h http.Handler, method, target, contentType, body string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, target, strings.NewReader(body)), httptest.NewRecorder()
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	h.ServeHTTP(w, r)
	return w
}

// newFuzzed returns a server that caches results, and go-ethereum's.
func newFuzzed(f *testing.F) (*Server, *oracle.Server) {
	ethlog.SetDefault(ethlog.NewLogger(ethlog.DiscardHandler()))
	memory := NewMemory(new(cache.Group), map[string]bool{"t_echo": true, "t_raw": true, "t_map": true, "t_fail": true}, func(context.Context) (Revision, error) { return Revision{}, nil })
	ours, theirs := New(Options{MaxBody: 1 << 20, Memory: memory}, Namespace{Name: "t", Methods: quiet{}}), oracle.NewServer()
	theirs.SetBatchLimits(batchItems, batchBytes)
	if err := theirs.RegisterName("t", quietOracle{}); err != nil {
		f.Fatal(err)
	}
	return ours, theirs
}

var fuzzedBodies = []string{
	`{"jsonrpc":"2.0","id":1,"method":"t_echo","params":["0x00","latest"]}`, `{"method":"t_echo","id":"a-7","jsonrpc":"2.0"}`, ``, ` `, `[]`, `{`, `null`, `[null]`, `{} {}`, `[1,{}]`,
	` { "id" : 12345678901234567890 , "params" : [ "<é>" , {"blockHash":[1e5,null,"\u2028 &"]} ] , "jsonrpc" : "2.0" , "method" : "t_raw" } `, `[{"jsonrpc":"2.0","method":"t_echo"}]`,
	`{"jsonrpc":"2.0","id":1,"method":"t_echo","params":[1,2,3]}`, `{"jsonrpc":"2.0","id":1,"result":1}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"t_echo\",\"params\":[\"\xff\"]}",
	`[` + strings.Repeat(`{},`, batchItems) + `{"jsonrpc":"2.0","id":7,"method":"t_echo"}]`, `{"jsonrpc":"2.0","id":1,"method":"t_subscribe","params":["quiet"]}`,
}

// notCompared reports whether a body is too large to compare, or a batch that continues after the call that makes it too large; the rest is not read.
func notCompared(body string) bool {
	items := 0
	if json.Valid([]byte(body)) {
		for range elements([]byte(body)) {
			items++
		}
	}
	return len(body) > 1<<16 || items > batchItems+1 || bytes.Count([]byte(body), []byte{','}) >= mostValues
}

// FuzzHTTP compares the responses to any body with go-ethereum's server, byte by byte, the first and the second time. A nonzero seed makes a body
// that resembles a request.
func FuzzHTTP(f *testing.F) {
	for i, body := range fuzzedBodies {
		f.Add(uint64(0), uint8(0), body)
		f.Add(uint64(i+1), uint8(i), "")
	}
	ours, theirs := newFuzzed(f)
	types := []string{"application/json", "application/json; charset=utf-8", "application/json-rpc", "text/plain", "", "APPLICATION/JSON", "application/json;"}
	f.Fuzz(func(t *testing.T, seed uint64, how uint8, body string) {
		if seed != 0 {
			body = randomBody(seed, fuzzedMethods...)
		}
		if notCompared(body) {
			return
		}
		method, target := http.MethodPost, "/"
		if how >= 128 {
			method = []string{"GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"}[how%6]
		}
		if how%8 == 3 {
			target = "/?x=1"
		}
		first := body
		if d := json.NewDecoder(strings.NewReader(body)); d.Decode(new(json.RawMessage)) == nil {
			first = body[:d.InputOffset()] // a node of the network reads no further
		}
		contentType := types[int(how)%16%len(types)]
		want := answered(theirs, method, target, contentType, first)
		text := want.Body.String()
		if mark := want.Header().Get("Transfer-Encoding"); want.Code == http.StatusOK && text != "" && mark == "" {
			text += "\n"
		}
		for range 3 {
			got := answered(ours, method, target, contentType, body)
			if got.Code != want.Code || got.Body.String() != text || got.Header().Get("Content-Type") != want.Header().Get("Content-Type") {
				t.Fatalf("%s %s %s %q:\n%d %s %q, want\n%d %s %q", method, target, contentType, body, got.Code, got.Header(), got.Body, want.Code, want.Header(), text)
			}
		}
	})
}

// anyID matches the ids of subscriptions.
var anyID = regexp.MustCompile(`"result":"0x[0-9a-f]+"`)

// FuzzWebSocket compares the answers to WebSocket messages with go-ethereum's server.
func FuzzWebSocket(f *testing.F) {
	for i, body := range fuzzedBodies {
		f.Add(uint64(0), body)
		f.Add(uint64(i+1), "")
	}
	ours, theirs := newFuzzed(f)
	var urls []string
	for _, h := range []http.Handler{ours.WebSocket(), theirs.WebsocketHandler([]string{"*"})} {
		server := httptest.NewServer(h)
		f.Cleanup(server.Close)
		urls = append(urls, "ws"+strings.TrimPrefix(server.URL, "http"))
	}
	f.Cleanup(ours.Close)
	f.Cleanup(theirs.Stop)
	var clients [2]*websocket.Conn
	f.Fuzz(func(t *testing.T, seed uint64, body string) {
		if seed != 0 {
			body = randomBody(seed, fuzzedMethods...)
		}
		if notCompared(body) {
			return
		}
		valid := json.Valid([]byte(body))
		silent := valid && answered(theirs, http.MethodPost, "/", "application/json", body).Body.Len() == 0
		var said [2]string
		for i := range clients {
			if clients[i] == nil {
				var err error
				if clients[i], _, err = websocket.DefaultDialer.Dial(urls[i], nil); err != nil {
					t.Fatal(err)
				}
			}
			c := clients[i]
			if err := c.WriteMessage(websocket.TextMessage, []byte(body)); err != nil {
				t.Fatal(err)
			}
			if silent {
				continue
			}
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, message, err := c.ReadMessage()
			if err != nil {
				t.Fatalf("%d: %q: %v", i, body, err)
			}
			said[i] = anyID.ReplaceAllString(strings.TrimSuffix(string(message), "\n"), `"result":"0x"`)
			if !valid {
				_ = c.Close()
				clients[i] = nil
			}
		}
		if said[0] != said[1] {
			t.Errorf("%q:\n%s, want\n%s", body, said[0], said[1])
		}
	})
}

// fuzzedService has methods like avalanchego's services.
type fuzzedService struct{}

// FuzzedArgs has fields of several kinds.
type FuzzedArgs struct {
	Name   string           `json:"name"`
	Amount avalanche.Uint64 `json:"amount"`
	More   []string         `json:"more"`
}

// FuzzedReply repeats the arguments.
type FuzzedReply struct {
	Said   FuzzedArgs `json:"said"`
	Absent *int       `json:"absent,omitempty"`
}

func (fuzzedService) GetSaid(_ *http.Request, args *FuzzedArgs, reply *FuzzedReply) error {
	reply.Said = *args
	return nil
}

func (fuzzedService) Fail(_ *http.Request, args *FuzzedArgs, _ *FuzzedReply) error {
	if args.Amount > 0 {
		return &json2.Error{Code: -32005, Message: args.Name, Data: args.More}
	}
	return errors.New("<failed> " + args.Name)
}

func (fuzzedService) Loose(_ *http.Request, args, reply *any) error {
	*reply = args
	return nil
}

var serviceMethods = []string{`"s.getSaid"`, `"s.getSaid"`, `"s.getSaid"`, `"s.fail"`, `"s.loose"`, `"s.GetSaid"`, `"s.nope"`, `"x.getSaid"`, `"s"`, `"s."`, `".getSaid"`, `"s.get.said"`, `""`, `null`, `7`, `"\u0073.getSaid"`,
	`"s.éa"`, "\"s.\xff\"", `"other.getSaid"`}

// FuzzServices compares the answers to any body with gorilla's server and avalanchego's codec.
func FuzzServices(f *testing.F) {
	for i, body := range append(fuzzedBodies, `{"jsonrpc":"2.0","id":1,"method":"s.getSaid","params":{"name":"a","amount":"7","more":["b"]}}`, `{"jsonrpc":"2.0","id":1,"method":"s.getSaid","params":[{"amount":7}]}`,
		`{"JSONRPC":"2.0","Id":1,"METHOD":"s.fail","Params":{"name":"x","amount":1}}`, `{"jsonrpc":"2.0","id":"<1>","method":"s.fail"} more`, `{"jsonrpc":2,"id":1}`, `{"id":{"a": 1},"jsonrpc":"1"}`) {
		f.Add(uint64(0), uint8(0), body)
		f.Add(uint64(i+1), uint8(i), "")
	}
	memory := NewMemory(new(cache.Group), map[string]bool{"s.getSaid": true, "s.fail": true}, func(context.Context) (Revision, error) { return Revision{}, nil })
	ours, err := NewServices(Options{MaxBody: 1 << 20, Memory: memory}, Service{"s", fuzzedService{}}, Service{"other", fuzzedService{}})
	if err != nil {
		f.Fatal(err)
	}
	theirs := gorilla.NewServer()
	for _, contentType := range []string{"application/json", "application/json;charset=UTF-8"} {
		theirs.RegisterCodec(avalanche.NewCodec(), contentType)
	}
	for _, name := range []string{"s", "other"} {
		if err := theirs.RegisterService(fuzzedService{}, name); err != nil {
			f.Fatal(err)
		}
	}
	types := []string{"application/json", "application/json", "application/json; charset=utf-8", "Application/JSON;", "application/json ;", "", "text/plain"}
	f.Fuzz(func(t *testing.T, seed uint64, how uint8, body string) {
		if seed != 0 {
			body = randomBody(seed, serviceMethods...)
		}
		if len(body) > 1<<16 || checkTexts([]byte(body)) != "" {
			return
		}
		method := http.MethodPost
		if how >= 192 {
			method = []string{"GET", "PUT", "OPTIONS", "HEAD"}[how%4]
		}
		contentType := types[int(how)%16%len(types)]
		want := answered(theirs, method, "/", contentType, body)
		for range 3 {
			got := answered(ours, method, "/", contentType, body)
			if got.Code != want.Code || got.Body.String() != want.Body.String() || got.Header().Get("Content-Type") != want.Header().Get("Content-Type") {
				t.Fatalf("%s %s %q:\n%d %s %q, want\n%d %s %q", method, contentType, body, got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
			}
		}
	})
}
