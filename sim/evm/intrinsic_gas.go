package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
)

// IntrinsicGas is what a transaction costs before any of its code runs. Where the warp precompile is active, its entries in the access list are
// predicates, which cost more (coreth and subnet-evm, core.IntrinsicGas).
func IntrinsicGas(tx *types.Transaction, warp bool, rules params.Rules) (uint64, error) {
	list, extra := tx.AccessList(), uint64(0)
	if warp {
		predicates, rest := splitPredicates(list)
		var err error
		if extra, err = predicateGas(predicates); err != nil {
			return 0, err
		}
		list = rest
	}
	gas, err := core.IntrinsicGas(tx.Data(), list, nil, common.Address{}, tx.To(), nil, rules)
	if err == nil && gas+extra < gas {
		err = core.ErrGasUintOverflow
	}
	return gas + extra, err
}
