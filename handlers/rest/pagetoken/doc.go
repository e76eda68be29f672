// Package pagetoken encodes and decodes the page tokens of a world's lists.
//
// A page token is encrypted with the world's key and stored nowhere. It carries the keyset position after which the next page begins, the
// fingerprint of its query and the second in which it was issued.
//
// A position of up to six bytes (a row id, a block number) makes a token that is one valid version 4 UUID: 122 free bits, permuted as a
// whole by a block cipher (encrypted again until the six fixed bits come out right, which keeps it a permutation). Of 2^122 UUIDs at most
// 2^65 open for a given query and day, so a guess succeeds once in 2^57. A longer position makes several UUIDs joined by hyphens, encrypted
// and authenticated with a synthetic nonce.
//
// A token names the world's newest commit at the time it was issued. Once the world reverts to before that commit, the
// token is invalid for good.
//
// Nothing in a token is random: the same request at the same time of the world's clock gives the same token.
package pagetoken
