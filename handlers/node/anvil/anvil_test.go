package anvil_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/handlers/node/anvil"
	"snowglobe/handlers/node/rpc"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// node serves the methods of a C-Chain.
type node struct {
	*testing.T
	*miner.Miner
	world  *sim.World
	server *rpc.Server
	logged []bool // what the log was turned
}

func newNode(t *testing.T) *node { return serve(t, seedtest.Copy(t, 1)) }

func serve(t *testing.T, w *sim.World) *node {
	network := w.Networks[0]
	n := &node{T: t, Miner: w.MinerOf(network.CChain()), world: w}
	n.server = rpc.New(rpc.Options{MaxBody: 1 << 20}, anvil.Namespaces(n.Miner, anvil.Options{
		Network: network, Advance: w.Advance, Version: anvil.ClientVersion("1.2.3"), Log: func(on bool) { n.logged = append(n.logged, on) },
	})...)
	return n
}

// ask calls a method and returns its result as JSON, or its error.
func (n *node) ask(method string, params ...any) (string, error) {
	n.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		n.Fatal(err)
	}
	r, w := httptest.NewRequest("POST", "/", bytes.NewReader(body)), httptest.NewRecorder()
	r.Header.Set("Content-Type", "application/json")
	n.server.ServeHTTP(w, r)
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		n.Fatalf("%s: %v: %s", method, err, w.Body)
	}
	if answer.Error != nil {
		return "", fmt.Errorf("%d %s", answer.Error.Code, answer.Error.Message)
	}
	return string(answer.Result), nil
}

// want calls a method that answers exactly this.
func (n *node) want(result, method string, params ...any) {
	n.Helper()
	if have, err := n.ask(method, params...); have != result || err != nil {
		n.Errorf("%s %v: %s %v, want %s", method, params, have, err, result)
	}
}

// refuses calls a method that fails with this text.
func (n *node) refuses(text, method string, params ...any) {
	n.Helper()
	if have, err := n.ask(method, params...); err == nil || !strings.Contains(err.Error(), text) {
		n.Errorf("%s %v: %s %v, want an error with %q", method, params, have, err, text)
	}
}

func (n *node) head() *reader.Block {
	n.Helper()
	b, err := n.Chain.Head(n.Context())
	if err != nil {
		n.Fatal(err)
	}
	return b
}

func (n *node) state() *state.StateDB {
	n.Helper()
	states, err := n.Chain.State(n.Context(), n.head())
	if err != nil {
		n.Fatal(err)
	}
	return states
}

// send sends 1 wei from an account without its key.
func (n *node) send(from common.Address) common.Hash {
	n.Helper()
	nonce, err := n.Nonce(n.Context(), from)
	if err != nil {
		n.Fatal(err)
	}
	id := new(big.Int).SetUint64(n.Chain.Row.EVMID)
	tx, err := evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: nonce, Gas: 21_000, GasTipCap: new(big.Int), GasFeeCap: big.NewInt(1e12), To: &common.Address{1}, Value: common.Big1}), id, from)
	if err != nil {
		n.Fatal(err)
	}
	if err := n.SendFrom(n.Context(), tx, from); err != nil {
		n.Fatal(err)
	}
	return tx.Hash()
}

func (n *node) persona() common.Address {
	n.Helper()
	all, err := n.world.DB.Personas(n.Context())
	if err != nil {
		n.Fatal(err)
	}
	return common.BytesToAddress(all[0].Address)
}

