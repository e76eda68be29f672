package precompile

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

var feeManagerAddress = common.HexToAddress("0x0200000000000000000000000000000000000003")

// FeeManager is subnet-evm's fee manager (precompile/contracts/feemanager): it stores the fee configuration of its chain, which holders of a role can change. A change
// applies from the next block on.
var FeeManager = declare(feeManagerAddress, "feeManagerConfig", configureFeeManager, append(allowListFunctions(feeManagerAddress),
	Function{
		Signature: SetFeeConfig, Writes: true, BadInput: errUnpackInput,
		Gas: costs((feeFields+1)*writeGas + feeFields*readGas + eventGas(2, 2*feeFields*wordBytes)), Run: setFeeConfig,
	},
	Function{Signature: "getFeeConfig()", Gas: costs(feeFields * readGas), Run: getFeeConfig},
	Function{Signature: "getFeeConfigLastChangedAt()", Gas: costs(readGas), Run: getFeeConfigLastChangedAt},
)...)

// SetFeeConfig is the signature of the function that changes the configuration.
const SetFeeConfig = "setFeeConfig(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256)"

const feeFields = 8

// lastChangedAtSlot holds the number of the block in which the configuration last changed.
var lastChangedAtSlot = common.Hash{'l', 'c', 'a'}

var (
	errCannotChangeFees   = errors.New("non-enabled cannot change fee config")
	eventFeeConfigChanged = eventTopic("FeeConfigChanged(address,(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256),(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256))")
)

// feeSlot returns the slot of a field, counted from zero.
func feeSlot(field int) common.Hash { return common.Hash{byte(field + 1)} }

// Storage reads a slot of a contract.
type Storage func(contract common.Address, slot common.Hash) common.Hash

// HasFeeManager reports whether a fee manager is in force at a time.
func (s *Upgrades) HasFeeManager(time uint64) bool {
	_, active := s.configAt(FeeManager, time)
	return active
}

// StoredFeeConfig reads the fee manager's configuration, and the block in which it last changed.
func StoredFeeConfig(read Storage) (FeeConfig, *big.Int) {
	var numbers [feeFields]*big.Int
	for i := range numbers {
		numbers[i] = read(feeManagerAddress, feeSlot(i)).Big()
	}
	return feeConfigOf(numbers), read(feeManagerAddress, lastChangedAtSlot).Big()
}

func (a *Activation) storeFeeConfig(f *FeeConfig) error {
	if err := f.Check(); err != nil {
		return fmt.Errorf("cannot verify fee config: %w", err)
	}
	for i, w := range f.Words() {
		a.State.SetState(feeManagerAddress, feeSlot(i), w)
	}
	a.State.SetState(feeManagerAddress, lastChangedAtSlot, common.BigToHash(new(big.Int).SetUint64(a.Number)))
	return nil
}

// configureFeeManager stores the fees that the setting names, or the chain's own.
func configureFeeManager(a *Activation) error {
	if a.Config.InitialFees != nil {
		return a.storeFeeConfig(a.Config.InitialFees)
	}
	return a.storeFeeConfig(a.FeeConfig)
}

func setFeeConfig(c *Call) ([]byte, error) {
	var numbers [feeFields]*big.Int
	for i := range numbers {
		numbers[i] = c.number(i)
	}
	if !RoleOf(c.State, feeManagerAddress, c.Caller).Enabled() {
		return nil, fmt.Errorf("%w: %s", errCannotChangeFees, c.Caller)
	}
	fees, before := feeConfigOf(numbers), encodeFeeConfig(c.State.GetState)
	a := Activation{State: c.State, Number: c.Block.BlockNumber.Uint64()}
	if err := a.storeFeeConfig(&fees); err != nil {
		return nil, err
	}
	c.emit(feeManagerAddress, append(before, encodeFeeConfig(c.State.GetState)...), eventFeeConfigChanged, common.BytesToHash(c.Caller[:]))
	return nil, nil
}

func encodeFeeConfig(read Storage) []byte {
	var data []byte
	for i := range feeFields {
		data = append(data, read(feeManagerAddress, feeSlot(i)).Bytes()...)
	}
	return data
}

func getFeeConfig(c *Call) ([]byte, error) { return encodeFeeConfig(c.State.GetState), nil }

func getFeeConfigLastChangedAt(c *Call) ([]byte, error) {
	return c.State.GetState(feeManagerAddress, lastChangedAtSlot).Bytes(), nil
}
