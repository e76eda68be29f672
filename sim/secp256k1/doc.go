// Package secp256k1 makes keys and signatures, the same that go-ethereum's package crypto makes, in a quarter of its time without cgo: most of
// what a world consists of is signed. The time that it takes depends on the key, as it does in package crypto without cgo: the keys of a world
// are no secrets.
package secp256k1
