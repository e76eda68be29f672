package permit

import (
	"slices"
	"strings"
)

// signed are the methods that take a transaction with its signatures.
var signed = []string{
	"eth_sendRawTransaction", "eth_sendRawTransactionSync",
	"platform.issueTx", "avm.issueTx", "xvm.issueTx", "wallet.issueTx", "avax.issueTx",
}

// controlling are how the names of methods begin that do what is not signed: use accounts whose keys the server holds or that it
// impersonates, or change
// state, blocks and time.
var controlling = []string{
	"eth_sendTransaction", "eth_sendUnsignedTransaction", "eth_sign", "personal_", "evm_", "anvil_", "hardhat_", "tenderly_", "miner_", "admin_", "debug_set", "wallet.", "admin.",
}

// telling are those among them that only tell something.
var telling = []string{
	"anvil_getAutomine", "hardhat_getAutomine", "anvil_nodeInfo", "hardhat_nodeInfo", "anvil_metadata", "hardhat_metadata",
	"anvil_getIntervalMining", "hardhat_getIntervalMining", "personal_listAccounts", "personal_ecRecover",
}

// Of is the class of a JSON-RPC method, by its name as clients write it. The whole admin API is control, what it tells
// included.
func Of(method string) Class {
	switch {
	case slices.Contains(signed, method):
		return SignedTransaction
	case slices.Contains(telling, method):
		return Read
	case slices.ContainsFunc(controlling, func(begin string) bool { return strings.HasPrefix(method, begin) }):
		return Control
	}
	return Read
}
