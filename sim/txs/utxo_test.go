package txs

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

// TestUTXOsAreReadAsTheCodecReadsThem compares the fast paths of ParseUTXO and marshalOutput with the codec, for bytes of UTXOs and for truncated,
// extended and changed ones.
func TestUTXOsAreReadAsTheCodecReadsThem(t *testing.T) {
	random, quick := rand.New(rand.NewPCG(1, 1)), 0
	for i := range 3000 {
		owners := OutputOwners{Locktime: random.Uint64N(3), Threshold: random.Uint32N(3), Addresses: make([]ids.ShortID, i%4)}
		for j := range owners.Addresses {
			owners.Addresses[j] = ids.ShortID{byte(i), byte(j)}
		}
		out := Output(&TransferOutput{Amount: random.Uint64(), OutputOwners: owners})
		chain := Chain(i % 3)
		switch {
		case i%7 == 0 && chain == PChain:
			out = &StakeableLockOut{Locktime: 5, Output: &TransferOutput{Amount: 1, OutputOwners: owners}}
		case i%7 == 0 && chain == XChain:
			out = &MintOutput{OutputOwners: owners}
		}
		raw, err := (&UTXO{UTXOID{ids.ID{byte(i)}, random.Uint32()}, ids.ID{1, byte(i)}, out}).Bytes(chain)
		if err != nil {
			t.Fatal(err)
		}
		written, err := marshalOutput(chain, out)
		if want, wantErr := chain.Marshal(&out); err != nil || wantErr != nil || !bytes.Equal(written, want) {
			t.Fatalf("%v %+v: %x, %v; the codec writes %x, %v", chain, out, written, err, want, wantErr)
		}
		switch i % 5 {
		case 1:
			raw = raw[:random.IntN(len(raw))]
		case 2:
			raw = append(raw, byte(i))
		case 3:
			raw[random.IntN(len(raw))] ^= 1 << random.IntN(8)
		}
		got, gotErr := ParseUTXO(chain, raw)
		want := &UTXO{}
		wantErr := chain.Unmarshal(raw, want)
		if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v %x: %+v, %v; the codec reads %+v, %v", chain, raw, got, gotErr, want, wantErr)
		}
		if parseTransferUTXO(raw) != nil {
			quick++
		}
	}
	if quick < 1000 {
		t.Errorf("%d of 3000 were read the short way", quick)
	}
}