// TestState: each name of a method that changes an account does the same at once, without a block, and answers as the tool that the name is from.
func TestState(t *testing.T) {
	n := newNode(t)
	height := n.head().Number
	for i, c := range []struct {
		result, method string
		params         []any
		shows          func(s *state.StateDB, of common.Address) any
		want           any
	}{
		{"null", "anvil_setBalance", []any{"0x10"}, balance, "16"},
		{"true", "hardhat_setBalance", []any{"17"}, balance, "17"},
		{"true", "evm_setAccountBalance", []any{18}, balance, "18"},
		{"null", "tenderly_setBalance", []any{"0x13"}, balance, "19"},
		{"null", "anvil_addBalance", []any{"0x5"}, balance, "5"},
		{"true", "hardhat_addBalance", []any{6}, balance, "6"},
		{"null", "tenderly_addBalance", []any{"7"}, balance, "7"},
		{"null", "anvil_setNonce", []any{"0x8"}, nonce, uint64(8)},
		{"true", "hardhat_setNonce", []any{9}, nonce, uint64(9)},
		{"true", "evm_setAccountNonce", []any{"10"}, nonce, uint64(10)},
		{"null", "anvil_setCode", []any{"0x6001"}, code, "0x6001"},
		{"true", "hardhat_setCode", []any{"0x6002"}, code, "0x6002"},
		{"true", "evm_setAccountCode", []any{"0x6003"}, code, "0x6003"},
		{"true", "anvil_setStorageAt", []any{"0x5", common.Hash{31: 1}}, slot, common.Hash{31: 1}},
		{"true", "hardhat_setStorageAt", []any{5, common.Hash{31: 2}}, slot, common.Hash{31: 2}},
		{"true", "evm_setAccountStorageAt", []any{"5", common.Hash{31: 3}}, slot, common.Hash{31: 3}},
	} {
		address := common.Address{0xaa, byte(i)}
		if strings.Contains(c.method, "torage") {
			n.want("null", "anvil_setCode", address, "0x00")
		}
		n.want(c.result, c.method, append([]any{address}, c.params...)...)
		if have := c.shows(n.state(), address); have != c.want {
			t.Errorf("%s: %v, want %v", c.method, have, c.want)
		}
	}
	a := common.Address{0xaa, 0}
	n.want("null", "anvil_addBalance", a, "0x4")
	if have := balance(n.state(), a); have != "20" {
		t.Errorf("16 wei and 4 are %v", have)
	}
	most := "0x" + strings.Repeat("ff", 32)
	n.want("null", "anvil_addBalance", a, most)
	if have := fmt.Sprintf("%#x", n.state().GetBalance(a)); have != most {
		t.Errorf("the most that an account can have is %s", have)
	}
	n.refuses("-32602 missing value for required argument 1", "anvil_setBalance", a)
	n.refuses("-32602 invalid argument 1: expected a number", "anvil_setBalance", a, "-1")
	n.refuses("-32602 invalid argument 1: expected a number", "anvil_setBalance", a, "0x1"+strings.Repeat("00", 32))
	n.refuses("-32602 invalid argument 0", "anvil_setBalance", "0x12", "0x1")
	n.refuses("-32602 invalid argument 1", "anvil_setCode", a, "0x6")
	n.refuses("-32602 invalid argument 2", "anvil_setStorageAt", a, "0x1", "0x2")
	n.want("null", "anvil_setNonce", a, 8)
	n.want("null", "anvil_setNonce", a, 3) // anvil lowers it
	n.refuses("must not be smaller", "hardhat_setNonce", a, 2)
	n.want("null", "anvil_setNonce", a, uint64(1)<<62)
	n.refuses("the nonce is 4611686018427387905: expected at most 4611686018427387904", "anvil_setNonce", a, uint64(1)<<62+1)
	if n.head().Number != height {
		t.Errorf("the chain grew to %d", n.head().Number)
	}
}

func balance(s *state.StateDB, of common.Address) any { return s.GetBalance(of).Dec() }
func nonce(s *state.StateDB, of common.Address) any   { return s.GetNonce(of) }
func code(s *state.StateDB, of common.Address) any    { return hexutil.Encode(s.GetCode(of)) }
func slot(s *state.StateDB, of common.Address) any    { return s.GetState(of, common.Hash{31: 5}) }

