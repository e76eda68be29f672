// Package secp256k1 makes the same keys and signatures as go-ethereum's package crypto, in a quarter of its time without cgo: most of a
// world is signed. Like package crypto without cgo, it takes time that depends on the key: the keys of a world are no secrets.
package secp256k1
