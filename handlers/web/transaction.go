package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// transaction shows a transaction's effects, in words and as every interface returns it.
func transaction(p *page) error {
	hash, c := p.arg("hash"), p.Chain
	pending := rpc("pending", c.RPC, "eth_getTransactionByHash", hash).opt()
	if err := p.load(get("tx", "/v1/chains/%s/transactions/%s", c.ID, hash).opt(), pending); err != nil {
		return err
	}
	if p.Got["tx"] == nil {
		if p.Got["pending"] == nil {
			return &pageError{max(p.Calls["tx"].Status, 404), p.Calls["tx"].Error}
		}
		return p.showAs("pending", "chain-"+c.ID, "Pending transaction")
	}
	if err := p.load(rpc("receipt", c.RPC, "eth_getTransactionReceipt", hash).opt(),
		rpc("trace", c.RPC, "debug_traceTransaction", hash, J{"tracer": "callTracer"}).opt(),
		rpc("raw", c.RPC, "debug_getRawTransaction", hash).opt(), get("gas", "/sim/transactions/%s", hash).opt(), get("explained", "/sim/transactions/%s/trace", hash).opt()); err != nil {
		return err
	}
	v := &transactionView{page: p, Tx: p.Got["tx"], Native: dig(p.Got["tx"], "nativeTransaction")}
	v.Logs = decoder{p}.decodeLogs(list(dig(p.Got["receipt"], "logs")))
	v.Input = decoder{p}.decodeCall(text(dig(v.Native, "input")))
	v.explain(p.Got["explained"])
	v.Steps = p.flatten(p.Got["trace"], dig(p.Got["explained"], "call"), 0, nil)
	p.Data = v
	var calls []*Call
	if id := text(dig(v.Tx, "teleporterMessageInfo", "teleporterMessageId")); id != "" {
		calls = append(calls, get("message", "/v1/icm/messages/%s", id).opt())
	}
	return p.showAs("tx", "chain-"+c.ID, "Transaction "+short(hash), calls...)
}

type transactionView struct {
	page   *page
	Tx     any
	Native any
	Input  *decodedCall
	Logs   []decodedLog
	Steps  []step
}

// explain names what the ABIs of the world's own contracts do not.
func (v *transactionView) explain(x any) {
	if call := dig(x, "call"); v.Input != nil && len(v.Input.Arguments) == 0 && v.Input.Data != "" && text(dig(call, "function")) != "" {
		v.Input = &decodedCall{Name: callee(call), Arguments: written(dig(call, "arguments"))}
	}
	events := list(dig(x, "events"))
	for i := range v.Logs {
		if l := &v.Logs[i]; l.Name == "" && len(events) == len(v.Logs) && text(dig(events[i], "name")) != "" {
			l.Name, l.Arguments = text(dig(events[i], "name")), written(dig(events[i], "arguments"))
		}
	}
}

// callee returns the name of an explained call: contract and function.
func callee(call any) string {
	contract, function := text(dig(call, "contract")), text(dig(call, "function"))
	if contract != "" && function != "" {
		contract += "."
	}
	return clip(contract+function, 200)
}

// written returns the arguments of an explained call or event.
func written(arguments any) (all []argument) {
	for _, a := range list(arguments) {
		all = append(all, argument{text(dig(a, "name")), text(dig(a, "type")), template.HTML(`<bdi class="wrap">` + esc(clip(text(dig(a, "value")), 500)) + `</bdi>`)})
	}
	return all
}

// Stack lists the functions that had begun when the transaction failed, innermost first.
func (v *transactionView) Stack() []any {
	all := list(dig(v.page.Got["explained"], "failure", "stack"))
	if !slices.ContainsFunc(all, func(f any) bool { return text(dig(f, "contract")) != "" }) {
		return nil // no artifact has anything of it
	}
	return all
}

// Console lists what contracts logged with console.log.
func (v *transactionView) Console() []any { return list(dig(v.page.Got["explained"], "console")) }

// Succeeded reports whether the transaction succeeded.
func (v *transactionView) Succeeded() bool { return text(dig(v.Native, "txStatus")) == "1" }

