// Any two control methods in sequence, seen by every reader, across copy, restart, clock and revert.

package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/handlers/worlds"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/verify/verifytest"
)

// together is a world in a file and its server; the test uses its controls in pairs.
type together struct {
	*testing.T
	random *rand.Rand
	path   string
	manual bool // without automine, like --no-mining

	world *sim.World
	set   *worlds.Set
	stop  func()

	chain *reader.Chain // the current one
	token *common.Address
	below string // prefix of every path: that of a copy
	did   []string
	first map[uint64][]reading // what readers see of each chain in the new world
}

const (
	alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	bob   = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	fresh = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f"

	keeperCode = "60015460005260206000f3" // returns slot 1
)

func (p *together) open() {
	p.Helper()
	w, err := sim.Open(p.Context(), p.path)
	if err != nil {
		p.Fatal(err)
	}
	if err := w.Claim(p.Context()); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.Context())
	o := handlers.Options{Network: "mainnet", Relayer: true, Mining: handlers.Mining{Manual: p.manual}, People: peopleOf, Faucet: faucetOf}
	o.Many.Most, o.Many.MostBytes = 10, 1<<30
	if p.set, err = handlers.NewWorlds(ctx, w, o); err != nil {
		p.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.set.Work(ctx) }()
	p.world = w
	p.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			p.Error(err)
		}
		if err := p.set.Close(); err != nil {
			p.Error(err)
		}
		if err := w.Close(); err != nil {
			p.Error(err)
		}
	}
}

// choose switches to another chain: the C-Chain of either network, or an L1.
func (p *together) choose(number int) {
	p.Helper()
	p.chain = p.world.Chains[number]
	d := &devnet{T: p.T, world: p.world, chain: p.chain}
	p.token = d.contract("usdx")
}

func (p *together) one(values ...string) string { return values[p.random.IntN(len(values))] }

// rpc calls a method of the chain, and returns the result or the error.
func (p *together) rpc(method, params string) (result, refusal string) {
	p.Helper()
	path := p.below + "/" + p.chain.Row.Network + "/ext/bc/" + ids.ID(p.chain.Row.BlockchainID).String() + "/rpc"
	text := ask(p.set, http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":[`+params+`]}`)
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		p.failed("%s %s: %s", method, params, text)
	}
	if answer.Error != nil {
		if answer.Error.Message == "" || answer.Error.Code == -32603 || answer.Error.Code == -32601 {
			p.failed("%s %s: %s", method, params, text)
		}
		return "", answer.Error.Message
	}
	return string(answer.Result), ""
}

// must calls a method that must not be refused.
func (p *together) must(method, params string) string {
	p.Helper()
	result, refusal := p.rpc(method, params)
	if refusal != "" {
		p.failed("%s %s is refused: %s", method, params, refusal)
	}
	return result
}

func (p *together) rest(method, path, body string) string {
	p.Helper()
	text := ask(p.set, method, p.below+path, body)
	if strings.Contains(text, `"statusCode":5`) || !json.Valid([]byte(text)) && text != "" {
		p.failed("%s %s %s: %s", method, path, body, text)
	}
	return text
}

// failed reports the preceding actions.
func (p *together) failed(format string, values ...any) {
	p.Helper()
	p.Errorf("chain %d, %s%s:\n%s", p.chain.Row.EVMID, p.below, strings.Join(p.did, ", "), fmt.Sprintf(format, values...))
}

func (p *together) now() int64 { return p.world.Clock.Unix() }

func quoted(values ...any) string {
	text, _ := json.Marshal(values) // strings and numbers always encode
	return string(text[1 : len(text)-1])
}

