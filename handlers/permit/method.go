package permit

import (
	"slices"
	"strings"
)

// signed lists the methods that take a signed transaction.
var signed = []string{
	"eth_sendRawTransaction", "eth_sendRawTransactionSync", "eth_sendRawTransactionConditional",
	"platform.issueTx", "avm.issueTx", "xvm.issueTx", "wallet.issueTx", "avax.issueTx",
}

// controlling lists the prefixes of methods that act without a signature: they use accounts whose keys the server holds or that it
// impersonates, or change state, blocks and time.
var controlling = []string{
	"eth_sendTransaction", "eth_sendUnsignedTransaction", "eth_sign", "eth_resend", "personal_", "evm_", "anvil_", "hardhat_", "tenderly_", "miner_", "admin_", "debug_set", "debug_clearTxpool",
	"wallet_sendCalls", "wallet.", "admin.",
}

// telling lists the methods with such a prefix that only read.
var telling = []string{
	"anvil_getAutomine", "hardhat_getAutomine", "anvil_nodeInfo", "hardhat_nodeInfo", "anvil_metadata", "hardhat_metadata",
	"anvil_getGenesisTime", "anvil_getLastBlockWallTime", "anvil_getIntervalMining", "hardhat_getIntervalMining", "personal_listAccounts", "personal_ecRecover", "anvil_dumpState", "hardhat_dumpState",
}

// Of returns the class of a JSON-RPC method by its name. The whole admin API is control, including the methods that only read.
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
