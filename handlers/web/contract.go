package web

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/userfile"
	"snowglobe/fixtures/worldfile"
)

// contractView is a contract with known source.
type contractView struct {
	page          *page
	Address, Name string
	ABI           string
	Sources       []sourceText // the contract's own first

	Implementation string // of a proxy
	Delegated      bool   // whether its functions are among the contract's
	Reads, Writes  []function
	Chosen         *function
	From, Value    string
	Problem        string
	Result         []argument
	Call           *Call
	Data           string // the encoded call
}

// function is a function that can be called.
type function struct {
	Sig, Name string
	Inputs    []input
	Payable   bool
	Reads     bool
	method    abi.Method
}

type input struct{ Name, Type, Value string }

// contract shows a contract's source and calls it.
func contract(p *page) error {
	v := &contractView{page: p, Address: p.arg("address")}
	if err := p.load(rpc("code", p.Chain.RPC, "eth_getCode", v.Address, "latest")); err != nil {
		return err
	}
	known, err := p.knownContract("source", v.Address)
	if err != nil {
		return err
	}
	if known == nil {
		return notFound("the source of the contract at %s is not known", clip(v.Address, 64))
	}
	v.Name, v.Sources, v.Implementation = clip(known.name, 64), known.sources, known.implementation
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(known.abi), "", "  "); err != nil {
		return err
	}
	v.ABI = b.String()
	if err := v.addFunctions(known.abi); err != nil {
		return notFound("the ABI of the contract at %s cannot be read", clip(v.Address, 64))
	}
	if v.Implementation != "" {
		of, err := p.knownContract("implementation", v.Implementation)
		if err != nil {
			return err
		}
		v.Delegated = of != nil && v.addFunctions(of.abi) == nil
	}
	for _, l := range [][]function{v.Reads, v.Writes} {
		slices.SortFunc(l, func(a, b function) int { return strings.Compare(a.Sig, b.Sig) })
	}
	p.Data = v
	if err := v.choose(); err != nil {
		return err
	}
	return p.showAs("contract", "chain-"+p.Chain.ID, v.Name+" on "+p.Chain.Label())
}

func (v *contractView) addFunctions(document string) error {
	parsed, err := abi.JSON(strings.NewReader(document))
	if err != nil {
		return err
	}
	for _, m := range parsed.Methods {
		f := function{Sig: m.Sig, Name: m.RawName, Payable: m.IsPayable(), Reads: m.IsConstant(), method: m}
		for i, a := range m.Inputs {
			f.Inputs = append(f.Inputs, input{Name: a.Name, Type: a.Type.String(), Value: v.page.r.URL.Query().Get(fmt.Sprintf("a%d", i))})
		}
		if f.Reads {
			v.Reads = append(v.Reads, f)
		} else {
			v.Writes = append(v.Writes, f)
		}
	}
	return nil
}

// knownContract is what is known of a contract on chain.
type knownContract struct {
	name, abi      string
	sources        []sourceText
	implementation string // of a proxy
}

// sourceText is a source of a contract.
type sourceText struct{ Name, Text string }

// knownContract asks for a contract's source, in a call of a name; nil if nobody knows it.
func (p *page) knownContract(call, address string) (*knownContract, error) {
	c := get(call, "/v2/api?module=contract&action=getsourcecode&chainid=%s&address=%s", p.Chain.ID, address)
	if err := p.load(c); err != nil {
		return nil, err
	}
	rows := list(dig(p.Got[call], "result"))
	if len(rows) == 0 || text(dig(rows[0], "ContractName")) == "" {
		return nil, nil
	}
	k := &knownContract{name: text(dig(rows[0], "ContractName")), abi: text(dig(rows[0], "ABI")), implementation: text(dig(rows[0], "Implementation"))}
	own, source := text(dig(rows[0], "ContractFileName")), text(dig(rows[0], "SourceCode"))
	input, several := strings.CutPrefix(source, "{{")
	if !several {
		k.sources = []sourceText{{cmp.Or(own, "Solidity"), source}}
		return k, nil
	}
	var in struct {
		Sources map[string]struct{ Content string }
	}
	if err := json.Unmarshal([]byte("{"+strings.TrimSuffix(input, "}")), &in); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(in.Sources)) {
		if t := (sourceText{name, in.Sources[name].Content}); name == own {
			k.sources = slices.Insert(k.sources, 0, t)
		} else {
			k.sources = append(k.sources, t)
		}
	}
	return k, nil
}