// controls lists the methods by which clients control a chain, without prefixes, with valid parameters; nil for methods that only sign or read.
var controls = map[string]func(*together) string{
	"accounts": nil, "requestAccounts": nil, "pendingTransactions": nil, "sign": nil, "signTransaction": nil, "signTypedData_v4": nil,
	"getAutomine": nil, "getIntervalMining": nil, "getGenesisTime": nil, "getLastBlockWallTime": nil, "setChainId": nil, "metadata": nil, "nodeInfo": nil, "fillTransaction": nil,

	"addBalance":                   func(p *together) string { return quoted(p.someone(), p.one("0x0", "0xde0b6b3a7640000")) },
	"setBalance":                   func(p *together) string { return quoted(p.someone(), p.one("0x0", "0x21e19e0c9bab2400000")) },
	"setAccountBalance":            func(p *together) string { return quoted(p.someone(), "0x21e19e0c9bab2400000") },
	"setNonce":                     func(p *together) string { return quoted(fresh, 1+p.random.IntN(1000)) },
	"setAccountNonce":              func(p *together) string { return quoted(fresh, p.random.IntN(1000)) },
	"setCode":                      func(p *together) string { return quoted(p.one(fresh, bob), p.one("0x", "0x"+keeperCode)) },
	"setAccountCode":               func(p *together) string { return quoted(fresh, "0x"+keeperCode) },
	"setStorageAt":                 func(p *together) string { return quoted(p.one(fresh, p.token.Hex()), "0x1", word(p.random.IntN(3))) },
	"setAccountStorageAt":          func(p *together) string { return quoted(fresh, "0x1", word(p.random.IntN(3))) },
	"dealERC20":                    func(p *together) string { return quoted(p.someone(), p.token.Hex(), p.random.IntN(1e9)) },
	"setERC20Balance":              func(p *together) string { return quoted(p.someone(), p.token.Hex(), p.random.IntN(1e9)) },
	"setERC20Allowance":            func(p *together) string { return quoted(alice, bob, p.token.Hex(), p.random.IntN(1e9)) },
	"impersonateAccount":           func(p *together) string { return quoted(p.token.Hex()) },
	"stopImpersonatingAccount":     func(p *together) string { return quoted(p.token.Hex()) },
	"autoImpersonateAccount":       (*together).bool,
	"impersonateSignature":         func(p *together) string { return quoted("0x"+strings.Repeat("11", 64)+"1b", p.someone()) },
	"setAutomine":                  (*together).bool,
	"setLoggingEnabled":            (*together).bool,
	"setIntervalMining":            func(p *together) string { return p.one("0", "86400000") },
	"setBlockGasLimit":             func(p *together) string { return quoted(p.one("0xe4e1c0", "0x1c9c380", "0x5208", "0x0")) },
	"setBlockTimestampInterval":    func(p *together) string { return p.one("0", "1", "12", "86400") },
	"removeBlockTimestampInterval": (*together).nothing,
	"setNextBlockTimestamp":        (*together).later,
	"setTime":                      (*together).later,
	"increaseTime":                 func(p *together) string { return p.one("0", "1", "3600") },
	"setNextBlockBaseFeePerGas":    func(p *together) string { return quoted(p.one("0x0", "0x1", "0xba43b7400", "0xe8d4a51000")) },
	"setCoinbase":                  func(p *together) string { return quoted(p.someone()) },
	"mine": func(p *together) string {
		return p.one("", fmt.Sprint(p.now()+1+p.random.Int64N(3600)), `{"blocks":2}`)
	},
	"mine blocks":            func(p *together) string { return p.one("", "2", "0", `"0x2",60`) },
	"mine_detailed":          (*together).nothing,
	"dropAllTransactions":    (*together).nothing,
	"dropTransaction":        func(p *together) string { return quoted(p.waiting()) },
	"removePoolTransactions": func(p *together) string { return quoted(alice) },
	"reorg": func(p *together) string {
		return p.one("0", "1", "1,[]", `1,[[{"from":"`+alice+`","to":"`+bob+`"},0]]`, "2")
	},
	"rollback":                func(p *together) string { return p.one("", "0", "1") },
	"sendTransaction":         (*together).payment,
	"sendUnsignedTransaction": func(p *together) string { return `{"from":"` + fresh + `","to":"` + bob + `"}` },
	"snapshot":                (*together).nothing,
	"revert":                  func(p *together) string { return quoted(p.snapshot()) },
	"reset":                   (*together).nothing,
	"dumpState":               (*together).nothing,
	"loadState":               func(*together) string { return `"0x7b226163636f756e7473223a7b7d7d"` },
}

func word(n int) string { return fmt.Sprintf("0x%064x", n) }

func (p *together) nothing() string { return "" }
func (p *together) bool() string    { return p.one("true", "false") }
func (p *together) someone() string { return p.one(alice, bob, fresh) }
func (p *together) later() string   { return fmt.Sprint(p.now() + 1 + p.random.Int64N(3600)) }
func (p *together) payment() string {
	return `{"from":"` + alice + `","to":"` + p.one(bob, fresh) + `","value":"0x1"` + p.one("", `,"gasPrice":"0xe8d4a51000"`, `,"maxFeePerGas":"0xe8d4a51000"`) + "}"
}

