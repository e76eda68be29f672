package verification

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/artifacts"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Contract is a contract on chain whose source or interface is known.
type Contract struct {
	Name     string
	Source   string // name of its source, "" if that is not known
	ABI      json.RawMessage
	Compiler string // long version, or as much of it as the code tells
	Language string
	Settings json.RawMessage   // of the compiler's input, nil if unknown
	Sources  map[string]string // texts by name

	Exact     bool   // whether even the metadata is the same
	Created   bool   // whether the code of the transaction that deployed it is the same, too
	Arguments []byte // of the constructor, where that transaction tells
	Time      int64  // when it was verified, Unix seconds; 0 if nobody did
}

// ErrNoCode means that an address has no code.
var ErrNoCode = errors.New("there is no code at the address")

// Code reads the code of a contract now, or returns ErrNoCode.
func Code(ctx context.Context, db *store.DB, c *reader.Chain, address common.Address) (code, hash []byte, err error) {
	account, err := db.Account(ctx, c.Row.ID, address[:], store.MaxNumber)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && (account.Gone || account.CodeHash == nil):
		return nil, nil, ErrNoCode
	case err != nil:
		return nil, nil, err
	}
	code, err = db.Code(ctx, account.CodeHash)
	return code, account.CodeHash, err
}

// Find returns what is known of the contract at an address, nil for nothing. The file is that of the index that a client reads.
func (s *Service) Find(ctx context.Context, db *store.DB, c *reader.Chain, address common.Address) (*Contract, error) {
	code, hash, err := Code(ctx, db, c, address)
	if errors.Is(err, ErrNoCode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known, creation, err := s.ofCode(code)
	if known == nil || err != nil {
		return nil, err
	}
	if err := known.deployed(ctx, db, c, address, creation); err != nil {
		return nil, err
	}
	if known.Time, err = s.world.DB.VerifiedTime(ctx, hash); errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return known, err
}

// ofCode finds the contract that has code, and the code that creates it.
func (s *Service) ofCode(code []byte) (*Contract, *artifacts.Contract, error) {
	if c := s.registry.Runtime(code); c != nil {
		return ofArtifact(c, code), c, nil
	}
	for _, name := range contracts.Names() {
		a, err := contracts.Load(name)
		if err != nil || !a.IsCode(code) {
			continue
		}
		known := &Contract{Name: name, Compiler: compilerOf(code), Language: "Solidity", Exact: true}
		if known.ABI, err = contracts.ABI(name); err != nil {
			return nil, nil, err
		}
		if text := contracts.Source(name); text != "" {
			known.Source = name + ".sol"
			known.Sources = map[string]string{known.Source: text}
		}
		return known, &artifacts.Contract{Creation: artifacts.Code{Bytes: a.Bytecode}}, nil
	}
	return nil, nil, nil
}

func ofArtifact(c *artifacts.Contract, code []byte) *Contract {
	known := &Contract{Name: c.Name, Source: c.Source, ABI: c.ABI, Exact: bytes.Equal(metadata(c.Runtime.Bytes), metadata(code))}
	build, err := c.Build()
	if err != nil {
		return known // the artifact is known without its build
	}
	known.Compiler, known.Language, known.Settings = build.Compiler, build.Language, inputSettings(build.Settings)
	known.Sources = map[string]string{}
	for i := range build.Sources {
		if text := build.Sources[i].Content; text != "" {
			known.Sources[build.Sources[i].Name] = text
		}
	}
	return known
}

// inputSettings returns the settings of a compiler's input, given those of its metadata, which name the contract.
func inputSettings(raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all["compilationTarget"] == nil {
		return raw
	}
	delete(all, "compilationTarget")
	kept, err := json.Marshal(all)
	if err != nil {
		return raw
	}
	return kept
}

// metadata returns the end of code that the compiler's metadata takes: the last two bytes tell its length.
func metadata(code []byte) []byte {
	if len(code) < 2 {
		return nil
	}
	size := int(binary.BigEndian.Uint16(code[len(code)-2:])) + 2
	if size > len(code) || size < 4 {
		return nil
	}
	return code[len(code)-size:]
}

// compilerOf reads the compiler's version from the metadata: the key solc with three bytes (CBOR).
func compilerOf(code []byte) string {
	tail := metadata(code)
	at := bytes.LastIndex(tail, []byte("\x64solc\x43"))
	if at < 0 || at+9 > len(tail) {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", tail[at+6], tail[at+7], tail[at+8])
}

// deployed compares with the transaction that deployed the contract. A contract of the genesis or of a factory has none of its own.
func (k *Contract) deployed(ctx context.Context, db *store.DB, c *reader.Chain, address common.Address, by *artifacts.Contract) error {
	input, err := creationOf(ctx, db, c, address)
	if err != nil || input == nil {
		return err
	}
	registry := artifacts.New()
	registry.Add(by)
	if registry.Creation(input) != nil {
		k.Created, k.Arguments = true, input[len(by.Creation.Bytes):]
	}
	return nil
}

// creationOf returns the input of the transaction that created a contract, nil if none did.
func creationOf(ctx context.Context, db *store.DB, c *reader.Chain, address common.Address) ([]byte, error) {
	d, err := db.Deployment(ctx, c.Row.ID, address[:])
	if errors.Is(err, store.ErrNotFound) || err == nil && d.Creator != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	row, err := db.Transaction(ctx, d.Transaction())
	if err != nil {
		return nil, err
	}
	tx := new(types.Transaction)
	err = tx.UnmarshalBinary(row.Raw)
	return tx.Data(), err
}