// Created returns the address of the contract that the transaction created, if any.
func (v *transactionView) Created() string {
	return text(dig(v.page.Got["receipt"], "contractAddress"))
}

// Fee returns the sender's gas fee, in the smallest unit.
func (v *transactionView) Fee() string {
	price := number(dig(v.page.Got["receipt"], "effectiveGasPrice"))
	return price.Mul(price, number(dig(v.Native, "gasUsed"))).String()
}

// Settlement describes the way of the transaction's block since Helicon, nil on a chain that executes blocks when it accepts them.
func (v *transactionView) Settlement() any {
	if gas := v.page.Got["gas"]; text(dig(gas, "settledBy")) != text(dig(gas, "block")) {
		return gas
	}
	return nil
}

// Reason explains why a transaction failed.
func (v *transactionView) Reason() string {
	trace := v.page.Got["trace"]
	for _, reason := range []any{dig(v.page.Got["explained"], "failure", "reason"), dig(trace, "revertReason"), dig(v.Native, "revertReason"), dig(trace, "error")} {
		if s := text(reason); s != "" {
			return clip(s, 400)
		}
	}
	return ""
}

// Words tell what happened.
func (v *transactionView) Words() template.HTML {
	p, n := v.page, v.Native
	from, to, value := p.Addr(dig(n, "from")), p.Addr(dig(n, "to")), text(dig(n, "value"))
	symbol, decimals := dig(v.Tx, "networkTokenDetails", "networkToken", "symbol"), dig(v.Tx, "networkTokenDetails", "networkToken", "decimals")
	sent := amount(value, decimals, symbol)
	method, _, _ := strings.Cut(text(dig(n, "method", "methodName")), "(")
	if method == "" {
		method, _, _ = strings.Cut(text(dig(v.page.Got["explained"], "call", "function")), "(")
	}
	could := " "
	if !v.Succeeded() {
		could = " tried to "
	}
	verb := func(past, plain string) template.HTML {
		if could == " " {
			return template.HTML(" " + past + " ")
		}
		return template.HTML(could + plain + " ")
	}
	switch {
	case text(dig(n, "method", "callType")) == "CONTRACT_CREATION" || text(dig(n, "to", "address")) == "":
		if created := v.Created(); created != "" {
			return from + verb("created the contract", "create the contract") + p.Addr(created)
		}
		return from + verb("created a contract", "create a contract")
	case text(dig(n, "method", "callType")) == "NATIVE_TRANSFER":
		return from + verb("sent", "send") + sent + " to " + to
	}
	called := template.HTML("<code>" + esc(clip(method, 64)) + "</code>")
	if method == "" {
		called = "a function"
	}
	words := from + verb("called", "call") + called + " of " + to
	if value != "" && value != "0" {
		words += ", with " + sent
	}
	return words
}

// Raw returns the transaction as each interface returns it.
func (v *transactionView) Raw() []J {
	p := v.page
	return []J{{"Title": "Data API", "Name": "tx", "Text": indented(p.Got["tx"])}, {"Title": "JSON-RPC", "Name": "pending", "Text": indented(p.Got["pending"])},
		{"Title": "Receipt", "Name": "receipt", "Text": indented(p.Got["receipt"])}, {"Title": "Raw bytes", "Name": "raw", "Text": text(p.Got["raw"])}}
}

