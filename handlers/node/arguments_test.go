package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/gorilla/websocket"

	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
)

// form is a row of testdata/arguments.txt: parameters in one of the forms that clients use, and the outcome.
type form struct {
	line                          int
	path, method, verdict, params string
	rest                          string // what the verdict needs, and who sends the form or why it is refused
}

// readForms reads the table.
func readForms(t *testing.T, names *strings.Replacer) (all []form) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata(), "arguments.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f := form{}
	for i, line := range strings.Split(string(text), "\n") {
		f.line = i + 1
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '/':
			f.path = names.Replace(line)
			continue
		case line[0] != '\t':
			f.method = line
			continue
		}
		columns := strings.Split(line[1:], "\t")
		if len(columns) != 3 {
			t.Fatalf("line %d has %d columns, want a verdict, parameters and a note", f.line, len(columns))
		}
		f.verdict, f.params, f.rest = columns[0], columns[1], columns[2]
		all = append(all, f)
	}
	return all
}

// argumentWorld is a separate world for the table, behind a server that signs for alice.
type argumentWorld struct {
	*testing.T
	url   string
	names []string // of objects in it, for the parameters
}

// answer returns the result of a call, or its error.
func (w *argumentWorld) answer(path, method, params string) (result, problem string) {
	w.Helper()
	body := send(w, "POST", w.url+path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"`+params+`}`)
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		w.Fatalf("%s %s: %s", method, params, body)
	}
	if answer.Error != nil {
		return "", fmt.Sprintf("%d %s", answer.Error.Code, answer.Error.Message)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, answer.Result); err != nil {
		w.Fatal(err)
	}
	return compact.String(), ""
}

// ask returns the result of a call on the C-Chain that must succeed.
func (w *argumentWorld) ask(method, params string, into any) {
	w.Helper()
	result, problem := w.answer(evmPath, method, `,"params":`+params)
	if problem != "" {
		w.Fatalf("%s: %s", method, problem)
	}
	if err := json.Unmarshal([]byte(result), into); err != nil {
		w.Fatal(err)
	}
}

const evmPath = "/ext/bc/C/rpc"

// name names an object for the table; its name in upper case gives the other form.
func (w *argumentWorld) name(name, value string) {
	w.names = append(w.names, "{"+name+"}", value)
	if digits, found := strings.CutPrefix(value, "0x"); found {
		w.names = append(w.names, "{"+strings.ToUpper(name)+"}", "0x"+strings.ToUpper(digits))
	}
}

