package index

import (
	"crypto/sha256"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/store"
)

// Documents caches item URIs that our own contracts compose while a world is made. Each of its chains has the same collections, and
// composing a document takes ten thousand instructions. The document of an ordinary item depends only on the contract's code, its name and
// the item's number; special items, and items of other contracts, are asked for each time.
type Documents struct {
	layouts map[common.Hash]layout // by the hash of the code

	mutex sync.Mutex
	known map[document]store.URIHash
}

// document is the hash of a document's inputs.
type document [16]byte

// mostDocuments bounds the cache; an entry takes 50 bytes.
const mostDocuments = 1 << 18

// layout holds the numbers of the variables in which a contract stores the attributes of an item.
type layout struct {
	contract string
	name     uint64
	owners   []uint64 // mappings by item, set for each existing item
	empty    []uint64 // variables that are zero
	special  []uint64 // mappings by item, set for special items
}

var layouts = []layout{
	{contract: "Collection", name: 0, owners: []uint64{2}, special: []uint64{6, 8, 9}},
	{contract: "Drop", name: 0, owners: []uint64{2}},
	{contract: "Items", name: 6, empty: []uint64{2}, special: []uint64{4, 8, 9}},
}

// NewDocuments returns an empty cache. Several chains may share it at once.
func NewDocuments() (*Documents, error) {
	d := &Documents{layouts: map[common.Hash]layout{}, known: map[document]store.URIHash{}}
	for _, l := range layouts {
		artifact, err := contracts.Load(l.contract)
		if err != nil {
			return nil, err
		}
		d.layouts[crypto.Keccak256Hash(artifact.Runtime)] = l
	}
	return d, nil
}

// of returns the inputs of an item's document, if the document can be cached.
func (d *Documents) of(states tracing.StateDB, contract common.Address, item []byte) (key document, ok bool) {
	if d == nil {
		return key, false
	}
	code := states.GetCodeHash(contract)
	l, ok := d.layouts[code]
	if !ok {
		return key, false
	}
	number := common.BytesToHash(item)
	name := states.GetState(contract, variable(l.name))
	if name[31]&1 != 0 { // the name does not fit this word
		return key, false
	}
	for _, n := range l.empty {
		if states.GetState(contract, variable(n)) != (common.Hash{}) {
			return key, false
		}
	}
	for _, n := range l.special {
		if states.GetState(contract, element(n, number)) != (common.Hash{}) {
			return key, false
		}
	}
	for _, n := range l.owners {
		if states.GetState(contract, element(n, number)) == (common.Hash{}) {
			return key, false
		}
	}
	sum := sha256.Sum256(append(append(code.Bytes(), name[:]...), number[:]...))
	return document(sum[:]), true
}

// variable returns the storage key of the variable with a number.
func variable(n uint64) (key common.Hash) {
	key[31] = byte(n)
	return key
}

// element returns the storage key of an item's value in a mapping, given the number of its variable.
func element(n uint64, item common.Hash) common.Hash {
	mapping := variable(n)
	return crypto.Keccak256Hash(item[:], mapping[:])
}

// find returns the hash of a cached URI, or nil.
func (d *Documents) find(key document) *store.URIHash {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if uri, known := d.known[key]; known {
		return &uri
	}
	return nil
}

func (d *Documents) add(key document, uri store.URIHash) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if len(d.known) == mostDocuments {
		clear(d.known)
	}
	d.known[key] = uri
}
