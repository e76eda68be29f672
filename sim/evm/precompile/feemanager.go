package precompile

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

var feesAddress = common.HexToAddress("0x0200000000000000000000000000000000000003")

// Fees keeps the fee configuration of its chain where those who hold a role can change it. A change counts from the
// next block on.
var Fees = declare(feesAddress, "feeManagerConfig", initialFees, append(permissions(feesAddress),
	Function{
		Signature: SetFees, Writes: true,
		Gas: costs((feeFields+1)*writeGas + feeFields*readGas + eventGas(2, 2*feeFields*wordBytes)), Run: setFees,
	},
	Function{Signature: "getFeeConfig()", Gas: costs(feeFields * readGas), Run: getFees},
	Function{Signature: "getFeeConfigLastChangedAt()", Gas: costs(readGas), Run: getFeesChange},
)...)

// SetFees is the signature of the function that changes the configuration.
const SetFees = "setFeeConfig(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256)"

// feeFields is how many numbers a fee configuration has.
const feeFields = 8

// feesChangeSlot has the number of the block in which the configuration last changed.
var feesChangeSlot = common.Hash{'l', 'c', 'a'}

var (
	errFees          = errors.New("non-enabled cannot change fee config")
	topicFeesChanged = topic("FeeConfigChanged(address,(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256),(uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256))")
)

// feeSlot is where a field is kept, counted from zero.
func feeSlot(field int) common.Hash { return common.Hash{byte(field + 1)} }

// Storage reads a slot of a contract.
type Storage func(contract common.Address, slot common.Hash) common.Hash

// Manages says whether a fee manager is in force at a time.
func (s *Schedule) Manages(time uint64) bool { return s.in(Fees, time) != nil }

// FeesIn reads the fee configuration that the fee manager keeps, and the block in which it last changed.
func FeesIn(read Storage) (FeeConfig, *big.Int) {
	var numbers [feeFields]*big.Int
	for i := range numbers {
		numbers[i] = read(feesAddress, feeSlot(i)).Big()
	}
	return feeConfigOf(numbers), read(feesAddress, feesChangeSlot).Big()
}

func (a *Activation) storeFees(f *FeeConfig) error {
	if err := f.Check(); err != nil {
		return fmt.Errorf("cannot verify fee config: %w", err)
	}
	for i, w := range f.Words() {
		a.State.SetState(feesAddress, feeSlot(i), w)
	}
	a.State.SetState(feesAddress, feesChangeSlot, common.BigToHash(new(big.Int).SetUint64(a.Number)))
	return nil
}

// initialFees are those that the setting names, or the chain's own.
func initialFees(a *Activation) error {
	if a.Setting.InitialFees != nil {
		return a.storeFees(a.Setting.InitialFees)
	}
	return a.storeFees(a.Fees)
}

func setFees(c *Call) ([]byte, error) {
	var numbers [feeFields]*big.Int
	for i := range numbers {
		numbers[i] = c.number(i)
	}
	if !RoleOf(c.State, feesAddress, c.Caller).Enabled() {
		return nil, fmt.Errorf("%w: %s", errFees, c.Caller)
	}
	fees, before := feeConfigOf(numbers), encodeFees(c.State.GetState)
	a := Activation{State: c.State, Number: c.Block.BlockNumber.Uint64()}
	if err := a.storeFees(&fees); err != nil {
		return nil, err
	}
	c.emit(feesAddress, append(before, encodeFees(c.State.GetState)...), topicFeesChanged, common.BytesToHash(c.Caller[:]))
	return nil, nil
}

func encodeFees(read Storage) []byte {
	var data []byte
	for i := range feeFields {
		data = append(data, read(feesAddress, feeSlot(i)).Bytes()...)
	}
	return data
}

func getFees(c *Call) ([]byte, error) { return encodeFees(c.State.GetState), nil }

func getFeesChange(c *Call) ([]byte, error) {
	return c.State.GetState(feesAddress, feesChangeSlot).Bytes(), nil
}