func newArgumentWorld(t *testing.T) *argumentWorld {
	alice := common.FromHex("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	wallet, err := eth.NewWallet([][]byte{alice})
	if err != nil {
		t.Fatal(err)
	}
	world := ownSeeded(t)
	loggers := map[string]*Loggers{}
	for _, n := range world.Networks {
		loggers[n.Name] = NewLoggers(n, slog.New(slog.DiscardHandler))
	}
	w := &argumentWorld{T: t, url: serveSeeded(t, world, Options{Wallet: wallet, Loggers: loggers, Profiler: NewProfiler(t.TempDir())})}
	for _, c := range world.Chains {
		if c.Row.EVMID == 70411 {
			w.name("L1", ids.ID(c.Row.BlockchainID).String())
			w.name("subnet", ids.ID(c.Row.SubnetID).String())
		}
	}
	w.name("alice", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	w.name("bob", "0x70997970c51812dc3a010c7d01b50e0d17dc79c8")
	w.name("zero", common.Hash{}.Hex())
	w.name("one", common.Hash{31: 1}.Hex())
	w.name("five", common.Hash{31: 5}.Hex())
	w.name("noFilter", "0x1234")
	w.nameEVM()
	w.namePrimary()
	return w
}

// nameEVM names the head, a block with logs and one of its transactions.
func (w *argumentWorld) nameEVM() {
	counter := "0x00000000000000000000000000000000000c0de5"
	w.name("counter", counter)
	w.ask("anvil_setCode", `["`+counter+`","0x`+counterCode+`"]`, new(any))
	w.ask("evm_mine", "[]", new(any))
	var head struct{ Number, Hash, SettledHeight string }
	result, _ := w.answer(strings.NewReplacer(w.names...).Replace("/ext/bc/{L1}/rpc"), "eth_getBlockByNumber", `,"params":["latest",false]`)
	if err := json.Unmarshal([]byte(result), &head); err != nil {
		w.Fatal(err)
	}
	w.name("L1head", head.Number)
	w.name("L1headHash", head.Hash)
	w.ask("eth_getBlockByNumber", `["latest",false]`, &head)
	w.name("head", head.Number)
	w.name("settled", head.SettledHeight)
	w.name("headHash", head.Hash)
	var logs []struct {
		Address, BlockHash, BlockNumber, TransactionHash, TransactionIndex string
		Topics                                                             []string
	}
	w.ask("eth_getLogs", `[{"fromBlock":"earliest"}]`, &logs)
	log := logs[len(logs)-1]
	transfer, sent := crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)")).Hex(), crypto.Keccak256Hash([]byte("SendWarpMessage(address,bytes32,bytes)")).Hex()
	var token, message string
	for _, l := range logs {
		switch {
		case l.Topics[0] == transfer && len(l.Topics) == 3:
			token = l.Address
		case l.Topics[0] == sent:
			message = ids.ID(common.HexToHash(l.Topics[2])).String()
		}
	}
	w.name("token", token)
	w.name("transfer", transfer)
	w.name("aliceTopic", common.HexToHash("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266").Hex())
	w.name("bobTopic", common.HexToHash("0x70997970c51812dc3a010c7d01b50e0d17dc79c8").Hex())
	w.name("nothing", common.Hash{}.Hex()[2:])
	w.name("message", message)
	w.name("blockID", ids.ID(common.HexToHash(log.BlockHash)).String())
	w.name("contract", log.Address)
	w.name("topic", log.Topics[0])
	w.name("block", log.BlockNumber)
	w.name("blockDecimal", hexutil.MustDecodeBig(log.BlockNumber).String())
	w.name("headDecimal", hexutil.MustDecodeBig(head.Number).String())
	var nonce string
	w.ask("eth_getTransactionCount", `["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]`, &nonce)
	w.name("nonce", nonce)
	w.name("blockHash", log.BlockHash)
	w.name("tx", log.TransactionHash)
	w.name("index", log.TransactionIndex)
	var raw string
	w.ask("debug_getRawBlock", `["`+log.BlockHash+`"]`, &raw)
	w.name("rlp", raw)
	w.ask("eth_signTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970c51812dc3a010c7d01b50e0d17dc79c8","value":"0x1"}]`, &raw)
	w.name("raw", raw)
	w.name("rawBare", raw[2:])
}

// namePrimary names objects on the P- and the X-Chain.
func (w *argumentWorld) namePrimary() {
	ask := func(path, method, params string, into any) {
		w.Helper()
		result, problem := w.answer(path, method, `,"params":`+params)
		if err := json.Unmarshal([]byte(result), into); problem != "" || err != nil {
			w.Fatalf("%s: %s %v", method, problem, err)
		}
	}
	type block struct {
		Block struct {
			ID  string
			Txs []struct{ ID string }
			Tx  struct{ ID string }
		}
	}
	for _, c := range []struct{ name, path, service string }{{"P", "/ext/P", "platform"}, {"X", "/ext/X", "avm"}} {
		var b block
		for height := 1; len(b.Block.Txs) == 0; height++ {
			ask(c.path, c.service+".getBlockByHeight", fmt.Sprintf(`{"height":%d,"encoding":"json"}`, height), &b)
		}
		w.name(c.name+"Block", b.Block.ID)
		w.name(c.name+"Tx", b.Block.Txs[0].ID)
	}
	var asset struct{ AssetID string }
	ask("/ext/P", "platform.getStakingAssetID", "{}", &asset)
	w.name("avax", asset.AssetID)
	var validators struct {
		Validators []struct{ NodeID, ValidationID string }
	}
	ask("/ext/P", "platform.getCurrentValidators", "{}", &validators)
	w.name("node", validators.Validators[0].NodeID)
	ask(strings.NewReplacer(w.names...).Replace("/ext/bc/{L1}/validators"), "validators.getCurrentValidators", "{}", &validators)
	w.name("validation", validators.Validators[0].ValidationID)
	var container struct{ ID string }
	ask("/ext/index/C/block", "index.getLastAccepted", "{}", &container)
	w.name("container", container.ID)
}

// probes reads everything that a method may have changed, such as a token's balance and allowance and the next block.
var probes = []string{
	`eth_getBalance ["{bob}","latest"]`, `eth_getTransactionCount ["{bob}","latest"]`, `eth_getCode ["{bob}","latest"]`, `eth_getStorageAt ["{bob}","0x2","latest"]`,
	`eth_getTransactionCount ["{alice}","pending"]`, `eth_accounts []`, `txpool_status []`, `anvil_getAutomine []`, `anvil_getIntervalMining []`, `anvil_nodeInfo []`,
	`eth_call [{"to":"{token}","data":"0x70a0823100000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8"},"latest"]`,
	`eth_call [{"to":"{token}","data":"0xdd62ed3e000000000000000000000000f39fd6e51aad88f6f4ce6ab8827279cfffb9226600000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8"},"latest"]`,
	`evm_mine []`, `eth_getBlockByNumber ["latest",true]`,
}

// restored undoes a method's effects that are not part of a snapshot.
var restored = map[string]string{
	"setAutomine": `evm_setAutomine [true]`, "setIntervalMining": `evm_setIntervalMining [0]`, "setCoinbase": `anvil_setCoinbase ["0x0100000000000000000000000000000000000000"]`,
	"setBlockTimestampInterval": `anvil_setBlockTimestampInterval [0]`, "autoImpersonateAccount": `anvil_autoImpersonateAccount [false]`,
	"impersonateAccount": `anvil_stopImpersonatingAccount ["{bob}"]`,
}

// outcome tries a form, returns the response and the changes to the world, and undoes them.
func (w *argumentWorld) outcome(f *form, names *strings.Replacer) (result, problem string) {
	w.Helper()
	params := ""
	if f.params != "-" {
		params = `,"params":` + names.Replace(f.params)
	}
	if strings.HasSuffix(f.path, "/ws") {
		return w.told(f, params, names)
	}
	if permit.Of(f.method) == permit.Read {
		return w.answer(f.path, f.method, params)
	}
	var before, inner string
	w.ask("evm_snapshot", "[]", &before)
	if strings.Contains(params, "{snapshot") {
		w.ask("evm_snapshot", "[]", &inner)
		params = strings.NewReplacer("{snapshot}", inner, "{snapshotDecimal}", hexutil.MustDecodeBig(inner).String()).Replace(params)
	}
	result, problem = w.answer(f.path, f.method, params)
	for _, p := range probes {
		method, params, _ := strings.Cut(names.Replace(p), " ")
		if problem == "" {
			after, _ := w.answer(evmPath, method, `,"params":`+params)
			result += "\n" + method + " " + after
		}
	}
	if _, name, _ := strings.Cut(f.method, "_"); restored[name] != "" {
		method, params, _ := strings.Cut(names.Replace(restored[name]), " ")
		w.ask(method, params, new(any))
	}
	reverted, _ := w.answer(evmPath, "evm_revert", `,"params":["`+before+`"]`)
	if reverted != "true" && !strings.HasSuffix(f.method, "_reset") {
		w.Errorf("line %d: the world cannot be reverted after %s", f.line, f.method)
	}
	return result, problem
}

// told tries a form over a WebSocket. The result of a subscription is its first notification about a transaction with a log, which is then undone.
func (w *argumentWorld) told(f *form, params string, names *strings.Replacer) (result, problem string) {
	w.Helper()
	socket, answer, err := websocket.DefaultDialer.DialContext(w.Context(), "ws"+strings.TrimPrefix(w.url, "http")+f.path, nil)
	if err != nil {
		w.Fatal(err)
	}
	answer.Body.Close()
	defer socket.Close()
	call := func(method, params string) (result json.RawMessage, problem string) {
		if err := socket.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"`+params+`}`)); err != nil {
			w.Fatal(err)
		}
		var answer struct {
			Result json.RawMessage
			Error  *struct {
				Code    int
				Message string
			}
		}
		if err := socket.ReadJSON(&answer); err != nil {
			w.Fatal(err)
		}
		if answer.Error != nil {
			return nil, fmt.Sprintf("%d %s", answer.Error.Code, answer.Error.Message)
		}
		return answer.Result, ""
	}
	if strings.Contains(params, "{subscription}") {
		id, _ := call("eth_subscribe", `,"params":["newHeads"]`)
		params = strings.ReplaceAll(params, `"{subscription}"`, string(id))
	}
	id, problem := call(f.method, params)
	if f.method != "eth_subscribe" || problem != "" {
		return string(id), problem
	}
	var before string
	w.ask("evm_snapshot", "[]", &before)
	w.ask("eth_sendTransaction", names.Replace(`[{"from":"{alice}","to":"{token}","data":"0xa9059cbb00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8{nothing}"}]`), new(any))
	w.ask("evm_mine", "[]", new(any))
	patience := 10 * time.Second
	if f.verdict == "other" {
		patience = 50 * time.Millisecond // nothing may come
	}
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		w.Fatal(err)
	}
	var told struct {
		Params struct{ Subscription, Result json.RawMessage }
	}
	err = socket.ReadJSON(&told)
	for err == nil && strings.Contains(string(told.Params.Result), `"removed":true`) { // a late notification from the form before this one, which was undone
		err = socket.ReadJSON(&told)
	}
	w.ask("evm_revert", `["`+before+`"]`, new(any))
	switch {
	case err != nil && f.verdict != "other":
		return "", err.Error()
	case err == nil && string(told.Params.Subscription) != string(id):
		return "", fmt.Sprintf("the subscription is %s, it tells as %s", id, told.Params.Subscription)
	}
	return string(told.Params.Result), ""
}

