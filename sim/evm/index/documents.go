package index

import (
	"crypto/sha256"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures/contracts"
	"snowglobe/sim/store"
)

// Documents are the URIs of items that contracts of ours composed while a world is made. The same collections are on each of its chains, and
// composing a document takes ten thousand instructions. That of an item without anything special about it follows from the contract's code,
// its name and the item's number; what an item of another contract has, or one that is special, is asked each time.
type Documents struct {
	layouts map[common.Hash]layout // by the hash of the code

	mutex sync.Mutex
	known map[document]store.URIHash
}

// document is the hash of what a document follows from.
type document [16]byte

// mostDocuments is how many are remembered, of 50 bytes each.
const mostDocuments = 1 << 18

// layout says where a contract keeps what makes an item special, by the numbers of its variables.
type layout struct {
	contract string
	name     uint64
	owners   []uint64 // mappings by item that have something for each that is there
	empty    []uint64 // variables that are zero
	special  []uint64 // mappings by item that have something for what is special
}

var layouts = []layout{
	{contract: "Collection", name: 0, owners: []uint64{2}, special: []uint64{6, 8, 9}},
	{contract: "Drop", name: 0, owners: []uint64{2}},
	{contract: "Items", name: 6, empty: []uint64{2}, special: []uint64{4, 8, 9}},
}

// NewDocuments remembers none yet. Several chains may use it at once.
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

// of tells what the document of an item follows from, if it is one that is remembered.
func (d *Documents) of(states vm.StateDB, contract common.Address, item []byte) (key document, ok bool) {
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
	if name[31]&1 != 0 { // a name that is longer than this word
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

// variable is the storage key of the variable with a number.
func variable(n uint64) (key common.Hash) {
	key[31] = byte(n)
	return key
}

// element is the storage key of what a mapping, the variable with a number, has for an item.
func element(n uint64, item common.Hash) common.Hash {
	mapping := variable(n)
	return crypto.Keccak256Hash(item[:], mapping[:])
}

// find is the hash of a URI that is remembered, or nil.
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
