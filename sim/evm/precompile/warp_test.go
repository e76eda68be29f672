package precompile

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/warp"
)

// signed returns a message with this payload in the name of signers, as bytes of a signed message.
func signed(t *testing.T, payload []byte, signers []byte) []byte {
	t.Helper()
	m := &warp.Message{UnsignedMessage: warp.UnsignedMessage{NetworkID: 5, SourceChainID: ids.ID{9}, Payload: payload}, Signature: warp.BitSetSignature{Signers: signers}}
	raw, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func addressedCall(t *testing.T, body []byte) []byte {
	t.Helper()
	payload, err := warp.AddressedCall(admin[:], body)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func blockHash(t *testing.T) []byte {
	t.Helper()
	payload, err := warp.HashPayload(ids.ID{8})
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// TestPredicates packs messages of all lengths as avalanchego's vms/evm/predicate does: the bytes, 0xff, and zeros up to a whole chunk.
func TestPredicates(t *testing.T) {
	for size := range 100 {
		message := bytes.Repeat([]byte{0xff}, size)
		packed := slices.Concat(message, []byte{0xff}, make([]byte, 31-size%32))
		p := NewPredicate(message)
		if len(p)*32 != len(packed) {
			t.Fatalf("%d bytes take %d chunks", size, len(p))
		}
		for i, chunk := range p {
			if !bytes.Equal(chunk[:], packed[i*32:(i+1)*32]) {
				t.Errorf("%d bytes: chunk %d is %s", size, i, chunk)
			}
		}
	}
	for size := range 40 {
		raw := signed(t, addressedCall(t, make([]byte, size)), []byte{3})
		m, err := NewPredicate(raw).Message()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := m.Bytes(); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("a message with %d bytes is unpacked as %x, %v", size, again, err)
		}
	}
	raw := signed(t, addressedCall(t, make([]byte, 5)), []byte{3})
	p := NewPredicate(raw)
	undelimited := slices.Clone(p)
	undelimited[len(p)-1][len(raw)%32] = 0xfe
	for _, c := range []struct {
		name string
		p    Predicate
		want string
	}{
		{"no chunk", nil, "cannot unpack predicate bytes: no delimiter found: length (0)"},
		{"a chunk of zeros more", append(slices.Clone(p), common.Hash{}), "cannot unpack predicate bytes: predicate included excess padding: got length (7)"},
		{"another delimiter", undelimited, "cannot unpack predicate bytes: wrong delimiter"},
		{"no message", NewPredicate([]byte{1, 2, 3}), "cannot unpack warp message: "},
		{"nothing but a delimiter", NewPredicate(nil), "cannot unpack warp message: "},
	} {
		if _, err := c.p.Message(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if _, err := c.p.Gas(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("the gas of %s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestGasOfPredicates: 125,000 for the signature, 512 for each chunk and 250 for each signer.
func TestGasOfPredicates(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload []byte
		signers []byte
		want    uint64
		words   string
	}{
		{"nobody's", addressedCall(t, nil), nil, 125_000 + 6*512, ""},
		{"one signer's", addressedCall(t, nil), []byte{1}, 125_000 + 6*512 + 250, ""},
		{"ten signers'", addressedCall(t, nil), []byte{3, 0xff}, 125_000 + 6*512 + 2500, ""},
		{"a longer one", addressedCall(t, make([]byte, 320)), []byte{1}, 125_000 + 16*512 + 250, ""},
		{"a hash", blockHash(t), []byte{1}, 125_000 + 6*512 + 250, ""},
		{"another payload", []byte{1, 2, 3}, []byte{1}, 0, "cannot unpack warp message payload: "},
		{"padded signers", addressedCall(t, nil), []byte{0, 1}, 0, "cannot fetch num signers from warp message: "},
	} {
		raw := signed(t, c.payload, c.signers)
		got, err := NewPredicate(raw).Gas()
		if c.words == "" && (err != nil || got != c.want) || c.words != "" && (err == nil || !strings.HasPrefix(err.Error(), c.words)) {
			t.Errorf("%s message of %d bytes costs %d, %v; want %d, %s", c.name, len(raw), got, err, c.want, c.words)
		}
	}
}

// abi puts words and bytes together.
func abi(parts ...any) (data []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			data = append(data, wordOf(uint64(p)).Bytes()...)
		case uint64:
			data = append(data, wordOf(p).Bytes()...)
		case ids.ID:
			data = append(data, p[:]...)
		case common.Hash:
			data = append(data, p[:]...)
		case []byte:
			data = append(data, p...)
		}
	}
	return data
}

// TestSendingMessages: the event has the message that the chain's validators sign, and its id.
func TestSendingMessages(t *testing.T) {
	m := newMachine(t, nil, Warp)
	m.frames.Warp = WarpInput{NetworkID: 5, ChainID: ids.ID{4}}
	send := func(parts ...any) ([]byte, uint64, error) {
		return m.call(nobody, WarpAddress, append(PackInput("sendWarpMessage(bytes)"), abi(parts...)...))
	}
	for i, c := range []struct {
		input []any
		body  string
	}{
		{[]any{32, 3, []byte("abc"), make([]byte, 29)}, "abc"},
		{[]any{32, 3, []byte("abc")}, "abc"}, // without padding
		{[]any{64, 99, 3, []byte("xyz")}, "xyz"},
		{[]any{32, 0}, ""},
		{[]any{32, 32, bytes.Repeat([]byte("m"), 32)}, strings.Repeat("m", 32)},
		{[]any{0}, ""}, // the offset is the length, too
	} {
		payload, err := warp.AddressedCall(nobody[:], []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		unsigned := &warp.UnsignedMessage{NetworkID: 5, SourceChainID: ids.ID{4}, Payload: payload}
		raw, err := unsigned.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		id, err := unsigned.ID()
		if err != nil {
			t.Fatal(err)
		}
		out, used, err := send(c.input...)
		if want := uint64(41_500 + 8*len(abi(c.input...))); err != nil || !bytes.Equal(out, id[:]) || used != want {
			t.Errorf("%q: %x for %d gas, %v; want %s for %d", c.body, out, used, err, id, want)
			continue
		}
		want := &types.Log{
			Address: WarpAddress, BlockNumber: 7, Data: abi(32, len(raw), raw, make([]byte, (32-len(raw)%32)%32)),
			Topics: []common.Hash{crypto.Keccak256Hash([]byte("SendWarpMessage(address,bytes32,bytes)")), addressWord(nobody), common.Hash(id)},
		}
		if logs := m.states.Logs(); len(logs) != i+1 || !sameLog(logs[i], want) {
			t.Errorf("%q: the events are %+v, want %+v", c.body, logs, want)
		}
	}
	beyond := common.Hash{22: 1, 31: 32} // 2^72 + 32
	for _, c := range []struct {
		input []any
		want  string
	}{
		{[]any{64, 0}, "abi: cannot marshal in to go slice: offset 64 would go over slice boundary (len=64)"},
		{[]any{beyond, 0}, "abi: cannot marshal in to go slice: offset 4722366482869645213728 would go over slice boundary (len=64)"},
		{[]any{32, 3, []byte("ab")}, "abi: cannot marshal in to go type: length insufficient 66 require 3"},
		{[]any{32, beyond, []byte("ab")}, "abi: cannot marshal in to go type: length insufficient 66 require 4722366482869645213728"},
	} {
		if _, used, err := send(c.input...); err == nil || err.Error() != "invalid sendWarpMessage input: "+c.want || used != 1_000_000 {
			t.Errorf("%v: %d gas, %v; want %s", c.input, used, err, c.want)
		}
	}
	if _, _, err := m.StaticCall(nobody, WarpAddress, append(PackInput("sendWarpMessage(bytes)"), abi(32, 0)...), m.budget()); err == nil || err.Error() != "write protection" {
		t.Errorf("sent by a static call: %v", err)
	}
	if out, used, err := m.call(nobody, WarpAddress, PackInput("getBlockchainID()")); err != nil || used != 200 || !bytes.Equal(out, abi(ids.ID{4})) {
		t.Errorf("the chain is %x for %d gas, %v", out, used, err)
	}
}

// TestReceivingMessages reads the messages of a transaction by their index; a refused one and one that is not there are not valid.
func TestReceivingMessages(t *testing.T) {
	m := newMachine(t, nil, Warp)
	call := NewPredicate(signed(t, addressedCall(t, []byte("hello")), nil))
	hash := NewPredicate(signed(t, blockHash(t), nil))
	m.frames.Warp = WarpInput{NetworkID: 5, ChainID: ids.ID{4}, Predicates: []Predicate{call, hash, call}, Failed: new(big.Int).SetBit(new(big.Int), 2, 1)}
	hello := abi(64, 1, ids.ID{9}, addressWord(admin), 96, 5, []byte("hello"), make([]byte, 27))
	noMessage, noHash := abi(64, 0, 0, 0, 96, 0), abi(0, 0, 0)
	const message, block = "getVerifiedWarpMessage(uint32)", "getVerifiedWarpBlockHash(uint32)"
	one := uint64(750 + len(call)*512)
	for _, c := range []struct {
		name, signature string
		index           any
		want            []byte
		gas             uint64
		words           string
	}{
		{"a message", message, 0, hello, one, ""},
		{"a block", block, 1, abi(ids.ID{9}, ids.ID{8}, 1), uint64(750 + len(hash)*512), ""},
		{"a refused message", message, 2, noMessage, 750, ""},
		{"a refused block", block, 2, noHash, 750, ""},
		{"one after the last", message, 3, noMessage, 750, ""},
		{"a block after the last", block, 3, noHash, 750, ""},
		{"the largest index", message, math.MaxInt32, noMessage, 750, ""},
		{"a larger index", message, uint64(math.MaxInt32 + 1), nil, 1_000_000, "invalid index to specify warp message: larger than MaxInt32"},
		{"the largest number", message, uint64(math.MaxUint32), nil, 1_000_000, "invalid index to specify warp message: larger than MaxInt32"},
		{"a larger number", message, uint64(math.MaxUint32 + 1), nil, 1_000_000, "invalid index to specify warp message: abi: improperly encoded uint32 value"},
		{"a number beyond 64 bits", block, common.Hash{20: 1}, nil, 1_000_000, "invalid index to specify warp message: abi: improperly encoded uint32 value"},
		{"a block as a message", message, 1, nil, 1_000_000, "cannot unpack addressed payload: "},
		{"a message as a block", block, 0, nil, 1_000_000, "cannot unpack block hash payload: "},
		{"half an index", message, make([]byte, 16), nil, 1_000_000, "invalid index to specify warp message: abi: cannot marshal in to go type: length insufficient 16 require 32"},
	} {
		out, used, err := m.call(nobody, WarpAddress, append(PackInput(c.signature), abi(c.index)...))
		if !bytes.Equal(out, c.want) || used != c.gas || c.words == "" && err != nil || c.words != "" && (err == nil || !strings.HasPrefix(err.Error(), c.words)) {
			t.Errorf("%s: %x for %d gas, %v; want %x for %d, %s", c.name, out, used, err, c.want, c.gas, c.words)
		}
	}
	m.frames.Warp.Failed = nil
	if out, _, err := m.call(nobody, WarpAddress, append(PackInput(message), abi(2)...)); err != nil || !bytes.Equal(out, hello) {
		t.Errorf("without a refused one: %x, %v", out, err)
	}
}
