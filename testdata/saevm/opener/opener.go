// Package opener has the interface of avalanchego's vms/saevm/saedb that its worst case needs.
package opener

import (
	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/core/state"
)

// StateDBOpener opens the state with a root.
type StateDBOpener interface {
	StateDB(root common.Hash) (*state.StateDB, error)
}
