package precompile

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

// Role is the permission of an address for a precompile (subnet-evm precompile/allowlist.Role).
type Role byte

// The roles, by the numbers that the contracts keep.
const (
	None Role = iota
	Enabled
	Admin
	Manager
)

// String returns the role as subnet-evm's errors name it.
func (r Role) String() string {
	return [...]string{"NoRole", "EnabledRole", "AdminRole", "ManagerRole"}[r]
}

// Enabled reports whether the holder of the role may use the contract.
func (r Role) Enabled() bool { return r != None }

// mayChange reports whether the holder may move an address from one role to another: an admin any, a manager only between none and enabled.
func (r Role) mayChange(from, to Role) bool {
	return r == Admin || r == Manager && from <= Enabled && to <= Enabled
}

func (r Role) word() common.Hash { return common.BytesToHash([]byte{byte(r)}) }

// RoleOf reads the role of an address from the state of a contract.
func RoleOf(states vm.StateDB, contract, address common.Address) Role {
	word := states.GetState(contract, common.BytesToHash(address[:]))
	if role := word.Big(); role.IsUint64() && role.Uint64() <= uint64(Manager) {
		return Role(role.Uint64())
	}
	return None
}

func setRole(states vm.StateDB, contract, address common.Address, role Role) {
	states.SetState(contract, common.BytesToHash(address[:]), role.word())
}

var (
	errCannotModifyAllowList = errors.New("cannot modify allow list")
	eventRoleSet             = eventTopic("RoleSet(uint256,address,address,uint256)")
)

// allowListFunctions lists the functions that every contract with roles has (subnet-evm precompile/allowlist.CreateAllowListFunctions).
func allowListFunctions(contract common.Address) []Function {
	setter := func(name string, role Role) Function {
		return Function{
			Signature: name + "(address)", Gas: costs(writeGas + eventGas(4, wordBytes)), Writes: true,
			Run: func(c *Call) ([]byte, error) { return nil, c.changeRole(contract, role) },
		}
	}
	return []Function{
		setter("setNone", None), setter("setEnabled", Enabled), setter("setAdmin", Admin), setter("setManager", Manager),
		{Signature: "readAllowList(address)", Gas: costs(readGas), Run: func(c *Call) ([]byte, error) {
			return RoleOf(c.State, contract, c.address(0)).word().Bytes(), nil
		}},
	}
}

func (c *Call) changeRole(contract common.Address, role Role) error {
	address := c.address(0)
	before := RoleOf(c.State, contract, address)
	if !RoleOf(c.State, contract, c.Caller).mayChange(before, role) {
		return fmt.Errorf("%w: modify address: %s, from role: %s, to role: %s", errCannotModifyAllowList, c.Caller, before, role)
	}
	c.emit(contract, before.word().Bytes(), eventRoleSet, role.word(), common.BytesToHash(address[:]), common.BytesToHash(c.Caller[:]))
	setRole(c.State, contract, address, role)
	return nil
}