// TestTokens: a token's balance and allowance are what was asked for, whichever slot holds them; what has no such slot is refused in anvil's words.
func TestTokens(t *testing.T) {
	n := newNode(t)
	tokens, err := n.world.DB.Tokens(n.Context(), n.Chain.Row.ID, store.ERC20, 0)
	if err != nil {
		t.Fatal(err)
	}
	owner, spender, dealt := common.Address{0xbb}, common.Address{0xcc}, 0
	word := func(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }
	read := func(token common.Address, name string, words ...[]byte) string {
		input := hexutil.Bytes(append(crypto.Keccak256([]byte(name))[:4], bytes.Join(words, nil)...))
		result, err := n.Chain.Call(n.Context(), n.head(), &reader.Call{To: &token, Input: &input}, reader.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		return new(big.Int).SetBytes(result.Return()).String()
	}
	for _, row := range tokens {
		dealt++
		token := common.BytesToAddress(row.Address)
		for i, c := range []struct{ result, method string }{{"null", "anvil_dealERC20"}, {"null", "anvil_setERC20Balance"}, {"true", "hardhat_dealERC20"}} {
			n.want(c.result, c.method, owner, token, 1000+i)
			if have := read(token, "balanceOf(address)", word(owner)); have != fmt.Sprint(1000+i) {
				t.Errorf("%s: %s", c.method, have)
			}
		}
		n.want("null", "anvil_setERC20Allowance", owner, spender, token, "0x7")
		if have := read(token, "allowance(address,address)", word(owner), word(spender)); have != "7" {
			t.Errorf("the allowance is %s", have)
		}
	}
	if dealt == 0 {
		t.Error("the chain has no token")
	}
	switcher := common.Address{0xdd} // answers 1 while slot 0 holds anything: the slot is no balance, though 1 in it is answered
	n.want("null", "anvil_setCode", switcher, "0x600054151560005260206000f3")
	for _, contract := range []common.Address{switcher, {0xee}, owner} {
		n.refuses("Unable to set ERC20 balance, no slot found", "anvil_dealERC20", owner, contract, 1)
		n.refuses("Unable to set ERC20 allowance, no slot found", "anvil_setERC20Allowance", owner, spender, contract, 1)
	}
}

// TestMining: each name makes the blocks that it is asked for, at the times that it is given.
func TestMining(t *testing.T) {
	n := newNode(t)
	n.want("null", "anvil_setBlockTimestampInterval", 0)
	for _, c := range []struct {
		result, method string
		params         []any
		blocks         uint64
		spacing        uint64 // seconds, 0 for any
	}{
		{`"0x0"`, "evm_mine", nil, 1, 0},
		{`"0x0"`, "evm_mine", []any{map[string]any{"blocks": 3}}, 3, 0},
		{"null", "anvil_mine", nil, 1, 0},
		{"null", "anvil_mine", []any{"0x2", 60}, 2, 60},
		{"true", "hardhat_mine", []any{2, "0x3c"}, 2, 60},
		{"null", "anvil_mine", []any{0}, 0, 0},
	} {
		before := n.head()
		n.want(c.result, c.method, c.params...)
		if n.head().Number != before.Number+c.blocks {
			t.Errorf("%s %v made %d blocks", c.method, c.params, n.head().Number-before.Number)
		}
		if c.spacing == 0 {
			continue
		}
		parent, err := n.Chain.Block(t.Context(), n.head().Number-1)
		if err != nil || n.head().Header.Time-parent.Header.Time != c.spacing {
			t.Errorf("%s %v: blocks are %d s apart: %v", c.method, c.params, n.head().Header.Time-parent.Header.Time, err)
		}
	}
	at := n.head().Header.Time
	next := func(want uint64) {
		t.Helper()
		if n.head().Header.Time != want {
			t.Errorf("the block is at %d, want %d", n.head().Header.Time, want)
		}
	}
	n.want(`"0x0"`, "evm_mine", at+100)
	next(at + 100)
	n.want(`"0x0"`, "evm_mine", map[string]any{"timestamp": hexutil.EncodeUint64(at + 200), "blocks": 1})
	next(at + 200)
	n.want(fmt.Sprintf(`"%d"`, at+300), "evm_setNextBlockTimestamp", at+300)
	n.want("null", "anvil_mine")
	next(at + 300)
	n.want("null", "anvil_setNextBlockTimestamp", at+400)
	n.want("null", "anvil_mine")
	next(at + 400)
	n.want("null", "anvil_setBlockTimestampInterval", 500)
	n.want("null", "anvil_mine", 2)
	next(at + 1400)
	n.want("true", "anvil_removeBlockTimestampInterval")
	n.want("false", "anvil_removeBlockTimestampInterval")
	height := n.head().Number
	for _, c := range []struct {
		text, method string
		params       []any
	}{
		{"lower than or equal to previous block's timestamp", "evm_mine", []any{at}},
		{"lower than or equal to previous block's timestamp", "evm_mine_detailed", []any{at}},
		{"lower than or equal to previous block's timestamp", "evm_setNextBlockTimestamp", []any{at}},
		{"lower than or equal to previous block's timestamp", "anvil_setNextBlockTimestamp", []any{at}},
		{"the number of blocks is 100001: expected at most 100000", "anvil_mine", []any{100_001}},
		{"the number of blocks is 100001: expected at most 100000", "evm_mine", []any{map[string]any{"blocks": 100_001}}},
		{"the number of blocks is 1001: expected at most 1000", "anvil_mine_detailed", []any{map[string]any{"blocks": 1001}}},
		{"the interval is 31536001: expected at most 31536000", "hardhat_mine", []any{1, 31_536_001}},
		{"the interval is 31536001: expected at most 31536000", "anvil_setIntervalMining", []any{31_536_001}},
		{"the interval is 31536000001: expected at most 31536000000", "evm_setIntervalMining", []any{31_536_000_001}},
		{"the interval is 31536001: expected at most 31536000", "anvil_setBlockTimestampInterval", []any{31_536_001}},
		{"the timestamp is 922337203685478: expected at most 922337203685477", "evm_setNextBlockTimestamp", []any{922_337_203_685_478}},
		{"the gas limit is 9223372036854775808: expected at most 9223372036854775807", "evm_setBlockGasLimit", []any{"0x8000000000000000"}},
	} {
		n.refuses(c.text, c.method, c.params...)
	}
	if n.head().Number != height {
		t.Error("a refused request made blocks")
	}
}

// TestDetailedBlocks: the blocks come in full, each transaction with its output.
func TestDetailedBlocks(t *testing.T) {
	n := newNode(t)
	for _, method := range []string{"evm_mine_detailed", "anvil_mine_detailed"} {
		n.SetAutomine(false)
		hash := n.send(n.persona())
		at := n.head().Header.Time + 70
		text, err := n.ask(method, map[string]any{"blocks": 2, "timestamp": at})
		var blocks []struct {
			Number, Timestamp hexutil.Uint64
			Transactions      []struct {
				Hash   common.Hash
				Output hexutil.Bytes
			}
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &blocks)
		}
		if err != nil || len(blocks) != 2 || uint64(blocks[1].Number) != n.head().Number || uint64(blocks[0].Timestamp) != at || len(blocks[0].Transactions) != 1 || blocks[0].Transactions[0].Hash != hash {
			t.Errorf("%s: %s %v", method, text, err)
		}
		if text, err = n.ask(method); err != nil || strings.Count(text, `"parentHash"`) != 1 {
			t.Errorf("%s without parameters: %s %v", method, text, err)
		}
	}
}