// waiting returns the hash of a waiting transaction, or an unknown one.
func (p *together) waiting() string {
	if all := p.world.MinerOf(p.chain).Pool.All(); len(all) > 0 {
		return all[0].Hash().Hex()
	}
	return word(1)
}

// snapshot returns the newest snapshot unless it belongs to the test, or an unknown one.
func (p *together) snapshot() string {
	all, err := p.world.DB.Snapshots(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	if last := len(all) - 1; last >= 0 && all[last].Name == "" {
		return fmt.Sprintf("0x%x", all[last].ID)
	}
	return "0x9999"
}

// operations has a request for each operation of /sim that changes something; nil for those that affect only this process.
var operations = map[string]func(*together) string{
	"delete /sim/faults/{id}": nil, "delete /sim/requests": nil, "post /sim/requests:count": nil, "post /sim/requests:verify": nil,
	"post /sim/webhooks/{id}/deliveries/{messageId}:redeliver": nil, "post /sim/webhooks/{id}:test": nil,
	"post /sim/worlds": nil, "delete /sim/worlds/{name}": nil, // every pair makes a copy
	"post /sim/artifacts": nil, "post /sim/decode": nil, "post /sim/session:play": nil, "post /sim/session:back": nil,
	"delete /sim/snapshots/{id}": nil, "post /sim/snapshots/{id}:revert": nil, // every pair is between these two

	"post /sim/clock": func(p *together) string {
		return p.one(`{"advance":"1h"}`, `{"advance":"1ms"}`, `{"until":"next-block"}`, `{"freeze":true}`, `{"advance":"10m","populate":true}`)
	},
	"post /sim/faucet": func(p *together) string {
		return p.one(`{"address":"`+fresh+`"}`, `{"address":"`+p.someone()+`","chain":"`+fmt.Sprint(p.chain.Row.EVMID)+`","amount":"0.25"}`, `{"address":"`+bob+`","token":"usdx","amount":3}`,
			`{"address":"X-fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm"}`, `{"address":"P-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy","amount":"2.5"}`, `{"address":"C-avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy"}`,
			`{"address":"P-avax14flvw0x8fstzly79tacgsulxvkpv858quqds6w","token":"HARC"}`)
	},
	"post /sim/faults":   func(*together) string { return `{"match":{"rpcMethod":"net_listening"},"action":{"delayMs":1}}` },
	"delete /sim/faults": (*together).nothing,
	"post /sim/imports": func(p *together) string {
		return p.one(`{"content":{"alloc":{"0x000000000000000000000000000000000000cA44":{"balance":"0x7","nonce":"0x1","code":"0x602a60005260206000f3","storage":{"0x1":"0x2"}}}}}`,
			`{"content":{"Module#Carried":"0x000000000000000000000000000000000000cA44"}}`)
	},
	"post /sim/index":     func(p *together) string { return p.one(`{"lag":"2 blocks"}`, `{"lag":"0"}`) },
	"delete /sim/index":   (*together).nothing,
	"post /sim/node":      func(*together) string { return `{"benched":[]}` },
	"delete /sim/node":    (*together).nothing,
	"post /sim/reset":     func(*together) string { return "{}" },
	"post /sim/snapshots": func(*together) string { return "{}" },
}

var controlling = regexp.MustCompile(`^(evm|anvil|hardhat|tenderly)_(.*)$`)

// registered lists the server's controls, methods and operations; each has an entry above.
func (p *together) registered() (all []string) {
	p.Helper()
	var methods struct{ Methods []struct{ Name string } }
	if err := json.Unmarshal([]byte(ask(p.set, http.MethodGet, "/openrpc.json", "")), &methods); err != nil {
		p.Fatal(err)
	}
	used := map[string]bool{"mine blocks": true}
	for _, m := range methods.Methods {
		if parts := controlling.FindStringSubmatch(m.Name); parts != nil {
			params, known := controls[parts[2]]
			if !known {
				p.Errorf("%s is new: say in controls how it is called", m.Name)
			}
			if used[parts[2]] = true; params != nil {
				all = append(all, m.Name)
			}
		}
	}
	var paths struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(ask(p.set, http.MethodGet, "/openapi.json", "")), &paths); err != nil {
		p.Fatal(err)
	}
	for path, operation := range paths.Paths {
		for method := range operation {
			if name := method + " " + path; strings.HasPrefix(path, "/sim/") && method != "get" {
				body, known := operations[name]
				if !known {
					p.Errorf("%s is new: say in operations what it is sent", name)
				}
				if used[name] = true; body != nil {
					all = append(all, name)
				}
			}
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(controls)), slices.Collect(maps.Keys(operations))) {
		if !used[name] {
			p.Errorf("the server has no %s", name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// control uses a control.
func (p *together) control(name string) {
	p.Helper()
	if method, path, found := strings.Cut(name, " "); found {
		body := operations[name](p)
		p.did = append(p.did, name+" "+body)
		p.rest(strings.ToUpper(method), path, body)
		return
	}
	parts := controlling.FindStringSubmatch(name)
	params := controls[parts[2]]
	if parts[2] == "mine" && parts[1] != "evm" {
		params = controls["mine blocks"]
	}
	text := params(p)
	p.did = append(p.did, name+" ["+text+"]")
	p.rpc(name, text)
}

// settle undoes changes that affect only this process, so that all interfaces describe the same state.
func (p *together) settle() {
	p.Helper()
	for _, path := range []string{"/sim/faults", "/sim/index", "/sim/node"} {
		p.rest(http.MethodDelete, path, "")
	}
}

// reading is something that a client reads. A lasting one is the same after a restart; the others depend on overrides of the next blocks, which a
// process forgets.
type reading struct {
	name, text string
	lasting    bool
}

var readers = []struct {
	method, params string
	lasting        bool
}{
	{"eth_getBlockByNumber", `"latest",true`, true}, {"eth_getBlockByNumber", `"safe",false`, true}, {"eth_getBlockByNumber", `"finalized",false`, true},
	{"eth_getBlockByNumber", `"pending",true`, false}, {"eth_getBlockReceipts", `"pending"`, false}, {"eth_blockNumber", "", true},
	{"eth_gasPrice", "", false}, {"eth_baseFee", "", false}, {"eth_maxPriorityFeePerGas", "", false}, {"anvil_nodeInfo", "", false},
	{"eth_feeHistory", `"0x4","latest",[50]`, true}, {"eth_feeHistory", `"0x2","pending",[]`, true}, {"eth_coinbase", "", false}, {"eth_accounts", "", false},
	{"eth_fillTransaction", `{"from":"` + alice + `","to":"` + bob + `","value":"0x1"}`, false}, {"eth_fillTransaction", `{"from":"` + fresh + `","to":"` + bob + `"}`, false},
	{"eth_getBalance", `"` + alice + `","latest"`, true}, {"eth_getBalance", `"` + alice + `","pending"`, false}, {"eth_getBalance", `"` + bob + `","latest"`, true}, {"eth_getBalance", `"` + fresh + `","latest"`, true},
	{"eth_getTransactionCount", `"` + alice + `","pending"`, true}, {"eth_getTransactionCount", `"` + fresh + `","latest"`, true},
	{"eth_getCode", `"` + fresh + `","latest"`, true}, {"eth_getStorageAt", `"` + fresh + `","0x1","latest"`, true}, {"eth_call", `{"to":"TOKEN","data":"0x70a08231` + "000000000000000000000000" + alice[2:] + `"},"latest"`, true},
	{"eth_call", `{"to":"` + fresh + `"},"pending"`, true}, {"eth_estimateGas", `{"from":"` + alice + `","to":"` + fresh + `"}`, true}, {"eth_getProof", `"` + alice + `",[],"latest"`, true},
	{"txpool_content", "", true}, {"txpool_status", "", true}, {"eth_pendingTransactions", "", false}, {"eth_getLogs", `{"fromBlock":"latest"}`, true},
}

var pages = []string{
	"/v1/chains/CHAIN/blocks?pageSize=3", "/v1/chains/CHAIN/transactions?pageSize=3", "/v1/chains/CHAIN/addresses/" + alice + "/transactions?pageSize=3",
	"/v1/chains/CHAIN/addresses/" + alice + "/balances:getNative", "/v1/chains/CHAIN/addresses/" + alice + "/balances:listErc20?pageSize=5", "/v1/chains/CHAIN/addresses/" + fresh + "/balances:listErc20",
	"/v1/chains/CHAIN", "/v2/chains/CHAIN/metrics/txCount?timeInterval=day&pageSize=2", "/v2/chains/CHAIN/metrics/avgGasPrice?timeInterval=hour&pageSize=2",
	"/v1/networks/mainnet/validators?pageSize=2", "/v1/networks/mainnet/blockchains/p-chain/transactions?pageSize=2", "/v1/networks/mainnet/blockchains/p-chain/blocks?pageSize=1",
	"/v1/networks/mainnet", "/v1/avax/supply", "/sim/clock", "/sim/clock/events?limit=3", "/sim/world/counts",
}

var pageTokens = regexp.MustCompile(`"nextPageToken":"[^"]*"`)

// read asks every reader.
func (p *together) read() (all []reading) {
	p.Helper()
	for _, r := range readers {
		result, refusal := p.rpc(r.method, strings.ReplaceAll(r.params, "TOKEN", p.token.Hex()))
		all = append(all, reading{r.method + " " + r.params, result + refusal, r.lasting})
	}
	for _, page := range pages {
		page = strings.ReplaceAll(page, "CHAIN", fmt.Sprint(p.chain.Row.EVMID))
		text := p.rest(http.MethodGet, page, "")
		if p.below != "" {
			text = strings.ReplaceAll(text, p.below, "")
		}
		all = append(all, reading{page, pageTokens.ReplaceAllString(text, ""), true})
	}
	return all
}

// same compares the current responses with earlier ones.
func (p *together) same(when string, was []reading, lasting bool) {
	p.Helper()
	for i, r := range p.read() {
		if r.text != was[i].text && (r.lasting || !lasting) {
			p.failed("%s %s is\n%.1500s\nit was\n%.1500s", when, r.name, r.text, was[i].text)
		}
	}
}

// shownBlock is a block from eth_getBlockByNumber with its transactions, as far as it is known before its execution. A pending block has no coinbase.
type shownBlock struct {
	Hash                                                                          *string
	Number, Timestamp, TimestampMilliseconds, BaseFeePerGas, GasLimit, ParentHash string
	Transactions                                                                  []string

	SettledHeight string // on a C-Chain since Helicon
}

func (p *together) block(tag string) (b shownBlock) {
	p.Helper()
	if err := json.Unmarshal([]byte(p.must("eth_getBlockByNumber", quoted(tag)+",false")), &b); err != nil {
		p.Fatal(err)
	}
	return b
}

// agrees compares the interfaces about the newest block and about an account.
func (p *together) agrees() {
	p.Helper()
	latest := p.block("latest")
	for _, tag := range []string{"safe", "finalized"} {
		if b := p.block(tag); latest.SettledHeight == "" && *b.Hash != *latest.Hash || latest.SettledHeight != "" && b.Number != latest.SettledHeight {
			p.failed("%s is %s, latest is %s and settles %s", tag, b.Number, latest.Number, latest.SettledHeight)
		}
	}
	chain := fmt.Sprintf("/v1/chains/%d", p.chain.Row.EVMID)
	if page := p.rest(http.MethodGet, chain+"/blocks?pageSize=1", ""); !strings.Contains(page, *latest.Hash) {
		p.failed("latest is %s, the Data API has %s", *latest.Hash, page)
	}
	for _, account := range []string{alice, bob, fresh} {
		balance := p.decimal(p.must("eth_getBalance", quoted(account, "latest")))
		if page := p.rest(http.MethodGet, chain+"/addresses/"+account+"/balances:getNative", ""); !strings.Contains(page, `"balance":"`+balance+`"`) {
			p.failed("%s has %s, the Data API has %s", account, balance, page)
		}
		called, refusal := p.rpc("eth_call", `{"to":"`+p.token.Hex()+`","data":"0x70a08231000000000000000000000000`+account[2:]+`"},"latest"`)
		if refusal != "" || called == `"0x"` {
			continue // the token has different code
		}
		page := p.rest(http.MethodGet, chain+"/addresses/"+account+"/balances:listErc20?contractAddresses="+p.token.Hex(), "")
		_, tokens, _ := strings.Cut(page, `"erc20TokenBalances":`)
		if held := p.decimal(called); held != "0" && !strings.Contains(tokens, `"balance":"`+held+`"`) || held == "0" && strings.Contains(tokens, `"balance"`) {
			p.failed("%s has %s of the token, the Data API has %s", account, held, page)
		}
	}
	var clock struct{ Unix int64 }
	if err := json.Unmarshal([]byte(p.rest(http.MethodGet, "/sim/clock", "")), &clock); err != nil {
		p.Fatal(err)
	}
	if at, _ := new(big.Int).SetString(latest.Timestamp, 0); at.Cmp(big.NewInt(clock.Unix)) > 0 {
		p.failed("the newest block is of %d, it is %d", at, clock.Unix)
	}
}

func (p *together) decimal(hex string) string {
	n, ok := new(big.Int).SetString(strings.Trim(hex, `"`), 0)
	if !ok {
		p.failed("%s is no number", hex)
		return ""
	}
	return n.String()
}

// predicts makes a block, which must be the announced one.
func (p *together) predicts() {
	p.Helper()
	latest, pending, fee, next := p.block("latest"), p.block("pending"), p.must("eth_baseFee", ""), p.next()
	p.must("anvil_mine", "")
	made := p.block("latest")
	if latest.SettledHeight != "" { // eth_baseFee is a bound that falls with time
		if pending.Hash != nil && *pending.Hash != *latest.Hash {
			p.failed("pending is %s, latest was %s", pending.Number, latest.Number)
		}
		bound, _ := new(big.Int).SetString(strings.Trim(fee, `"`), 0)
		if paid, _ := new(big.Int).SetString(made.BaseFeePerGas, 0); paid.Cmp(bound) < 0 {
			fee = fmt.Sprintf("%q", made.BaseFeePerGas)
		}
	}
	if fmt.Sprintf("%q", made.BaseFeePerGas) != fee || next.BaseFee != made.BaseFeePerGas || next.GasLimit != made.GasLimit {
		p.failed("made was %+v, the base fee was to be %s, by the node's info %+v", made, fee, next)
	}
	if pending.Hash != nil {
		return // nothing waited
	}
	made.Hash = nil
	if fmt.Sprint(made) != fmt.Sprint(pending) {
		p.failed("made was\n%+v\npending was\n%+v", made, pending)
	}
}

// sends sends a transaction that the node fills in, and that must get into a block.
func (p *together) sends() {
	p.Helper()
	var balance big.Int
	balance.SetString(p.decimal(p.must("eth_getBalance", quoted(alice, "pending"))), 10)
	next := p.next()
	hash, refusal := p.rpc("eth_sendTransaction", `{"from":"`+alice+`","to":"`+bob+`","value":"0x1"}`)
	switch {
	case balance.Cmp(big.NewInt(1e18)) < 0, next.GasLimit == "0x0":
		return // she cannot pay, or no block can take it
	case refusal != "":
		p.failed("the next block is to have %+v, what the node fills in is refused: %s", next, refusal)
		return
	}
	for range 4 { // earlier ones may be unable to pay the fee set for one block
		if receipt := p.must("eth_getTransactionReceipt", hash); receipt != "null" {
			if !strings.Contains(receipt, `"status":"0x1"`) {
				p.failed("%s", receipt)
			}
			return
		}
		p.must("anvil_mine", "")
	}
	p.failed("what the node filled in is in no block: %s\nthe pool has %s", p.must("eth_getTransactionByHash", hash), p.must("txpool_content", ""))
}

// nextInfo is the part of anvil_nodeInfo about the next block.
type nextInfo struct{ BaseFee, GasLimit string }

func (p *together) next() nextInfo {
	p.Helper()
	var info struct{ Environment nextInfo }
	if err := json.Unmarshal([]byte(p.must("anvil_nodeInfo", "")), &info); err != nil {
		p.Fatal(err)
	}
	return info.Environment
}

// heard compares a block filter with the newest block.
func (p *together) heard(filter string, was shownBlock) {
	p.Helper()
	var told []string
	if err := json.Unmarshal([]byte(p.must("eth_getFilterChanges", filter)), &told); err != nil {
		p.Fatal(err)
	}
	switch latest := p.block("latest"); {
	case *latest.Hash == *was.Hash && len(told) == 0:
	case len(told) == 0 || told[len(told)-1] != *latest.Hash:
		p.failed("the newest block is %s and was %s, the filter told %s", *latest.Hash, *was.Hash, told)
	}
}

// round uses two controls, the first before a snapshot, in varying circumstances, and reverts.
func (p *together) round(first, second, circumstances string) {
	p.Helper()
	p.did = []string{circumstances}
	p.control(first)
	p.settle()
	automine, interval := p.must("anvil_getAutomine", ""), p.must("anvil_getIntervalMining", "")
	var marked struct{ ID string }
	if err := json.Unmarshal([]byte(p.rest(http.MethodPost, "/sim/snapshots", `{"name":"own"}`)), &marked); err != nil {
		p.Fatal(err)
	}
	before, filter, head := p.read(), p.must("eth_newBlockFilter", ""), p.block("latest")

	p.control(second)
	p.settle()
	p.agrees()
	p.heard(filter, head)
	switch circumstances {
	case "a copy":
		was := p.read()
		p.rest(http.MethodPost, "/sim/worlds", `{"name":"copy"}`)
		p.below = "/w/copy"
		p.same("in a copy", was, false)
		p.predicts()
		p.sends()
		p.agrees()
		p.below = ""
		p.same("after a copy lived on", was, false)
		p.rest(http.MethodDelete, "/sim/worlds/copy", "")
	case "another time":
		p.rest(http.MethodPost, "/sim/clock", `{"advance":"90m"}`)
	case "a restart":
		was := p.read()
		p.stop()
		p.open()
		p.choose(slices.IndexFunc(p.world.Chains, func(c *reader.Chain) bool { return c.Row.ID == p.chain.Row.ID }))
		p.same("after a restart", was, true)
		filter = p.must("eth_newBlockFilter", "")
	}
	head = p.block("latest")
	p.must("eth_getFilterChanges", filter)
	p.predicts()
	p.sends()
	p.agrees()
	p.heard(filter, head)

	head = p.block("latest")
	if strings.Contains(p.rest(http.MethodGet, "/sim/snapshots", ""), `"id":"`+marked.ID+`"`) {
		p.rest(http.MethodPost, "/sim/snapshots/"+marked.ID+":revert", "{}")
		p.must("anvil_setIntervalMining", "0")
		if interval != "null" {
			p.must("anvil_setIntervalMining", interval)
		}
		p.must("anvil_setAutomine", automine)
		p.same("after going back", before, false)
		p.agrees()
		p.heard(filter, head)
	}
	p.rest(http.MethodPost, "/sim/reset", "{}")
	p.isNew()
}

// isNew compares the chain with its state in the new world.
func (p *together) isNew() {
	p.Helper()
	p.same("after a reset", p.first[p.chain.Row.EVMID], false)
	if automine, interval := p.must("anvil_getAutomine", ""), p.must("anvil_getIntervalMining", ""); automine != fmt.Sprint(!p.manual) || interval != "null" {
		p.failed("after a reset automine is %s, the interval %s", automine, interval)
	}
}

// TestUsedTogether uses random pairs of the server's controls on each kind of chain. A revert restores everything, a copy answers like the original,
// a restart forgets exactly what the manual says, the mined block is the one that pending and the prices announced, filled-in transactions can be
// mined, and all interfaces agree throughout.
func TestUsedTogether(t *testing.T) {
	t.Parallel()
	for number, manual := range []bool{false, true} {
		t.Run(fmt.Sprintf("manual %t", manual), func(t *testing.T) {
			t.Parallel()
			p := &together{T: t, random: rand.New(rand.NewPCG(uint64(number), 1)), path: filepath.Join(t.TempDir(), "w.db"), manual: manual, first: map[uint64][]reading{}}
			worldFile(t, p.path)
			p.open()
			names, digest := p.registered(), fmt.Sprintf("%x", p.world.Digest())
			for i, c := range p.world.Chains {
				p.choose(i)
				p.first[c.Row.EVMID] = p.read()
			}
			circumstances := []string{"nothing else", "nothing else", "nothing else", "another time", "another time", "another time", "a copy", "a restart"}
			for turn := range times(t, 4) {
				for i, second := range names {
					if (i+turn)%2 != number {
						continue // it is the other server's turn
					}
					p.choose(p.random.IntN(len(p.world.Chains)))
					p.round(names[p.random.IntN(len(names))], second, circumstances[p.random.IntN(len(circumstances))])
					if got := fmt.Sprintf("%x", p.world.Digest()); got != digest {
						p.failed("after a reset the digest is %s, it was %s", got, digest)
					}
				}
			}
			if testing.Short() {
				t.Log("left out of a short run: verification")
			} else {
				verifytest.Sound(t, p.world)
			}
			p.stop()
		})
	}
}
