// Package kept keeps the results of calls of JSON-RPC that depend on accepted blocks alone. Who asks the same again, as pages do that
// poll, is answered without go-ethereum's server, which takes longer to call a method than most methods take.
package kept

import (
	"bytes"
	"hash/maphash"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/cache"
)

// methods are those whose results depend on accepted blocks and the states after them alone, unless a call names the pending block.
var methods = map[string]bool{
	"eth_blockNumber": true, "eth_chainId": true, "eth_feeHistory": true, "eth_getBalance": true, "eth_getBlockByHash": true, "eth_getBlockByNumber": true,
	"eth_getBlockReceipts": true, "eth_getBlockTransactionCountByHash": true, "eth_getBlockTransactionCountByNumber": true, "eth_getCode": true,
	"eth_getLogs": true, "eth_getStorageAt": true, "eth_getTransactionCount": true, "eth_getTransactionReceipt": true, "net_version": true,
}

// Bounds of what is kept of one call.
const (
	longestBody   = 2 << 10
	longestID     = 40
	longestResult = 64 << 10
)

// Call is a call whose result may be kept.
type Call struct {
	id      []byte
	request string // its method and parameters
}

// Read finds the call in the body of a request, which is valid JSON. What is written in an unusual way is left to go-ethereum's server, and
// so is what that may refuse.
func Read(r *http.Request, body []byte) (Call, bool) {
	if len(body) > longestBody {
		return Call{}, false
	}
	var version, id, method, params []byte
	for name, value := range jsonrpc.Members(body) {
		var member *[]byte
		switch string(name) {
		case "jsonrpc":
			member = &version
		case "id":
			member = &id
		case "method":
			member = &method
		case "params":
			member = &params
		}
		if member == nil || *member != nil {
			return Call{}, false
		}
		*member = value
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || string(version) != `"2.0"` || !plain(id) ||
		!methods[strings.Trim(string(method), `"`)] || !accepted(params) {
		return Call{}, false
	}
	return Call{id, string(method) + string(params)}, true
}

// accepted says whether parameters are a list, or none, in which the pending block is not named in any way.
func accepted(params []byte) bool {
	return len(params) == 0 || params[0] == '[' && !bytes.Contains(params, []byte("pending")) && bytes.IndexByte(params, '\\') < 0
}

// plain says whether an id is answered as it was written: a number without a sign, or a text of letters, digits and dashes.
func plain(id []byte) bool {
	if len(id) == 0 || len(id) > longestID {
		return false
	}
	letters := "0123456789"
	if id[0] == '"' {
		letters += "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
	}
	return strings.Trim(strings.Trim(string(id), `"`), letters) == ""
}

// Revision is what results depend on: while it is the same, so are they.
type Revision struct {
	Commits int64       // of the world
	Changes uint64      // of the chain's state without a block
	Head    common.Hash // of the chain, as readers see it
}

// Results are those that a chain gave lately to who asks again.
type Results struct {
	cache *cache.Cache[key, []byte]
	seed  maphash.Seed
	asked [lastAsked]atomic.Uint32 // parts of hashes of calls, each in its place
	given atomic.Uint64
}

// lastAsked is about how many calls are remembered as asked before. To keep the result of one that nobody asks again is a tenth of its work.
const lastAsked = 1 << 10

type key struct {
	request string
	Revision
}

// New makes room for results among the caches of a group.
func New(g *cache.Group) *Results {
	return &Results{cache: cache.New[key, []byte](g), seed: maphash.MakeSeed()}
}

// AskedAgain says whether a call was asked before, lately and at any revision.
func (s *Results) AskedAgain(call Call) bool {
	hash := maphash.String(s.seed, call.request)
	return s.asked[hash%lastAsked].Swap(uint32(hash>>32)) == uint32(hash>>32)
}

// The parts of an answer around the id and the result, as go-ethereum's server writes them; a node ends it with a line.
const (
	beforeID     = `{"jsonrpc":"2.0","id":`
	beforeResult = `,"result":`
	afterResult  = `}`
	end          = "\n"
)

// Answer is the answer to a call whose result is known.
func (s *Results) Answer(call Call, at Revision) (answer []byte, known bool) {
	result, known := s.cache.Get(key{call.request, at})
	if !known {
		return nil, false
	}
	s.given.Add(1)
	answer = make([]byte, 0, len(beforeID)+len(call.id)+len(beforeResult)+len(result)+len(afterResult)+len(end))
	return append(append(append(call.prefix(answer), result...), afterResult...), end...), true
}

// Given is how often results were given again.
func (s *Results) Given() uint64 { return s.given.Load() }

func (c *Call) prefix(b []byte) []byte {
	return append(append(append(b, beforeID...), c.id...), beforeResult...)
}

// Keep keeps the result in an answer of go-ethereum's server, if it has one.
func (s *Results) Keep(call Call, at Revision, answer []byte) {
	result, found := bytes.CutPrefix(answer, call.prefix(nil))
	if result, whole := bytes.CutSuffix(result, []byte(afterResult)); found && whole && len(result) <= longestResult {
		s.cache.Add(key{call.request, at}, bytes.Clone(result))
	}
}
