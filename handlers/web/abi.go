package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/contracts"
)

// warpMessenger is the precompile at 0x0200000000000000000000000000000000000005 of every chain, which sends messages to other chains
// (subnet-evm, precompile/contracts/warp).
const warpMessenger = `[
	{"type":"function","name":"sendWarpMessage","inputs":[{"name":"payload","type":"bytes"}],"outputs":[{"name":"messageID","type":"bytes32"}]},
	{"type":"function","name":"getVerifiedWarpMessage","inputs":[{"name":"index","type":"uint32"}],"outputs":[]},
	{"type":"function","name":"getVerifiedWarpBlockHash","inputs":[{"name":"index","type":"uint32"}],"outputs":[]},
	{"type":"function","name":"getBlockchainID","inputs":[],"outputs":[{"name":"blockchainID","type":"bytes32"}]},
	{"type":"event","name":"SendWarpMessage","inputs":[{"name":"sender","type":"address","indexed":true},{"name":"messageID","type":"bytes32","indexed":true},{"name":"message","type":"bytes"}]}]`

// known holds the functions and events of all the world's contracts, by selector and by topic.
var known = sync.OnceValue(func() (k struct {
	methods map[[4]byte]abi.Method
	events  map[common.Hash][]abi.Event
}) {
	k.methods, k.events = map[[4]byte]abi.Method{}, map[common.Hash][]abi.Event{}
	messenger, _ := abi.JSON(strings.NewReader(warpMessenger))
	all := []abi.ABI{messenger}
	for _, name := range contracts.Names() {
		if artifact, err := contracts.Load(name); err == nil { // tests load all embedded files
			all = append(all, artifact.ABI)
		}
	}
	for _, contract := range all {
		for _, m := range contract.Methods {
			if _, taken := k.methods[[4]byte(m.ID)]; !taken {
				k.methods[[4]byte(m.ID)] = m
			}
		}
		for _, e := range contract.Events {
			k.events[e.ID] = append(k.events[e.ID], e)
		}
	}
	return k
})

// decodedCall is a contract call with its arguments.
type decodedCall struct {
	Name      string // with the types of its parameters
	Arguments []argument
	Data      string // the undecoded rest
}

// argument is a named value.
type argument struct {
	Name, Type string
	Value      template.HTML
}

// decoder decodes calls and logs for a page, with the known ABIs.
type decoder struct{ *page }

func (p decoder) decodeCall(input string) *decodedCall {
	data, err := hexutil.Decode(input)
	if err != nil || len(data) == 0 {
		return nil
	}
	if len(data) >= 4 {
		if m, ok := known().methods[[4]byte(data)]; ok {
			if values, err := m.Inputs.Unpack(data[4:]); err == nil {
				return &decodedCall{Name: m.Sig, Arguments: p.arguments(m.Inputs, values)}
			}
		}
	}
	return &decodedCall{Name: clip(input, 10), Data: clip(input, 2000)}
}

// decodedLog is an event with its arguments.
type decodedLog struct {
	Index     string
	Address   template.HTML
	Name      string
	Arguments []argument
	Topics    []any // of an unknown event
	Data      string
}

func (p decoder) decodeLogs(logs []any) []decodedLog {
	var all []decodedLog
	for _, l := range logs {
		d := decodedLog{Index: hexNumber(dig(l, "logIndex")), Address: p.Addr(dig(l, "address")), Topics: list(dig(l, "topics")), Data: clip(text(dig(l, "data")), 2000)}
		if len(d.Topics) > 0 {
			for _, e := range known().events[common.HexToHash(text(d.Topics[0]))] {
				if arguments, err := p.decodeEvent(e, d.Topics[1:], text(dig(l, "data"))); err == nil {
					d.Name, d.Arguments = e.Sig, arguments
					break
				}
			}
		}
		all = append(all, d)
	}
	return all
}

// decodeEvent reads the indexed arguments from the topics and the others from the data.
func (p decoder) decodeEvent(e abi.Event, topics []any, text string) ([]argument, error) {
	indexed := slices.DeleteFunc(slices.Clone(e.Inputs), func(a abi.Argument) bool { return !a.Indexed })
	if len(indexed) != len(topics) {
		return nil, fmt.Errorf("%d topics for %d indexed arguments", len(topics), len(indexed))
	}
	hashes := make([]common.Hash, len(topics))
	for i, t := range topics {
		hashes[i] = common.HexToHash(fmt.Sprint(t))
	}
	values := map[string]any{}
	if err := abi.ParseTopicsIntoMap(values, indexed, hashes); err != nil {
		return nil, err
	}
	data, err := hexutil.Decode(text)
	if err != nil {
		return nil, err
	}
	if err := e.Inputs.UnpackIntoMap(values, data); err != nil && len(e.Inputs.NonIndexed()) > 0 {
		return nil, err
	}
	var all []argument
	for _, a := range e.Inputs {
		all = append(all, argument{a.Name, a.Type.String(), p.value(values[a.Name])})
	}
	return all, nil
}

func (p decoder) arguments(inputs abi.Arguments, values []any) []argument {
	all := make([]argument, len(values))
	for i, v := range values {
		all[i] = argument{inputs[i].Name, inputs[i].Type.String(), p.value(v)}
	}
	return all
}

// value formats one decoded value.
func (p decoder) value(v any) template.HTML {
	switch v := v.(type) {
	case common.Address:
		return p.Addr(v.Hex())
	case *big.Int:
		return template.HTML(`<span class="num">` + count(v.String()) + `</span>`)
	case string:
		if v == "" {
			return `<span class="muted">empty</span>`
		}
		return template.HTML("<bdi>" + esc(clip(v, 500)) + "</bdi>")
	case bool:
		return template.HTML(fmt.Sprint(v))
	case []byte:
		return template.HTML(`<span class="mono wrap">` + clip(hexutil.Encode(v), 400) + `</span>`)
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Array && r.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, r.Len())
		reflect.Copy(reflect.ValueOf(b), r)
		return p.ID(hexutil.Encode(b))
	}
	if r.Kind() == reflect.Slice {
		var parts []string
		for i := range min(r.Len(), 50) {
			parts = append(parts, string(p.value(r.Index(i).Interface())))
		}
		return template.HTML("[" + strings.Join(parts, ", ") + "]")
	}
	if r.Kind() == reflect.Struct {
		var b strings.Builder
		b.WriteString(`<dl class="args">`)
		for i := range r.NumField() {
			fmt.Fprintf(&b, "<div><dt>%s</dt><dd>%s</dd></div>", esc(r.Type().Field(i).Tag.Get("json")), p.value(r.Field(i).Interface()))
		}
		return template.HTML(b.String() + "</dl>")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return template.HTML(`<span class="wrap">` + esc(clip(string(b), 500)) + `</span>`)
}
