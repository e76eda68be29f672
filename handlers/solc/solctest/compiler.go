// Package solctest stands in for a compiler in tests: a script that repeats what solc 0.8.30 once wrote about contracts/Counter.sol.
package solctest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/solc"
	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
)

// The source of the contracts Counter, Maker and Sums, and the compiler that read it.
const (
	Source  = "contracts/Counter.sol"
	Version = "0.8.30+commit.73712a01"
)

// Argument is one that the constructor of Counter takes, without 0x.
const Argument = "0000000000000000000000000000000000000000000000000000000000000003"

// Build is Hardhat's record of a run of the compiler.
type Build struct {
	Input  json.RawMessage // standard JSON
	Output json.RawMessage

	contracts map[string]map[string]struct {
		EVM struct {
			Bytecode struct {
				Object         string
				LinkReferences map[string]map[string][]struct{ Start, Length int }
			}
		}
	}
}

// Read reads the record, given the folder of package artifacts.
func Read(t testing.TB, artifacts string) *Build {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(artifacts, "testdata/hardhat2/artifacts/build-info/0e2cd7f53e1ac2bb8ddebb0783e8d753.json"))
	if err != nil {
		t.Fatal(err)
	}
	b := new(Build)
	if err := json.Unmarshal(raw, b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Output, &struct{ Contracts any }{&b.contracts}); err != nil {
		t.Fatal(err)
	}
	return b
}

// Creation returns the code that creates a contract, linked with any library.
func (b *Build) Creation(name string) string {
	code := b.contracts[Source][name].EVM.Bytecode
	text := []byte(code.Object)
	for _, libraries := range code.LinkReferences {
		for _, places := range libraries {
			for _, p := range places {
				copy(text[2*p.Start:], strings.Repeat("ab", p.Length))
			}
		}
	}
	return "0x" + string(text)
}

// Compilers returns the script as the only compiler of the machine.
func (b *Build) Compilers(t testing.TB) *solc.Compilers { return Compilers(t, string(b.Output)) }

// Compilers returns a compiler that writes one output, whatever it reads.
func Compilers(t testing.TB, output string) *solc.Compilers {
	t.Helper()
	written := filepath.Join(t.TempDir(), "output.json")
	if err := os.WriteFile(written, []byte(output+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return script(t, fmt.Sprintf("IFS= read -r output <%s; printf '%%s\\n' \"$output\"", written))
}

// script returns a compiler that does something in the shell's own words: a compiler has no search path.
func script(t testing.TB, does string) *solc.Compilers {
	t.Helper()
	file := filepath.Join(t.TempDir(), "solc")
	if err := os.WriteFile(file, fmt.Appendf(nil, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Version: %s.Linux.g++'; else %s; fi\n", Version, does), 0o700); err != nil {
		t.Fatal(err)
	}
	return solc.New([]string{file})
}

// Deploy creates a contract, in a transaction that needs no key, and returns its address.
func Deploy(t testing.TB, m *miner.Miner, from common.Address, code string) common.Address {
	t.Helper()
	nonce, err := m.Nonce(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
	tx, err := evm.Impersonate(types.NewTx(&types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, Gas: 3_000_000, GasTipCap: new(big.Int), GasFeeCap: big.NewInt(1e12), Data: common.FromHex(code),
	}), id, from)
	if err == nil {
		err = m.SendFrom(t.Context(), tx, from)
	}
	if err != nil {
		t.Fatal(err)
	}
	return crypto.CreateAddress(from, nonce)
}
