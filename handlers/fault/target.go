package fault

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// class is a set of properties that decide which faults a request may have.
type class int

const (
	anyRequest   class = 1 << iota // over HTTP
	read                           // may be cut off, because it changes nothing
	send                           // of a transaction that is safe to send again
	receipt                        // of a transaction
	status                         // of a transaction of the P- or X-Chain
	indexed                        // is answered by the index
	paged                          // has pages
	resumed                        // has a page token
	notification                   // of a subscription
	message                        // of a webhook
	ofSocket                       // a call over WebSocket
	subscribing                    // over WebSocket
	chainRead                      // shows the newest block
	ofWorld
)

// target is a request, a notification or a message as a schedule sees it.
type target struct {
	class   class
	on, key string // names it
	what    string // describes it
	only    string // the only kind that fits; empty for any
}

// Parts of parameters that differ between runs of the same client: ports of this machine, and random ids of webhooks, messages and filters.
var (
	localPort = regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]):\d+`)
	randomID  = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	filterID  = regexp.MustCompile(`"0x[0-9a-f]{1,32}"`)
)

// hashed shortens the description of a request.
func hashed(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:8] }

// constant replaces the parts that differ between runs.
func constant(text string) string {
	return randomID.ReplaceAllString(localPort.ReplaceAllString(text, "$1:*"), "*")
}

// mostShown bounds the length of a request's description.
const mostShown = 120

func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '#' {
			return ' '
		}
		return r
	}, text)
	if len(text) > mostShown {
		return text[:mostShown] + "…"
	}
	return text
}

// targetOf returns the target of a request, nil if schedules leave it alone: tests set themselves up with the simulator's own methods.
func targetOf(r *Request) *target {
	if r.Calls != nil {
		return callTarget(r)
	}
	if r.Interface == "" || r.Interface == "sim" || r.Interface == "node" || r.Header.Get("Upgrade") != "" {
		return nil
	}
	query := url.Values{}
	if _, raw, found := strings.Cut(r.Text, "?"); found {
		query, _ = url.ParseQuery(raw) // the handler reports what is wrong with it
	}
	t := &target{on: r.Operation, class: anyRequest}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		t.class |= read | indexed
	}
	if r.Paged {
		t.class |= paged
	}
	if query.Get("pageToken") != "" {
		query.Set("pageToken", "*")
		t.class |= resumed
	}
	for _, key := range []string{"rltoken", "apikey"} {
		query.Del(key)
	}
	t.on = cmp.Or(t.on, r.Method)
	t.on = strings.ReplaceAll(t.on, " ", "_")
	what := constant(r.Path + "?" + query.Encode())
	t.key, t.what = hashed(r.Method+" "+what), shown(strings.ReplaceAll(strings.TrimSuffix(r.Method+" "+what, "?"), "%2A", "*"))
	return t
}

// callTarget returns the target of JSON-RPC calls. A batch is one request.
func callTarget(r *Request) *target {
	t := &target{class: anyRequest | read}
	socket := r.Header.Get("Upgrade") != ""
	var texts []string
	for _, c := range r.Calls {
		if control(c.Method) || socket && strings.HasSuffix(c.Method, "_unsubscribe") {
			return nil
		}
		texts = append(texts, c.Method+" "+c.identity())
		if changes(c.Method) {
			t.class &^= read
		}
	}
	t.on = r.Calls[0].Method
	if len(r.Calls) > 1 {
		t.on = "batch"
	} else if _, safeAgain := r.Calls[0].sent(); safeAgain {
		t.class |= send
	} else if asksStatus[t.on] {
		t.class |= status
	}
	if slices.ContainsFunc(r.Calls, asksReceipt) {
		t.class |= receipt
	}
	if slices.ContainsFunc(r.Calls, func(c Call) bool { return showsHead[c.Method] }) {
		t.class |= chainRead
	}
	t.on = cmp.Or(t.on, "none")
	text := constant(strings.Join(texts, "\n"))
	t.key, t.what = hashed(r.Path+" "+text), shown(strings.TrimSpace(text))
	if socket {
		t.class = t.class&(send|receipt|chainRead) | ofSocket
		t.what += " over WebSocket"
		if slices.ContainsFunc(r.Calls, func(c Call) bool { return strings.HasSuffix(c.Method, "_subscribe") }) {
			t.class = subscribing
		}
	}
	return t
}

// asksStatus lists the methods that return the status of a transaction on the P- or X-Chain.
var asksStatus = map[string]bool{"platform.getTxStatus": true, "avm.getTxStatus": true, "xvm.getTxStatus": true, "avax.getAtomicTxStatus": true}

func asksReceipt(c Call) bool { return c.Method == "eth_getTransactionReceipt" }

var showsHead = map[string]bool{"eth_getTransactionReceipt": true, "eth_getLogs": true, "eth_getBalance": true, "eth_getBlockByNumber": true, "eth_blockNumber": true, "eth_getTransactionByHash": true, "eth_call": true}

// control reports whether a method belongs to the simulator rather than the network.
func control(method string) bool {
	namespace, _, _ := strings.Cut(method, "_")
	return slices.Contains([]string{"anvil", "evm", "hardhat", "debug", "tenderly", "rpc"}, namespace) || method == "" || strings.HasPrefix(method, "admin.")
}

// changes reports whether repeating a method repeats its effect.
func changes(method string) bool {
	name := strings.ToLower(method[strings.LastIndexAny(method, "_.")+1:])
	words := []string{"send", "issue", "new", "uninstall", "unsubscribe", "subscribe", "getfilterchanges"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(name, word) })
}

// sent returns the account and nonce of the transaction that a call sends, and whether it names them, so that sending it again has the same effect.
func (c *Call) sent() (text string, ok bool) {
	switch c.Method {
	case "eth_sendRawTransaction":
		var args []hexutil.Bytes
		tx := new(types.Transaction)
		if json.Unmarshal(c.Params, &args) != nil || len(args) == 0 || tx.UnmarshalBinary(args[0]) != nil {
			return "", false
		}
		from, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx)
		return fmt.Sprintf("from %s with nonce %d", from, tx.Nonce()), err == nil
	case "eth_sendTransaction":
		var args []struct {
			From  *common.Address
			Nonce *hexutil.Uint64
		}
		if json.Unmarshal(c.Params, &args) != nil || len(args) == 0 || args[0].From == nil || args[0].Nonce == nil {
			return "", false
		}
		return fmt.Sprintf("from %s with nonce %d", args[0].From, uint64(*args[0].Nonce)), true
	}
	return "", false
}

// identity returns what distinguishes a call from other calls of its method.
func (c *Call) identity() string {
	if text, ok := c.sent(); ok {
		return text
	}
	if strings.Contains(c.Method, "Filter") {
		return filterID.ReplaceAllString(string(c.Params), `"*"`)
	}
	var compact any
	if json.Unmarshal(c.Params, &compact) != nil {
		return string(c.Params)
	}
	text, _ := json.Marshal(compact) // it was just decoded
	return string(text)
}

// eventTarget returns the target of a notification or a message.
func eventTarget(e *Event) *target {
	if e.Webhook != "" {
		return &target{class: message, on: e.Webhook, key: fmt.Sprint(e.Number), what: fmt.Sprintf("the webhook's message %d", e.Number)}
	}
	var known struct{ Number, TransactionHash string }
	_ = json.Unmarshal([]byte(e.Text), &known) // if it has another form, its text identifies it
	// The block of a log is left out: if transactions wait, others are in it.
	text := cmp.Or(known.Number, known.TransactionHash, e.Text)
	return &target{class: notification, on: e.Subscription, key: hashed(text), what: "the notification " + shown(e.Subscription+" "+text)}
}