// TestArguments calls every method with arguments in every form of the table: the forms in which go-ethereum's client, ethers, viem, web3.js,
// Hardhat, cast and avalanchejs write them, and which the node's own types read.
func TestArguments(t *testing.T) {
	w := newArgumentWorld(t)
	names := strings.NewReplacer(w.names...)
	var first string
	for _, f := range readForms(t, names) {
		result, problem := w.outcome(&f, names)
		switch f.verdict {
		case "ok":
			if first = result; problem != "" {
				t.Errorf("line %d: %s %s: %s", f.line, f.method, f.params, problem)
			}
		case "same":
			if problem != "" || result != first {
				t.Errorf("line %d: %s %s: %s %.1000s, want %.1000s", f.line, f.method, f.params, problem, result, first)
			}
		case "other":
			if problem != "" || result == first {
				t.Errorf("line %d: %s %s: %s the same answer: %.1000s", f.line, f.method, f.params, problem, result)
			}
		case "error":
			want, _, _ := strings.Cut(f.rest, " #")
			if !strings.Contains(problem, names.Replace(want)) {
				t.Errorf("line %d: %s %s: %s %.300s, want the error %s", f.line, f.method, f.params, problem, result, want)
			}
		default:
			t.Errorf("line %d: %q is no verdict", f.line, f.verdict)
		}
	}
}