// TestSettings: what one name sets, the other reads, and the next block shows.
func TestSettings(t *testing.T) {
	n := newNode(t)
	n.want("true", "evm_setAutomine", false)
	n.want("false", "anvil_getAutomine")
	n.want("false", "hardhat_getAutomine")
	n.want("null", "anvil_setAutomine", true)
	n.want("true", "anvil_getAutomine")
	n.want("true", "hardhat_getAutomine")
	n.want("null", "anvil_getIntervalMining")
	n.want("true", "evm_setIntervalMining", 3_600_000) // Hardhat counts milliseconds and leaves automine
	n.want("3600", "anvil_getIntervalMining")
	n.want("true", "anvil_getAutomine")
	n.want("null", "anvil_setIntervalMining", 7200)
	n.want("7200", "anvil_getIntervalMining")
	n.want("false", "anvil_getAutomine")
	n.want("null", "anvil_setIntervalMining", 0)
	n.want("null", "anvil_getIntervalMining")
	for i, method := range []string{"evm_setBlockGasLimit", "anvil_setBlockGasLimit"} {
		n.want("true", method, 9_000_000+i)
		n.want("null", "anvil_mine")
		if limit := n.head().Header.GasLimit; limit != uint64(9_000_000+i) {
			t.Errorf("%s: the limit is %d", method, limit)
		}
	}
	for i, c := range []struct{ result, fee, coinbase string }{
		{"null", "anvil_setNextBlockBaseFeePerGas", "anvil_setCoinbase"}, {"true", "hardhat_setNextBlockBaseFeePerGas", "hardhat_setCoinbase"},
	} {
		n.want(c.result, c.fee, hexutil.EncodeUint64(70e9+uint64(i)))
		n.want(c.result, c.coinbase, common.Address{0xc0, byte(i)})
		n.want("null", "anvil_mine")
		if h := n.head().Header; h.BaseFee.Int64() != 70e9+int64(i) || h.Coinbase != (common.Address{0xc0, byte(i)}) {
			t.Errorf("%s, %s: %d %s", c.fee, c.coinbase, h.BaseFee, h.Coinbase)
		}
	}
	n.want("null", "anvil_setChainId", n.Chain.Row.EVMID)
	n.refuses("-32004 the chain id is 43114 for good", "anvil_setChainId", 1)
	n.refuses("the chain id is 43114 for good", "anvil_setChainId", "0x1000000000000a86a")
	n.want("null", "anvil_setLoggingEnabled", false)
	n.want("true", "hardhat_setLoggingEnabled", true)
	if fmt.Sprint(n.logged) != "[false true]" {
		t.Errorf("the log was turned %v", n.logged)
	}
}

