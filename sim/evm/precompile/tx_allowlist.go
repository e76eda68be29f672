package precompile

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

var txAllowListAddress = common.HexToAddress("0x0200000000000000000000000000000000000002")

// TxAllowList is subnet-evm's transaction allow list: only listed senders' transactions may be in blocks.
var TxAllowList = declare(txAllowListAddress, "txAllowListConfig", nil, allowListFunctions(txAllowListAddress)...)

// ErrSender refuses a sender that is not on the list (subnet-evm vmerrors.ErrSenderAddressNotAllowListed).
var ErrSender = errors.New("cannot issue transaction from non-allow listed address")

// CheckSender returns why a sender's transactions may not be in blocks with an active list, nil if they may (subnet-evm
// params.RulesExtra.CanExecuteTransaction).
func CheckSender(states vm.StateDB, sender common.Address) error {
	if RoleOf(states, TxAllowList.Address, sender).Enabled() {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrSender, sender)
}
