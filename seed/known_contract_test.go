package seed_test

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestKnownContracts finds the contracts that applications expect at fixed addresses on every chain, and the listed tokens on each C-Chain, with
// their names and with holders.
func TestKnownContracts(t *testing.T) {
	for _, profile := range profiles(t) {
		w := world(t, profile, 1)
		alice := common.BytesToAddress(evmAddress(t, w, "alice"))
		for _, c := range w.Chains {
			code := func(at common.Address) []byte { return must(w.DB.Account(t.Context(), c.Row.ID, at[:], 0))(t).CodeHash }
			// Foundry checks for this hash before it deploys.
			if have := common.BytesToHash(code(fixtures.Create2Deployer)); have != crypto.Keccak256Hash(fixtures.Create2DeployerCode) ||
				have != common.HexToHash("0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989") {
				t.Errorf("chain %d: the CREATE2 deployer's code has hash %s", c.Row.EVMID, have)
			}
			if code(fixtures.TeleporterMessenger) == nil || code(fixtures.Multicall) == nil {
				t.Errorf("chain %d has no messenger or no multicall", c.Row.EVMID)
			}
			if have := common.BytesToHash(code(fixtures.SafeDeployer)); have != crypto.Keccak256Hash(fixtures.Create2DeployerCode) {
				t.Errorf("chain %d: Safe's singleton factory has the code %s", c.Row.EVMID, have)
			}
			if have, want := must(w.DB.Code(t.Context(), code(fixtures.Permit2)))(t), permit2(t, c.Row.EVMID); !bytes.Equal(have, want) {
				t.Errorf("chain %d: Permit2 has the code %x, not %x", c.Row.EVMID, have, want)
			}
			if c.Kind != evm.KindC {
				continue
			}
			head := must(w.DB.Head(t.Context(), c.Row.ID))(t)
			for _, want := range fixtures.ListedTokens[c.Row.Network] {
				token := must(w.DB.TokenAt(t.Context(), c.Row.ID, want.Address[:]))(t)
				if token.ID.Standard() != store.ERC20 || token.Name != want.Name || token.Symbol != want.Symbol || token.Decimals != int(want.Decimals) {
					t.Errorf("chain %d: %s is %+v", c.Row.EVMID, want.Role, token)
				}
				if want.Role == fixtures.WrappedRole {
					continue // whether alice wrapped any is up to her
				}
				if held := must(w.DB.TokenBalance(t.Context(), alice[:], token.ID.Asset(nil), head.ID.Number()))(t); len(held.Amount) == 0 {
					t.Errorf("chain %d: alice has no %s", c.Row.EVMID, want.Symbol)
				}
			}
		}
	}
}

// TestRegistryNamesTheMessenger calls the registry of every chain, at its real address on a C-Chain, as an application's constructor does.
func TestRegistryNamesTheMessenger(t *testing.T) {
	real := map[uint64]string{43114: "0x7C43605E14F391720e1b37E49C78C4b03A488d98", 43113: "0xF86Cb19Ad8405AEFa7d09C778215D2Cb6eBfB228"}
	artifact := must(contracts.Load("TeleporterRegistry"))(t)
	for _, profile := range profiles(t) {
		w := world(t, profile, 1)
		for _, c := range w.Chains {
			at := fixtures.L1TeleporterRegistry
			if c.Kind == evm.KindC {
				at = common.HexToAddress(real[c.Row.EVMID])
			}
			ask := func(method string, args ...any) any {
				input := hexutil.Bytes(must(artifact.ABI.Pack(method, args...))(t))
				head := must(c.Head(t.Context()))(t)
				result := must(c.Call(t.Context(), head, &reader.Call{To: &at, Input: &input}, reader.Overrides{}))(t)
				if result.Failed() {
					t.Fatalf("chain %d: %s: %v", c.Row.EVMID, method, result.Err)
				}
				return must(artifact.ABI.Unpack(method, result.ReturnData))(t)[0]
			}
			if latest := ask("latestVersion"); latest.(*big.Int).Cmp(big.NewInt(1)) != 0 {
				t.Errorf("chain %d: the latest version is %v", c.Row.EVMID, latest)
			}
			for method, arg := range map[string][]any{"getLatestTeleporter": nil, "getTeleporterFromVersion": {big.NewInt(1)}, "getAddressFromVersion": {big.NewInt(1)}} {
				if have := ask(method, arg...); have != fixtures.TeleporterMessenger {
					t.Errorf("chain %d: %s is %s", c.Row.EVMID, method, have)
				}
			}
			if version := ask("getVersionFromAddress", fixtures.TeleporterMessenger); version.(*big.Int).Cmp(big.NewInt(1)) != 0 {
				t.Errorf("chain %d: the messenger's version is %v", c.Row.EVMID, version)
			}
			if id := ask("blockchainID").([32]byte); !bytes.Equal(id[:], c.Row.BlockchainID) {
				t.Errorf("chain %d: the registry's blockchain is %x, not %x", c.Row.EVMID, id, c.Row.BlockchainID)
			}
			if rows := must(w.DB.Contracts(t.Context(), c.Row.ID))(t); !slices.ContainsFunc(rows, func(r store.Contract) bool {
				return r.Role == "registry" && common.Address(r.Address) == at
			}) {
				t.Errorf("chain %d: no contract with the role registry at %s", c.Row.EVMID, at)
			}
		}
	}
}

// permit2 returns the code of Permit2 on a chain: the package's code, with the chain's id and EIP-712 domain separator.
func permit2(t *testing.T, chainID uint64) []byte {
	domain := apitypes.TypedDataDomain{Name: "Permit2", ChainId: math.NewHexOrDecimal256(int64(chainID)), VerifyingContract: fixtures.Permit2.Hex()}
	types := apitypes.Types{"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}}
	separator := must((&apitypes.TypedData{Types: types, Domain: domain}).HashStruct("EIP712Domain", domain.Map()))(t)
	code := bytes.Clone(must(contracts.Load("Permit2"))(t).Runtime)
	binary.BigEndian.PutUint64(code[0x1b21+24:], chainID)
	copy(code[0x1b47:], separator)
	return code
}

// TestListedTokensHaveAddressesOfTheirOwn, and roles of their own.
func TestListedTokensHaveAddressesOfTheirOwn(t *testing.T) {
	for network, tokens := range fixtures.ListedTokens {
		var addresses []common.Address
		roles := map[string]bool{}
		for _, token := range tokens {
			if slices.Contains(addresses, token.Address) || roles[token.Role] {
				t.Errorf("%s has two tokens %s or two at %s", network, token.Role, token.Address)
			}
			addresses, roles[token.Role] = append(addresses, token.Address), true
		}
		if tokens[0].Role != fixtures.WrappedRole {
			t.Errorf("the first token of %s is %s", network, tokens[0].Role)
		}
	}
}
