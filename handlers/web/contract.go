package web

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"math/big"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/contracts"
)

// contractView is a contract with known source.
type contractView struct {
	page          *page
	Address, Name string
	ABI, Source   string
	Reads, Writes []function
	Chosen        *function
	From, Value   string
	Problem       string
	Result        []argument
	Call          *Call
	Data          string // the encoded call
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
	if err := p.onChain(p.arg("chain")); err != nil {
		return err
	}
	v := &contractView{page: p, Address: p.arg("address")}
	if err := p.load(rpc("code", p.Chain.RPC, "eth_getCode", v.Address, "latest")); err != nil {
		return err
	}
	artifact := compiled(text(p.Got["code"]))
	if artifact == nil {
		return notFound("the source of the contract at %s is not known", clip(v.Address, 64))
	}
	v.Name, v.Source = artifact.Name, contracts.Source(artifact.Name)
	document, err := contracts.ABI(artifact.Name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, document, "", "  "); err != nil {
		return err
	}
	v.ABI = b.String()
	for _, m := range artifact.ABI.Methods {
		f := function{Sig: m.Sig, Name: m.RawName, Payable: m.IsPayable(), Reads: m.IsConstant(), method: m}
		for i, a := range m.Inputs {
			f.Inputs = append(f.Inputs, input{Name: a.Name, Type: a.Type.String(), Value: p.r.URL.Query().Get(fmt.Sprintf("a%d", i))})
		}
		if f.Reads {
			v.Reads = append(v.Reads, f)
		} else {
			v.Writes = append(v.Writes, f)
		}
	}
	for _, l := range [][]function{v.Reads, v.Writes} {
		slices.SortFunc(l, func(a, b function) int { return strings.Compare(a.Sig, b.Sig) })
	}
	p.Data = v
	if err := v.choose(); err != nil {
		return err
	}
	return p.showAs("contract", "chain-"+p.Chain.ID, artifact.Name+" on "+p.Chain.Label())
}

// compiled returns the contract that has this code.
func compiled(code string) *contracts.Artifact {
	raw, err := hexutil.Decode(code)
	if err != nil || len(raw) == 0 {
		return nil
	}
	for _, name := range contracts.Names() {
		if a, err := contracts.Load(name); err == nil && a.IsCode(raw) {
			return a
		}
	}
	return nil
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
	arguments := make([]any, len(v.Chosen.Inputs))
	for i, in := range v.Chosen.method.Inputs {
		value, err := parseArgument(in.Type, v.Chosen.Inputs[i].Value)
		if err != nil {
			v.Problem = fmt.Sprintf("%s: %v", in.Name, err)
			return nil
		}
		arguments[i] = value
	}
	packed, err := v.Chosen.method.Inputs.Pack(arguments...)
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

// parseArgument reads a value as people write it; lists and tuples are JSON.
func parseArgument(t abi.Type, s string) (any, error) {
	s = strings.TrimSpace(s)
	switch t.T {
	case abi.AddressTy:
		if !common.IsHexAddress(s) {
			return nil, fmt.Errorf("%q is no address", clip(s, 60))
		}
		return common.HexToAddress(s), nil
	case abi.StringTy:
		return s, nil
	case abi.BoolTy:
		return s == "true" || s == "1", nil
	case abi.BytesTy:
		return hexutil.Decode(s)
	case abi.FixedBytesTy:
		raw, err := hexutil.Decode(s)
		if err != nil {
			return nil, err
		}
		return fixedBytes(t, raw)
	case abi.UintTy, abi.IntTy:
		n, ok := new(big.Int).SetString(s, 0)
		if !ok {
			return nil, fmt.Errorf("%q is no whole number", clip(s, 60))
		}
		return sized(t, n)
	case abi.SliceTy, abi.ArrayTy:
		return parseList(t, s)
	}
	return nil, fmt.Errorf("values of the type %s cannot be entered here", t.String())
}

// fixedBytes makes a value of a type such as bytes32, padded on the right.
func fixedBytes(t abi.Type, raw []byte) (any, error) {
	if len(raw) > t.Size {
		return nil, fmt.Errorf("expected at most %d bytes", t.Size)
	}
	v := reflect.New(t.GetType()).Elem()
	reflect.Copy(v, reflect.ValueOf(raw))
	return v.Interface(), nil
}

// sized converts a whole number to the type that the encoder expects.
func sized(t abi.Type, n *big.Int) (any, error) {
	bits := t.Size
	if t.T == abi.IntTy {
		bits--
	}
	if n.BitLen() > bits || t.T == abi.UintTy && n.Sign() < 0 {
		return nil, fmt.Errorf("%s does not fit into %s", clip(n.String(), 60), t.String())
	}
	v := reflect.New(t.GetType()).Elem()
	switch v.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(n.Uint64())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(n.Int64())
	default:
		return n, nil
	}
	return v.Interface(), nil
}

// parseList reads a JSON array.
func parseList(t abi.Type, s string) (any, error) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(s), &items); err != nil {
		return nil, fmt.Errorf("expected a JSON array for %s", t.String())
	}
	if t.T == abi.ArrayTy && len(items) != t.Size {
		return nil, fmt.Errorf("expected %d items", t.Size)
	}
	v := reflect.New(t.GetType()).Elem()
	if t.T == abi.SliceTy {
		v.Set(reflect.MakeSlice(t.GetType(), len(items), len(items)))
	}
	for i, raw := range items {
		item := string(raw)
		var unquoted string
		if json.Unmarshal(raw, &unquoted) == nil {
			item = unquoted
		}
		value, err := parseArgument(*t.Elem, item)
		if err != nil {
			return nil, err
		}
		v.Index(i).Set(reflect.ValueOf(value))
	}
	return v.Interface(), nil
}
