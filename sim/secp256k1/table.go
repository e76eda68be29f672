package secp256k1

import (
	"sync"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
)

// multiples holds d·256^i times the generator for each byte i of a number, the highest first, and each digit d: at d = 0 the point at infinity.
var multiples = sync.OnceValue(newTable)

func newTable() []secp256k1.G1Affine {
	all := make([]secp256k1.G1Jac, fr.Bytes<<8)
	power, _ := secp256k1.Generators()
	for i := fr.Bytes - 1; i >= 0; i-- {
		row := all[i<<8:][:1<<8]
		var once secp256k1.G1Affine
		once.FromJacobian(&power)
		for d := 1; d < len(row); d++ {
			row[d].Set(&row[d-1]).AddMixed(&once)
		}
		power.Set(&row[len(row)-1]).AddMixed(&once)
	}
	return secp256k1.BatchJacobianToAffineG1(all)
}

// multiple returns k times the generator. Package gnark-crypto's own takes three times as long.
func multiple(k *fr.Element) (point secp256k1.G1Affine) {
	var sum secp256k1.G1Jac
	table := multiples()
	for i, d := range k.Bytes() {
		sum.AddMixed(&table[i<<8|int(d)])
	}
	point.FromJacobian(&sum)
	return point
}