// TestClock: moving the clock returns how far it moved.
func TestClock(t *testing.T) {
	n := newNode(t)
	before := n.world.Clock.Unix()
	n.want("3600", "evm_increaseTime", 3600)
	n.want("60", "anvil_increaseTime", "0x3c")
	n.want("40", "evm_setTime", before+3700)
	n.want("100", "anvil_setTime", before+3800)
	if now := n.world.Clock.Unix(); now != before+3800 {
		t.Errorf("the clock moved by %d s", now-before)
	}
	n.refuses("the time is 946080001: expected at most 946080000", "evm_increaseTime", 946_080_001)
	n.refuses("the timestamp is 922337203685478", "anvil_setTime", 922_337_203_685_478)
	n.refuses("", "evm_setTime", before)
}

// TestThePool: transactions leave it by hash, by sender, or all together.
func TestThePool(t *testing.T) {
	n := newNode(t)
	from := n.persona()
	n.SetAutomine(false)
	waiting := func(want int) {
		t.Helper()
		if have := len(n.Pool.All()); have != want {
			t.Errorf("%d transactions wait, want %d", have, want)
		}
	}
	first := n.send(from)
	n.want(fmt.Sprintf(`"%s"`, first), "anvil_dropTransaction", first)
	n.want("null", "anvil_dropTransaction", first)
	waiting(0)
	first = n.send(from)
	n.want("true", "hardhat_dropTransaction", first)
	n.want("false", "hardhat_dropTransaction", first)
	n.send(from)
	n.want("null", "anvil_dropAllTransactions")
	waiting(0)
	n.send(from)
	n.want("true", "hardhat_dropAllTransactions")
	waiting(0)
	n.send(from)
	n.want("null", "anvil_removePoolTransactions", common.Address{1})
	waiting(1)
	n.want("null", "anvil_removePoolTransactions", from)
	waiting(0)
	mined := n.send(from)
	n.want("null", "anvil_mine")
	n.refuses("cannot be dropped because it has already been mined", "hardhat_dropTransaction", mined)
	n.want("null", "anvil_dropTransaction", mined)
}

