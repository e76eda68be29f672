package txs

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
)

// HexBytes is written by the node's JSON as 0x-hex without a checksum.
type HexBytes []byte

// Feature extensions of the X-Chain, by index.
var FxIDs = [...]ids.ID{
	IDOfName("secp256k1fx"),
	IDOfName("nftfx"),
	IDOfName("propertyfx"),
}

// IDOfName returns the network's id for a name: its bytes, padded with zeros.
func IDOfName(name string) ids.ID {
	var id ids.ID
	copy(id[:], name)
	return id
}

// TxJSON encodes a transaction as getTx does with encoding json: the node's fields in the node's order, addresses with the chain's prefix
// and the network's human-readable part.
func TxJSON(c Chain, hrp string, tx *Tx) (json.RawMessage, error) {
	w := newJSONWriter(c, hrp)
	if err := w.value(reflect.ValueOf(tx)); err != nil {
		return nil, fmt.Errorf("transaction %s: %w", tx.ID(), err)
	}
	return w.out, nil
}

// BlockJSON encodes a block as getBlock does with encoding json.
func BlockJSON(c Chain, hrp string, b *Block) (json.RawMessage, error) {
	w := newJSONWriter(c, hrp)
	if err := w.value(reflect.ValueOf(b.Body)); err != nil {
		return nil, fmt.Errorf("block %s: %w", b.ID(), err)
	}
	return w.out, nil
}

// jsonWriter walks the typed structs by their json tags. encoding/json alone cannot do it: addresses depend on network and chain, and
// feature extension ids appear in the JSON but not in the structs.
type jsonWriter struct {
	chain     Chain
	hrp       string
	out       []byte
	ids       map[ids.ID]string      // already written: the same assets and extensions recur
	addresses map[ids.ShortID]string // likewise
}

func newJSONWriter(c Chain, hrp string) *jsonWriter {
	return &jsonWriter{chain: c, hrp: hrp, ids: map[ids.ID]string{}, addresses: map[ids.ShortID]string{}}
}

// field is one member of a JSON object.
type field struct {
	name  string
	value reflect.Value
}

func (w *jsonWriter) value(v reflect.Value) error {
	if done, err := w.special(v.Interface()); done {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return w.value(v.Elem())
	case reflect.Struct:
		return w.object(w.fields(v))
	case reflect.Slice:
		return w.list(v)
	}
	return w.plain(v.Interface())
}

// special writes the types with JSON that differs from their fields.
func (w *jsonWriter) special(v any) (bool, error) {
	switch v := v.(type) {
	case HexBytes:
		w.hex(v)
		return true, nil
	case Signature:
		w.hex(v[:])
		return true, nil
	case ids.ID:
		text, known := w.ids[v]
		if !known {
			text = `"` + v.String() + `"`
			w.ids[v] = text
		}
		w.out = append(w.out, text...)
		return true, nil
	case []byte, ids.NodeID, ids.ShortID, [96]byte:
		return true, w.plain(v)
	case *ProofOfPossession:
		return true, w.proofOfPossession(*v)
	case ProofOfPossession:
		return true, w.proofOfPossession(v)
	case *Tx:
		return true, w.tx(v)
	case *GenesisBlock:
		return true, w.object(w.fields(reflect.ValueOf(v.Link)))
	}
	return false, nil
}

func (w *jsonWriter) plain(v any) error {
	b, err := json.Marshal(v)
	w.out = append(w.out, b...)
	return err
}

// address writes an address with chain and network.
func (w *jsonWriter) address(a ids.ShortID) string {
	text, known := w.addresses[a]
	if !known {
		text = FormatAddress(w.chain, w.hrp, a)
		w.addresses[a] = text
	}
	return text
}

func (w *jsonWriter) hex(b []byte) {
	w.out = append(w.out, `"0x`...)
	w.out = hex.AppendEncode(w.out, b)
	w.out = append(w.out, '"')
}

func (w *jsonWriter) list(v reflect.Value) error {
	w.out = append(w.out, '[')
	for i := range v.Len() {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(v.Index(i)); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *jsonWriter) object(fields []field) error {
	w.out = append(w.out, '{')
	for i, f := range fields {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, '"')
		w.out = append(w.out, f.name...)
		w.out = append(w.out, '"', ':')
		if err := w.value(f.value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *jsonWriter) proofOfPossession(p ProofOfPossession) error {
	return w.object([]field{
		{"publicKey", reflect.ValueOf(HexBytes(p.PublicKey[:]))},
		{"proofOfPossession", reflect.ValueOf(HexBytes(p.ProofOfPossession[:]))},
	})
}

// tx writes a transaction with its id, and its credentials as the chain shows them: only X names the extension.
func (w *jsonWriter) tx(tx *Tx) error {
	credentials := make([]any, len(tx.Credentials))
	for i, cred := range tx.Credentials {
		credentials[i] = cred
		if w.chain == XChain {
			credentials[i] = fxCredential{FxIDs[FxIndex(cred)], cred}
		}
	}
	return w.object([]field{
		{"unsignedTx", reflect.ValueOf(tx.Unsigned)},
		{"credentials", reflect.ValueOf(credentials)},
		{"id", reflect.ValueOf(tx.id)},
	})
}

type fxCredential struct {
	FxID       ids.ID       `json:"fxID"`
	Credential FxCredential `json:"credential"`
}

// fields lists a struct's members with embedded structs flattened.
func (w *jsonWriter) fields(v reflect.Value) []field {
	var fields []field
	owned := v.Type() == reflect.TypeFor[OutputOwners]()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch name := f.Tag.Get("json"); {
		case f.Anonymous:
			owned = owned || f.Type == reflect.TypeFor[OutputOwners]()
			fields = append(fields, w.fields(v.Field(i))...)
		case name != "":
			fields = append(fields, field{name, w.member(v, name, v.Field(i))})
		}
	}
	if owned {
		slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	}
	return withFxID(v, fields)
}

// member formats the addresses of owners, which the node shows with chain and network.
func (w *jsonWriter) member(parent reflect.Value, name string, v reflect.Value) reflect.Value {
	if parent.Type() != reflect.TypeFor[OutputOwners]() || name != "addresses" {
		return v
	}
	addresses := make([]string, v.Len())
	for i := range addresses {
		addresses[i] = w.address(v.Index(i).Interface().(ids.ShortID))
	}
	return reflect.ValueOf(addresses)
}

// withFxID adds the feature extension's id, which the bytes do not carry, before the last member.
func withFxID(v reflect.Value, fields []field) []field {
	var fx ids.ID
	switch s := v.Interface().(type) {
	case TransferableOutput:
		fx = FxIDs[FxIndex(s.Out)]
	case TransferableInput:
		fx = FxIDs[0]
	case Operation:
		fx = FxIDs[FxIndex(s.Op)]
	case InitialState:
		if uint64(s.FxIndex) < uint64(len(FxIDs)) {
			fx = FxIDs[s.FxIndex]
		}
	default:
		return fields
	}
	return slices.Insert(fields, len(fields)-1, field{"fxID", reflect.ValueOf(fx)})
}