// TestFiltersAreReadAsByGoEthereum compares the table's rows about logs with go-ethereum's own type.
func TestFiltersAreReadAsByGoEthereum(t *testing.T) {
	w := newArgumentWorld(t)
	names := strings.NewReplacer(w.names...)
	for _, f := range readForms(t, names) {
		var params []json.RawMessage
		if err := json.Unmarshal([]byte(names.Replace(f.params)), &params); f.method != "eth_getLogs" || err != nil || len(params) == 0 {
			continue
		}
		err := json.Unmarshal(params[0], new(filters.FilterCriteria))
		_, problem := w.outcome(&f, names)
		problem = strings.ReplaceAll(problem, "eth.input", "filters.input") // the name of the Go type, in its package
		if want := fmt.Sprintf("-32602 invalid argument 0: %v", err); err != nil && problem != want || err == nil && strings.HasPrefix(problem, "-32602") {
			t.Errorf("line %d: %s: %q, want %q", f.line, f.params, problem, want)
		}
	}
}

// TestEveryArgumentIsInTheTable finds the rows of every method that the node serves, with each of its parameters in at least two forms; leaving it
// out is one.
func TestEveryArgumentIsInTheTable(t *testing.T) {
	world := seeded(t)
	n, err := New(Options{Miners: world.Miners, Networks: world.Networks, Network: "mainnet", Version: "v", Loggers: map[string]*Loggers{}, Profiler: NewProfiler(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	rows := map[string][]form{}
	for _, f := range readForms(t, strings.NewReplacer()) {
		f.params = strings.NewReplacer("{blockDecimal}", "1", "{headDecimal}", "2", "{snapshotDecimal}", "3").Replace(f.params)
		rows[f.method] = append(rows[f.method], f)
	}
	for _, served := range n.Describe() {
		for _, m := range served.Methods {
			if rows[canonical(m.Name)] == nil {
				t.Errorf("%s has no row", m.Name)
				continue
			}
			checkForms(t, &m, rows[canonical(m.Name)])
		}
	}
}

// canonical returns the name under which the table has a method that has several.
func canonical(method string) string {
	namespace, name, _ := strings.Cut(method, "_")
	if service, rest, found := strings.Cut(method, "."); found {
		if service == "xvm" {
			return "avm." + rest
		}
		return method
	}
	own := []string{"personal_sign", "personal_ecRecover", "anvil_reorg", "anvil_rollback", "erigon_getHeaderByNumber"}
	walletMethods := []string{"accounts", "requestAccounts", "sign", "signTypedData_v4", "sendTransaction", "sendUnsignedTransaction", "signTransaction", "fillTransaction", "pendingTransactions"}
	switch {
	case slices.Contains(own, method):
	case namespace == "erigon":
		return "ots_" + name
	case (namespace == "personal" || namespace == "anvil") && slices.Contains(walletMethods, name):
		return "eth_" + name
	}
	return method
}

// checkForms returns the parameters that have only one form.
func checkForms(t *testing.T, m *openrpc.Method, rows []form) {
	t.Helper()
	item := m.Item()
	for i, p := range item.Params {
		forms := map[string]bool{}
		for _, f := range rows {
			forms[parameter(t, &f, i, p.Name)] = true
		}
		if len(forms) < 2 {
			t.Errorf("%s has its parameter %d, %s, in one form only", m.Name, i, p.Name)
		}
	}
}

// parameter returns a row's parameter as written, or nothing if it is omitted.
func parameter(t *testing.T, f *form, index int, name string) string {
	t.Helper()
	var list []json.RawMessage
	var members map[string]json.RawMessage
	switch {
	case f.params == "-":
	case json.Unmarshal([]byte(f.params), &list) == nil:
		if index < len(list) {
			return string(list[index])
		}
	case json.Unmarshal([]byte(f.params), &members) == nil:
		return string(members[name])
	default:
		t.Errorf("line %d: %s is no JSON", f.line, f.params)
	}
	return ""
}