// Facts compares the transaction's fields in every interface: the Data API, JSON-RPC and the signed bytes.
func (v *transactionView) Facts() [][4]string {
	p, n := v.page, v.Native
	receipt, rpc := p.Got["receipt"], p.Got["pending"]
	raw, signed := map[string]string{}, new(types.Transaction)
	if data, err := hexutil.Decode(text(p.Got["raw"])); err == nil && signed.UnmarshalBinary(data) == nil {
		raw = map[string]string{"Hash": signed.Hash().Hex(), "Value": signed.Value().String(), "Nonce": fmt.Sprint(signed.Nonce()), "Gas limit": fmt.Sprint(signed.Gas()), "Type": fmt.Sprint(signed.Type())}
		if from, err := types.Sender(types.LatestSignerForChainID(signed.ChainId()), signed); err == nil {
			raw["From"] = from.Hex() + ", by the signature"
		}
		if to := signed.To(); to != nil {
			raw["To"] = to.Hex()
		}
		if len(signed.Data()) >= 4 {
			raw["Method"] = hexutil.Encode(signed.Data()[:4])
		}
	}
	input := text(dig(rpc, "input"))
	facts := [][4]string{
		{"Hash", text(dig(n, "txHash")), text(dig(rpc, "hash"))}, {"Block", text(dig(n, "blockNumber")), text(dig(rpc, "blockNumber"))},
		{"Place", text(dig(n, "blockIndex")), text(dig(rpc, "transactionIndex"))}, {"Status", text(dig(n, "txStatus")), text(dig(receipt, "status"))},
		{"From", text(dig(n, "from", "address")), text(dig(rpc, "from"))}, {"To", text(dig(n, "to", "address")), text(dig(rpc, "to"))},
		{"Value", text(dig(n, "value")), text(dig(rpc, "value"))}, {"Nonce", text(dig(n, "nonce")), text(dig(rpc, "nonce"))},
		{"Gas limit", text(dig(n, "gasLimit")), text(dig(rpc, "gas"))}, {"Gas used", text(dig(n, "gasUsed")), text(dig(receipt, "gasUsed"))},
		{"Gas price", text(dig(n, "gasPrice")), text(dig(receipt, "effectiveGasPrice"))}, {"Type", text(dig(n, "txType")), text(dig(rpc, "type"))},
		{"Method", text(dig(n, "method", "methodHash")), input[:min(len(input), 10)]},
	}
	for i := range facts {
		facts[i][3] = raw[facts[i][0]]
	}
	return facts
}

// step is a call within a transaction.
type step struct {
	Depth              int
	Kind               string
	From, To           template.HTML
	Call               *decodedCall
	Value, Gas, Failed string
	Rest               int // number of calls not shown
}

const maxSteps = 200

// flatten lists a tree of calls from its root.
func (p *page) flatten(call, explained any, depth int, steps []step) []step {
	object, ok := call.(J)
	if !ok {
		return steps
	}
	if len(steps) >= maxSteps {
		steps[len(steps)-1].Rest++
		return steps
	}
	s := step{Depth: min(depth, 12), Kind: text(object["type"]), From: p.Addr(object["from"]), To: p.Addr(object["to"]), Gas: hexNumber(object["gasUsed"]),
		Call: decoder{p}.decodeCall(text(object["input"]))}
	if v := number(object["value"]); v.Sign() > 0 {
		s.Value = v.String()
	}
	if e := text(object["error"]); e != "" {
		s.Failed = clip(e+" "+text(object["revertReason"]), 200)
	}
	if known := callee(explained); s.Call != nil && known != "" && (text(dig(explained, "contract")) != "" || s.Call.Data != "" && len(s.Call.Arguments) == 0) {
		s.Call = &decodedCall{Name: known}
	}
	steps = append(steps, s)
	inner, named := list(object["calls"]), list(dig(explained, "calls"))
	for i := range inner {
		var of any
		if len(named) == len(inner) {
			of = named[i]
		}
		steps = p.flatten(inner[i], of, depth+1, steps)
	}
	return steps
}

// anyTransaction redirects to a transaction on its chain.
func anyTransaction(p *page) error { return searcher{p}.find(p.arg("hash")) }

// anyBlock redirects to a block on its chain, the first chain if several have it.
func anyBlock(p *page) error {
	for _, c := range p.names.Chains {
		if err := p.load(get("block", "/v1/chains/%s/blocks/%s", c.ID, p.arg("block")).opt()); err != nil {
			return err
		}
		if p.Got["block"] != nil {
			return &redirectError{"/sim/explorer/" + c.ID + "/block/" + p.arg("block")}
		}
	}
	return searcher{p}.find(p.arg("block"))
}
