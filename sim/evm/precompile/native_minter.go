package precompile

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/holiman/uint256"
)

var nativeMinterAddress = common.HexToAddress("0x0200000000000000000000000000000000000001")

// NativeMinter is subnet-evm's native minter (precompile/contracts/nativeminter): holders of a role mint native coins.
var NativeMinter = declare(nativeMinterAddress, "contractNativeMinterConfig", configureNativeMinter, append(allowListFunctions(nativeMinterAddress), Function{
	Signature: "mintNativeCoin(address,uint256)", Gas: costs(mintGas + eventGas(3, wordBytes)), Writes: true, BadInput: errUnpackInput, Run: mintNativeCoin,
})...)

const mintGas = 30_000

var (
	errCannotMint         = errors.New("non-enabled cannot mint")
	eventNativeCoinMinted = eventTopic("NativeCoinMinted(address,address,uint256)")
)

func mintNativeCoin(c *Call) ([]byte, error) {
	if !RoleOf(c.State, nativeMinterAddress, c.Caller).Enabled() {
		return nil, fmt.Errorf("%w: %s", errCannotMint, c.Caller)
	}
	to, amount := c.address(0), c.word(1)
	c.emit(nativeMinterAddress, amount.Bytes(), eventNativeCoinMinted, common.BytesToHash(c.Caller[:]), common.BytesToHash(to[:]))
	c.State.AddBalance(to, new(uint256.Int).SetBytes(amount[:]), tracing.BalanceChangeUnspecified)
	return nil, nil
}

func configureNativeMinter(a *Activation) error {
	for to, amount := range a.Config.InitialMint {
		value, overflow := uint256.FromBig((*big.Int)(amount))
		if overflow {
			return fmt.Errorf("initial mint for %s does not fit 256 bits", to)
		}
		a.State.AddBalance(to, value, tracing.BalanceChangeUnspecified)
	}
	return nil
}