// TestImpersonation: an account sends without its key from start to stop, and ecrecover names whom a client chose.
func TestImpersonation(t *testing.T) {
	n := newNode(t)
	a := common.Address{0xab}
	is := func(want bool) {
		t.Helper()
		if n.Impersonation.Allows(a) != want {
			t.Errorf("impersonated: %t", !want)
		}
	}
	n.want("null", "anvil_impersonateAccount", a)
	is(true)
	n.want("null", "anvil_stopImpersonatingAccount", a)
	is(false)
	n.want("true", "hardhat_impersonateAccount", a)
	is(true)
	n.want("true", "hardhat_stopImpersonatingAccount", a)
	is(false)
	n.want("false", "hardhat_stopImpersonatingAccount", a)
	n.want("null", "anvil_autoImpersonateAccount", true)
	is(true)
	n.want("true", "hardhat_autoImpersonateAccount", false)
	is(false)

	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	digest := common.Hash{5}
	signature, err := crypto.Sign(digest[:], key)
	if err != nil {
		t.Fatal(err)
	}
	recovered := func() common.Address {
		input := hexutil.Bytes(append(append(digest[:], common.LeftPadBytes([]byte{signature[64] + 27}, 32)...), signature[:64]...))
		result, err := n.Chain.Call(n.Context(), n.head(), &reader.Call{To: &common.Address{19: 1}, Input: &input}, reader.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		return common.BytesToAddress(result.Return())
	}
	signer := crypto.PubkeyToAddress(key.PublicKey)
	for _, v := range []byte{signature[64], signature[64] + 27} {
		given := append(append(hexutil.Bytes{}, signature[:64]...), v)
		n.want("null", "anvil_impersonateSignature", given, a)
		if have := recovered(); have != a {
			t.Errorf("ecrecover names %s, want %s", have, a)
		}
		n.want("null", "anvil_impersonateSignature", given, common.Address{})
		if have := recovered(); have != signer {
			t.Errorf("afterwards ecrecover names %s, want %s", have, signer)
		}
	}
	for _, v := range []byte{2, 26, 29} {
		n.refuses("a signature has 65 bytes", "anvil_impersonateSignature", append(append(hexutil.Bytes{}, signature[:64]...), v), a)
	}
	n.refuses("a signature has 65 bytes", "anvil_impersonateSignature", hexutil.Bytes(signature[:64]), a)
}

// TestGoingBack: snapshots have numbers of the whole world, a revert uses them up, a reset goes to the beginning, and the metadata tell.
func TestGoingBack(t *testing.T) {
	n := newNode(t)
	metadata := func(method string) (m struct {
		ClientVersion     string
		ChainID           uint64
		InstanceID        common.Hash
		LatestBlockNumber uint64
		LatestBlockHash   common.Hash
		ForkedNetwork     *struct{}
		Snapshots         map[string][2]any
	}) {
		t.Helper()
		text, err := n.ask(method)
		if err == nil {
			err = json.Unmarshal([]byte(text), &m)
		}
		if err != nil || m.ClientVersion != "anvil/v1.7.1 (avalanchego/1.2.3)" || m.ChainID != 43114 || m.LatestBlockNumber != n.head().Number || m.LatestBlockHash != n.head().Hash || !strings.Contains(text, `"forkedNetwork":null,"snapshots":{`) {
			t.Errorf("%s: %s %v", method, text, err)
		}
		return m
	}
	height, begun := n.head().Number, metadata("anvil_metadata")
	for i, prefix := range []string{"evm_", "anvil_"} {
		id, err := n.ask(prefix + "snapshot")
		if err != nil || !strings.HasPrefix(id, `"0x`) {
			t.Fatal(id, err)
		}
		id = strings.Trim(id, `"`)
		n.want("null", "anvil_mine", 2)
		m := metadata("hardhat_metadata")
		if len(m.Snapshots) != 1 || m.Snapshots[id][0] != float64(height) || m.InstanceID != begun.InstanceID {
			t.Errorf("with snapshot %s: %+v", id, m)
		}
		n.want("true", prefix+"revert", id)
		n.want("false", prefix+"revert", id)
		n.want("false", prefix+"revert", "0x8000000000000000")
		if n.head().Number != height || len(metadata("anvil_metadata").Snapshots) > 0 {
			t.Errorf("round %d: the revert went to %d, want %d", i, n.head().Number, height)
		}
	}
	instance := begun.InstanceID
	for _, c := range []struct{ result, method string }{{"null", "anvil_reset"}, {"true", "hardhat_reset"}} {
		n.want("null", "anvil_mine")
		n.refuses("a world cannot fork another network", c.method, map[string]any{"forking": map[string]any{"jsonRpcUrl": "http://localhost"}})
		n.want(c.result, c.method, map[string]any{"forking": map[string]any{}})
		if m := metadata("anvil_metadata"); m.LatestBlockNumber != height || m.InstanceID == instance {
			t.Errorf("%s: %+v, was at %d in %s", c.method, m, height, instance)
		} else {
			instance = m.InstanceID
		}
		n.want(c.result, c.method)
	}
}

// TestNodeInfo describes the next block as NextBlock does.
func TestNodeInfo(t *testing.T) {
	n := newNode(t)
	n.SetNextBaseFee(big.NewInt(50e9))
	text, err := n.ask("anvil_nodeInfo")
	_, tip, problem := n.Prices(t.Context())
	next, failed := n.NextBlock(t.Context())
	if err = errors.Join(err, problem, failed); err != nil {
		t.Fatal(err)
	}
	h := n.head()
	want := fmt.Sprintf(`{"currentBlockNumber":"%#x","currentBlockTimestamp":%d,"currentBlockHash":"%s","hardFork":"Cancun","transactionOrder":"fees",`+
		`"environment":{"baseFee":"%#x","chainId":43114,"gasLimit":"%#x","gasPrice":"%#x"},"forkConfig":{"forkUrl":null,"forkBlockNumber":null,"forkRetryBackoff":null}}`,
		h.Number, h.Header.Time, h.Hash, int64(50e9), next.GasLimit, tip.Add(tip, big.NewInt(50e9)))
	if text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	first, err := n.Chain.Block(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	n.want(fmt.Sprint(first.Header.Time), "anvil_getGenesisTime")
}

// TestDumps: what one name dumps, another chain loads under the other name; what cannot be read is refused.
func TestDumps(t *testing.T) {
	n, other := newNode(t), newNode(t)
	a := common.Address{0xfa}
	for i, c := range []struct{ dump, load string }{{"anvil_dumpState", "hardhat_loadState"}, {"hardhat_dumpState", "anvil_loadState"}} {
		n.want("null", "anvil_setBalance", a, 100+i)
		n.want("null", "anvil_setNonce", a, 5+i)
		text, err := n.ask(c.dump)
		if err != nil {
			t.Fatal(err)
		}
		other.want("true", c.load, json.RawMessage(text))
		if s := other.state(); balance(s, a) != fmt.Sprint(100+i) || s.GetNonce(a) != uint64(5+i) {
			t.Errorf("%s: %v and nonce %d", c.load, balance(s, a), s.GetNonce(a))
		}
		n.refuses("state dump: ", c.load, "0x1234")
	}
	n.want("true", "anvil_loadState", hexutil.Bytes(`{"accounts":{"`+a.Hex()+`":{"nonce":9,"balance":"0x10","code":"0x60","storage":{"0x1":"0x2"}}}}`)) // not compressed
	if s := n.state(); balance(s, a) != "16" || s.GetNonce(a) != 9 || len(s.GetCode(a)) != 1 || s.GetState(a, evm.StateKey(n.Chain.Kind, common.Hash{31: 1})) != (common.Hash{31: 2}) {
		t.Errorf("of plain JSON: %s, nonce %d, code %x", balance(s, a), s.GetNonce(a), s.GetCode(a))
	}
	digest := n.world.Digest()
	n.refuses(`line 1: accounts.0x12: "0x12" is not an address`, "anvil_loadState", hexutil.Bytes(`{"accounts":{"0x00000000000000000000000000000000000000fb":{"nonce":0,"balance":"0x1","code":"0x","storage":{}},"0x12":{}}}`))
	if !bytes.Equal(n.world.Digest(), digest) {
		t.Error("a part of a refused dump was loaded")
	}
}

// TestNumbers come in any form that test clients use.
func TestNumbers(t *testing.T) {
	n := newNode(t)
	a := common.Address{0xf0}
	most := new(uint256.Int).SetAllOne()
	for _, c := range []struct{ given, want string }{
		{`5`, "5"}, {`"6"`, "6"}, {`"0x7"`, "7"}, {`"0XA"`, "10"}, {`"0x0b"`, "11"}, {`"` + most.Hex() + `"`, most.Dec()}, {`"` + most.Dec() + `"`, most.Dec()},
		{`"0x` + strings.Repeat("0", 99) + `c"`, "12"},
	} {
		n.want("null", "anvil_setBalance", a, json.RawMessage(c.given))
		if have := balance(n.state(), a); have != c.want {
			t.Errorf("%s: %s, want %s", c.given, have, c.want)
		}
	}
	for _, given := range []string{`-1`, `1.5`, `1e3`, `"+1"`, `"0x"`, `""`, `"0x-1"`, `"five"`, `true`, `"0x1` + strings.Repeat("0", 64) + `"`, `"` + strings.Repeat("0", 101) + `"`} {
		n.refuses("expected a number, in decimal or as 0x and hexadecimal digits", "anvil_setBalance", a, json.RawMessage(given))
	}
	n.refuses("expected a number", "evm_mine", "soon")
}

// TestRefused: methods that cannot work here say why, with the code of an unsupported method.
func TestRefused(t *testing.T) {
	n := newNode(t)
	for method, text := range map[string]string{
		"anvil_setMinGasPrice": "the minimum gas price cannot be set", "hardhat_setMinGasPrice": "the minimum gas price cannot be set",
		"anvil_setPrevRandao": "PREVRANDAO is 1", "anvil_setNextBlockPrevRandao": "PREVRANDAO is 1", "hardhat_setPrevRandao": "PREVRANDAO is 1",
		"anvil_getBlobByHash": "no blobs", "anvil_getBlobsByTransactionHash": "no blobs", "anvil_setRpcUrl": "not a fork",
		"anvil_classifyTransaction": "Tempo", "anvil_dealTIP20": "Tempo", "anvil_setFeeToken": "Tempo", "anvil_setValidatorFeeToken": "Tempo", "anvil_setFeeAmmLiquidity": "Tempo",
		"eth_getBlockAccessList": "EIP-7928", "eth_getBlockAccessListByBlockHash": "EIP-7928", "eth_getBlockAccessListByBlockNumber": "EIP-7928", "eth_getBlockAccessListRaw": "EIP-7928",
		"eth_signRawTransaction": "Tempo",
	} {
		if have, err := n.ask(method, 1); err == nil || !strings.HasPrefix(err.Error(), "-32004 ") || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %s %v", method, have, err)
		}
	}
}

// TestAReadOnlyWorld refuses every method that would change it.
func TestAReadOnlyWorld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	if err := seedtest.Generate(t, path, "tiny", 1).Close(); err != nil {
		t.Fatal(err)
	}
	w, err := sim.OpenReadOnly(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	n := serve(t, w)
	a, at := common.Address{1}, n.head().Header.Time+100
	for method, params := range map[string][]any{
		"evm_mine": nil, "anvil_mine": nil, "hardhat_mine": nil, "evm_mine_detailed": nil, "evm_setAutomine": {true}, "anvil_setAutomine": {true},
		"evm_setIntervalMining": {1}, "anvil_setIntervalMining": {1}, "evm_setBlockGasLimit": {1}, "anvil_setBlockGasLimit": {1},
		"anvil_setNextBlockBaseFeePerGas": {1}, "hardhat_setNextBlockBaseFeePerGas": {1}, "anvil_setCoinbase": {a}, "hardhat_setCoinbase": {a},
		"evm_setNextBlockTimestamp": {at}, "anvil_setNextBlockTimestamp": {at}, "anvil_setBlockTimestampInterval": {1}, "anvil_removeBlockTimestampInterval": nil,
		"anvil_dropTransaction": {common.Hash{}}, "hardhat_dropTransaction": {common.Hash{}}, "anvil_dropAllTransactions": nil, "hardhat_dropAllTransactions": nil,
		"anvil_removePoolTransactions": {a}, "anvil_impersonateAccount": {a}, "hardhat_impersonateAccount": {a}, "anvil_stopImpersonatingAccount": {a},
		"hardhat_stopImpersonatingAccount": {a}, "anvil_autoImpersonateAccount": {true}, "hardhat_autoImpersonateAccount": {true},
		"anvil_setBalance": {a, 1}, "anvil_setNonce": {a, 1}, "anvil_setCode": {a, "0x00"}, "anvil_setStorageAt": {a, 1, common.Hash{}}, "anvil_setChainId": {43114},
		"evm_increaseTime": {1}, "evm_setTime": {at}, "evm_snapshot": nil, "evm_revert": {1}, "anvil_reset": nil,
	} {
		n.refuses("read-only", method, params...)
	}
}