// choose calls the requested function without sending a transaction, and shows the result.
func (v *contractView) choose() error {
	q := v.page.r.URL.Query()
	for _, f := range slices.Concat(v.Reads, v.Writes) {
		if f.Sig == q.Get("call") {
			v.Chosen = &f
		}
	}
	if v.Chosen == nil {
		return nil
	}
	v.From, v.Value = q.Get("from"), q.Get("value")
	if len(v.Chosen.Inputs) > 0 && !q.Has("a0") {
		return nil
	}
	given := worldfile.Value{List: make([]worldfile.Value, len(v.Chosen.Inputs))}
	for i, in := range v.Chosen.method.Inputs {
		var err error
		if given.List[i], err = argumentValue(in.Type, v.Chosen.Inputs[i].Value); err != nil {
			v.Problem = fmt.Sprintf("%s: %v", in.Name, err)
			return nil
		}
	}
	packed, err := worldfile.Pack(v.Chosen.method.Inputs, given, v.page.names.address)
	if err != nil {
		v.Problem = err.Error()
		return nil
	}
	v.Data = "0x" + hex.EncodeToString(append(v.Chosen.method.ID, packed...))
	call := v.Transaction()
	if err := v.page.load(rpc("result", v.page.Chain.RPC, "eth_call", call, "latest").opt()); err != nil {
		return err
	}
	if e := v.page.Calls["result"].Error; e != "" {
		v.Problem = e
		return nil
	}
	raw, err := hexutil.Decode(text(v.page.Got["result"]))
	if err != nil {
		return nil
	}
	values, err := v.Chosen.method.Outputs.Unpack(raw)
	if err == nil {
		v.Result = decoder{v.page}.arguments(v.Chosen.method.Outputs, values)
	}
	return nil
}

// Transaction returns the call as a transaction object for the node.
func (v *contractView) Transaction() J {
	call := J{"to": v.Address, "data": v.Data}
	if persona := v.page.names.named(v.From); persona != "" {
		call["from"] = persona
	}
	if wei, ok := new(big.Int).SetString(v.Value, 10); ok && wei.Sign() > 0 {
		call["value"] = hexutil.EncodeBig(wei)
	}
	return call
}

// Send holds the data of a button that sends the transaction.
func (v *contractView) Send() template.HTMLAttr {
	return v.page.Do("POST", v.page.Chain.RPC, rpcBody("eth_sendTransaction", v.Transaction()))
}

// Link returns the URL of the page with a function chosen.
func (v *contractView) Link(sig string) string {
	return v.page.On("address", v.Address) + "/contract?call=" + url.QueryEscape(sig) + "#call"
}

// named resolves a persona's name to an address.
func (d *directory) named(name string) string {
	for i := range d.World.Personas {
		if d.World.Personas[i].Name == name {
			return d.World.Personas[i].Address
		}
	}
	return ""
}

// address resolves a persona's name or an address.
func (d *directory) address(text string) (common.Address, error) {
	text = cmp.Or(d.named(text), text)
	if !common.IsHexAddress(text) {
		return common.Address{}, fmt.Errorf("%q is not an address", clip(text, 60))
	}
	return common.HexToAddress(text), nil
}

// argumentValue reads a value as people write it; lists and tuples are JSON.
func argumentValue(t abi.Type, text string) (v worldfile.Value, err error) {
	switch t.T {
	case abi.SliceTy, abi.ArrayTy, abi.TupleTy:
		node, err := userfile.YAML([]byte(text)) // which JSON is
		if err != nil || node == nil {
			return v, fmt.Errorf("expected JSON for %s", t.String())
		}
		return v, v.UnmarshalYAML(node)
	case abi.StringTy:
		return worldfile.Value{Text: text}, nil
	}
	return worldfile.Value{Text: strings.TrimSpace(text)}, nil
}
