package seed

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/contracts"
	"snowglobe/fixtures/worldfile"
	"snowglobe/sim/evm/reader"
)

// failed returns the error of a request that fails unexpectedly.
func (p *player) failed(chain int, r *request, reason string, data []byte) error {
	if said := p.revertReason(chain, r, data); said != "" {
		reason += ": " + said
	}
	return fmt.Errorf("it fails: %s; write fails: true if you expect that", reason)
}

// failure does the same for a transaction in a block.
func (p *player) failure(ctx context.Context, chain int, t *reader.Transaction, r *request) error {
	trace, err := p.world.Chains[chain].TraceTransaction(ctx, t, &reader.TraceConfig{Tracer: new("callTracer")})
	if err != nil {
		return err
	}
	var call struct {
		Error  string
		Output hexutil.Bytes
	}
	if err := json.Unmarshal(trace.JSON(), &call); err != nil {
		return err
	}
	return p.failed(chain, r, call.Error, call.Output)
}

// revertReason formats a contract's revert data: a text, or an ABI's named error with its arguments. It tries the ABI of the called contract
// first, then the ABIs of the chain's other contracts, which it may have called.
func (p *player) revertReason(chain int, r *request, data []byte) string {
	if text, err := abi.UnpackRevert(data); err == nil {
		return text
	}
	if len(data) < 4 {
		return ""
	}
	for _, known := range p.abis(chain, r) {
		e, err := known.ErrorByID([4]byte(data))
		if err != nil {
			continue
		}
		values, err := e.Inputs.Unpack(data[4:])
		if err != nil {
			continue
		}
		args := make([]string, len(values))
		for i, v := range values {
			args[i] = shown(v)
			if name := e.Inputs[i].Name; name != "" {
				args[i] = name + ": " + args[i]
			}
		}
		return e.Name + "(" + strings.Join(args, ", ") + ")"
	}
	return hexutil.Encode(data)
}

// abis returns the ABIs to decode the response to a request's call, the likeliest first.
func (p *player) abis(chain int, r *request) []abi.ABI {
	all := []abi.ABI{r.abi}
	add := func(address common.Address, known abi.ABI) {
		if r.to != nil && *r.to == address {
			all = slices.Insert(all, 0, known)
		} else {
			all = append(all, known)
		}
	}
	for _, name := range worldfile.Sorted(p.byName) {
		if a := p.byName[name]; a.chain == chain {
			add(a.address, a.abi)
		}
	}
	for _, row := range p.chains[chain].Contracts() {
		if artifact, err := contracts.Load(row.Artifact); err == nil {
			add(common.Address(row.Address), artifact.ABI)
		}
	}
	return all
}

// shown formats a value of an ABI's type as people write it.
func shown(v any) string {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.String:
		return fmt.Sprintf("%q", v)
	case reflect.Slice, reflect.Array:
		if address, is := v.(common.Address); is {
			return address.Hex()
		}
		if value.Type().Elem().Kind() == reflect.Uint8 {
			raw := make([]byte, value.Len())
			reflect.Copy(reflect.ValueOf(raw), value)
			return "0x" + hex.EncodeToString(raw)
		}
		entries := make([]string, value.Len())
		for i := range entries {
			entries[i] = shown(value.Index(i).Interface())
		}
		return "[" + strings.Join(entries, ", ") + "]"
	case reflect.Struct:
		fields := make([]string, value.NumField())
		for i := range fields {
			fields[i] = shown(value.Field(i).Interface())
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return fmt.Sprint(v)
}
