package txs_test

import (
	"bytes"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"snowglobe/sim/txs"
)

// The node recovers keys with decred's package; its own is not among the dependencies.
func TestKeysAreRecoveredAsByTheNode(t *testing.T) {
	hash, recovered, refused := make([]byte, 32), 0, map[string]int{}
	for n := range byte(12) {
		secret := make([]byte, 32)
		secret[31], hash[n%32] = n+1, n
		compact := ecdsa.SignCompact(secp256k1.PrivKeyFromBytes(secret), hash, false)
		for changed := -1; changed < 65; changed++ {
			sig := txs.Signature(append(bytes.Clone(compact[1:]), compact[0]-27))
			if changed >= 0 {
				sig[changed] += n % 9 // the last byte is the recovery id
			}
			if changed == 32 { // s may become greater than half the order
				sig[changed] += 100
			}
			want, compressed, failure := ecdsa.RecoverCompact(append([]byte{sig[64] + 27}, sig[:64]...), hash)
			var s secp256k1.ModNScalar
			s.SetByteSlice(sig[32:64])
			reason := ""
			switch {
			case s.IsOverHalfOrder():
				reason = "signature was mutated from its original format"
			case failure != nil:
				reason = "invalid signature"
			case compressed:
				reason = "wasn't expecting a compressed key"
			}
			got, err := txs.RecoverKey(hash, sig)
			switch {
			case err != nil:
				if refused[reason]++; err.Error() != reason {
					t.Errorf("%x of %x: %v, not %s", sig, hash, err, reason)
				}
			case reason != "" || !bytes.Equal(got[:], want.SerializeUncompressed()):
				t.Errorf("%x of %x: %x, not %s", sig, hash, got, reason)
			default:
				recovered++
			}
		}
	}
	if recovered < 400 || len(refused) != 3 {
		t.Errorf("%d keys were recovered, refused: %v", recovered, refused)
	}
}
