package evm

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/seed/population"
)

// knownContract is a contract at a well-known address, from a chain's genesis on.
type knownContract struct {
	role     string
	artifact string // empty for code that is not one of ours
	address  common.Address
	args     []any
	code     []byte // where there is no artifact
}

// registryEntry is a version of TeleporterMessenger.
type registryEntry struct {
	Version         *big.Int
	ProtocolAddress common.Address
}

func (s *ChainSpec) knownContracts(personas *population.Personas) []knownContract {
	if s.Imported() {
		return nil
	}
	registry := fixtures.TeleporterRegistries[s.Network]
	if s.IsL1() {
		registry = fixtures.L1TeleporterRegistry
	}
	all := []knownContract{
		{role: "multicall", artifact: "Multicall3", address: fixtures.Multicall},
		{role: "messenger", artifact: "Messenger", address: fixtures.TeleporterMessenger},
		{role: "registry", artifact: "TeleporterRegistry", address: registry, args: []any{[]registryEntry{{big.NewInt(1), fixtures.TeleporterMessenger}}}},
		{role: "permit2", artifact: "Permit2", address: fixtures.Permit2},
		{role: "create2-deployer", address: fixtures.Create2Deployer, code: fixtures.Create2DeployerCode},
		{role: "safe-singleton-factory", address: fixtures.SafeDeployer, code: fixtures.Create2DeployerCode},
	}
	for _, t := range s.Tokens {
		all = append(all, knownContract{role: t.Role, artifact: "Token", address: t.Address, args: []any{t.Name, t.Symbol, t.Decimals, new(big.Int), t.Owner}})
	}
	if s.IsL1() {
		return append(all, knownContract{role: "validator-manager", artifact: "ValidatorManager", address: ValidatorManager})
	}
	for _, t := range fixtures.ListedTokens[s.Network] {
		k := knownContract{role: t.Role, artifact: "ListedToken", address: t.Address, args: []any{t.Name, t.Symbol, t.Decimals, personas.Deployer.Address}}
		if t.Role == fixtures.WrappedRole {
			k.artifact, k.args = "WrappedNative", k.args[:3]
		}
		all = append(all, k)
	}
	return all
}

func (k *knownContract) account(chainID *big.Int) (types.Account, error) {
	if k.artifact == "" {
		return types.Account{Code: k.code, Nonce: 1}, nil
	}
	artifact, err := contracts.Load(k.artifact)
	if err != nil {
		return types.Account{}, err
	}
	initCode, err := artifact.InitCode(k.args...)
	if err != nil {
		return types.Account{}, err
	}
	account, err := Constructed(chainID.Uint64(), k.address, initCode)
	if err != nil {
		return account, fmt.Errorf("constructor of %s: %w", k.role, err)
	}
	return account, nil
}

// Constructed returns a genesis contract with the code and storage that its constructor leaves behind. It runs the constructor at the
// contract's address, where no deployment could put most of these contracts.
func Constructed(chainID uint64, address common.Address, initCode []byte) (types.Account, error) {
	storage := map[common.Hash]common.Hash{}
	states, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		return types.Account{}, err
	}
	states.SetCode(address, initCode, tracing.CodeChangeUnspecified)
	written := func(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
		if stack := scope.StackData(); vm.OpCode(op) == vm.SSTORE {
			storage[stack[len(stack)-1].Bytes32()] = stack[len(stack)-2].Bytes32()
		}
	}
	config := *params.MergedTestChainConfig
	config.ChainID = new(big.Int).SetUint64(chainID)
	code, _, err := runtime.Call(address, nil, &runtime.Config{ChainConfig: &config, State: states, EVMConfig: vm.Config{Tracer: &tracing.Hooks{OnOpcode: written}}})
	return types.Account{Code: code, Nonce: 1, Storage: storage}, err
}
