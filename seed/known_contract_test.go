package seed_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// TestKnownContracts finds the contracts that applications know by their addresses on every chain, and the listed tokens on each
// C-Chain, with their names and with holders.
func TestKnownContracts(t *testing.T) {
	for _, profile := range profiles() {
		w := world(t, profile, 1)
		alice := common.BytesToAddress(evmAddress(t, w, "alice"))
		for _, c := range w.Chains {
			code := func(at common.Address) []byte { return must(w.DB.Account(t.Context(), c.Row.ID, at[:], 0))(t).CodeHash }
			// The hash for which Foundry looks before it deploys.
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
					continue // whether alice wrapped any is her business
				}
				if held := must(w.DB.TokenBalance(t.Context(), alice[:], token.ID.Asset(nil), head.ID.Number()))(t); len(held.Amount) == 0 {
					t.Errorf("chain %d: alice has no %s", c.Row.EVMID, want.Symbol)
				}
			}
		}
	}
}

// permit2 is the code of Permit2 on a chain: what the package has, with the chain's id and the domain separator of EIP-712 in it.
func permit2(t *testing.T, chainID uint64) []byte {
	domain := apitypes.TypedDataDomain{Name: "Permit2", ChainId: math.NewHexOrDecimal256(int64(chainID)), VerifyingContract: fixtures.Permit2.Hex()}
	types := apitypes.Types{"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}}
	separator := must((&apitypes.TypedData{Types: types, Domain: domain}).HashStruct("EIP712Domain", domain.Map()))(t)
	code := bytes.Clone(must(contracts.Load("Permit2"))(t).Runtime)
	binary.BigEndian.PutUint64(code[0x1b21+24:], chainID)
	copy(code[0x1b47:], separator)
	return code
}

// TestListedTokensHaveAddressesOfTheirOwn and roles.
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
