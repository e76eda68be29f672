package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// harmless lists methods that use accounts whose keys the server holds and yet change nothing: their examples have results.
var harmless = []string{"sign", "signTransaction", "signTypedData_v4", "accounts", "requestAccounts", "listAccounts", "fillTransaction", "pendingTransactions"}

// unshown gives the reason why a method's example has no result, apart from changing the world.
var unshown = map[string]string{
	"debug_traceBadBlock":    "This world has no bad blocks, so every call fails.",
	"wallet_getCallsStatus":  unsent,
	"wallet_showCallsStatus": unsent,
	"debug_preimage":         "No preimages are recorded, so every call fails, as on a node that does not record them.",
}

const unsent = "This world has sent no batch yet, so the call fails: wallet_sendCalls returns the id of one."

const issued = "The example is a transaction that this world already contains, so sending it again fails: a client signs its own."

const changes = "It changes the world, so the example shows no result: try it."

// parts splits a method's name into its namespace and the rest.
func partsOf(method string) (family, name string) {
	family, name, found := strings.Cut(method, "_")
	if !found {
		family, name, _ = strings.Cut(method, ".")
	}
	return family, name
}

const oneToken = "0xde0b6b3a7640000" // 10^18

// ofCalls makes a trace list calls: one of all steps is a thousand times as long.
var ofCalls = J{"tracer": "callTracer"}

// given returns example arguments for methods whose parameter names say too little; nil for other methods.
func (s *samples) given(path, method string) (args []any, found bool) {
	alice, bob, nobody, usdc := s.names.named("alice"), s.names.named("bob"), s.names.named("nobody"), s.contract("usdc")
	_, name := partsOf(method)
	now := s.names.World.Clock.Unix
	pay := J{"from": alice, "to": bob, "value": "0x1"}
	switch {
	case strings.HasPrefix(method, "warp_"):
		return s.warp(path, name), true
	case strings.Contains(name, "Uncle") && strings.HasSuffix(name, "Index"):
		block := any("latest")
		if strings.Contains(name, "Hash") {
			block = s.blockHash()
		}
		return []any{block, "0x0"}, true
	case method == "debug_traceTransaction":
		return []any{s.names.World.Chains[0].Samples["crossChainSource"], ofCalls}, true
	case strings.HasPrefix(method, "wallet_"):
		return s.ofWallet(path, name)
	case method == "personal_sign":
		return []any{"0x68656c6c6f", alice}, true
	case method == "personal_ecRecover":
		return []any{"0x68656c6c6f", s.result(path, "personal_sign", "0x68656c6c6f", alice)}, true
	case method == "eth_callMany":
		return []any{[]any{J{"transactions": []any{J{"from": alice, "to": usdc, "data": "0x18160ddd"}}}}, J{"blockNumber": "latest"}}, true
	case method == "eth_callBundle":
		return []any{J{"txs": []any{s.result(path, "eth_signTransaction", pay)}, "blockNumber": "0xfffff", "stateBlockNumber": "latest"}}, true
	case method == "evm_mine":
		return []any{}, true
	}
	switch name {
	case "getFilterChanges", "uninstallFilter":
		return []any{s.result(path, "eth_newBlockFilter")}, true
	case "getFilterLogs":
		return []any{s.result(path, "eth_newFilter", J{"fromBlock": "0x1", "toBlock": "0x4"})}, true
	case "sendRawTransaction", "sendRawTransactionSync":
		return []any{s.result(path, "eth_signTransaction", pay)}, true
	case "sendRawTransactionConditional":
		return []any{s.result(path, "eth_signTransaction", pay), J{"knownAccounts": J{}, "blockNumberMin": "0x1"}}, true
	case "rawTransaction":
		return []any{s.result(path, "eth_signTransaction", pay), []any{"trace", "stateDiff"}}, true
	case "resend":
		return []any{J{"from": alice, "to": bob, "value": "0x1", "nonce": s.result(path, "eth_getTransactionCount", alice, "pending")}, "0x5d21dba00"}, true
	case "traceBlock":
		return []any{s.result(path, "debug_getRawBlock", "0xa"), ofCalls}, true
	case "traceBlockByHash":
		return []any{s.blockHash(), ofCalls}, true
	case "preimage", "traceBadBlock":
		return []any{s.blockHash()}, true
	case "storageRangeAt":
		return []any{s.blockHash(), 0, usdc, "0x", 2}, true
	case "setBlockGasLimit":
		return []any{dig(s.result(path, "eth_getBlockByNumber", "latest", false), "gasLimit")}, true
	}
	one := common.Hash{31: 1}.Hex()
	args, found = map[string][]any{
		"signTransaction": {pay}, "sendTransaction": {pay}, "sendUnsignedTransaction": {pay}, "fillTransaction": {pay},
		"sign": {alice, "0x68656c6c6f"}, "signTypedData_v4": {alice, s.typedData()},
		"signTypedData": {alice, s.typedData()}, "signTypedData_v3": {alice, s.typedData()}, "sendTransactionSync": {pay}, "clearTxpool": {},
		"getStorageValues": {J{usdc: []any{"0x0", "0x1"}}, "latest"}, "codeByHash": {types.EmptyCodeHash.Hex()},
		"callMany":  {[]any{[]any{pay, []any{"trace"}}, []any{pay, []any{"stateDiff"}}}, "latest"},
		"dumpBlock": {"0x0"}, "accountRange": {"latest", "0x", 2, true, true, false}, "getAccessibleState": {"0x1", "0x5"},
		"setBalance": {alice, oneToken}, "setAccountBalance": {alice, oneToken}, "addBalance": {alice, oneToken},
		"setCode": {nobody, "0x00"}, "setAccountCode": {nobody, "0x00"}, "setNonce": {nobody, "0x1"}, "setAccountNonce": {nobody, "0x1"},
		"setStorageAt": {nobody, "0x0", one}, "setAccountStorageAt": {nobody, "0x0", one},
		"dealERC20": {alice, usdc, "0xf4240"}, "setERC20Balance": {alice, usdc, "0xf4240"}, "setERC20Allowance": {alice, bob, usdc, "0xf4240"},
		"impersonateAccount": {usdc}, "stopImpersonatingAccount": {usdc}, "autoImpersonateAccount": {true}, "impersonateSignature": {"0x" + strings.Repeat("11", 64) + "1b", alice},
		"setAutomine": {true}, "setLoggingEnabled": {true}, "setIntervalMining": {0}, "mine": {"0x2"}, "mine_detailed": {},
		"setNextBlockBaseFeePerGas": {"0x5d21dba00"}, "setCoinbase": {bob}, "setChainId": {s.result(path, "eth_chainId")},
		"setTime": {now + 86400}, "setNextBlockTimestamp": {now + 86400}, "increaseTime": {3600}, "setBlockTimestampInterval": {12},
		"rollback": {0}, "reorg": {0, []any{}}, "revert": {"0x1"}, "dumpState": {}, "loadState": {"0x7b226163636f756e7473223a7b7d7d"}, "dropTransaction": {one},
	}[name]
	return args, found
}

// ofWallet returns the arguments of a method that apps call on browser wallets.
func (s *samples) ofWallet(path, name string) (args []any, found bool) {
	id, alice, bob := s.result(path, "eth_chainId"), s.names.named("alice"), s.names.named("bob")
	args, found = map[string][]any{
		"sendCalls":       {J{"version": "2.0.0", "from": alice, "chainId": id, "atomicRequired": true, "calls": []any{J{"to": bob, "value": "0x1"}}}},
		"getCapabilities": {alice}, "getCallsStatus": {"0x1"}, "showCallsStatus": {"0x1"},
		"switchEthereumChain": {J{"chainId": id}}, "addEthereumChain": {J{"chainId": id, "chainName": "Snowglobe", "rpcUrls": []any{"http://127.0.0.1:9650" + path}}},
		"watchAsset":         {J{"type": "ERC20", "options": J{"address": s.contract("usdx")}}},
		"requestPermissions": {J{"eth_accounts": J{}}}, "revokePermissions": {J{"eth_accounts": J{}}}, "getPermissions": {},
	}[name]
	return args, found
}

// members does the same for methods that take an object.
func (s *samples) members(path, method string) (J, bool) {
	family, name := partsOf(method)
	network := s.names.World.Networks[0]
	switch {
	case name == "issueTx":
		sample := map[string]string{"platform": "P.BaseTx", "avax": "C.ExportTx"}[family]
		if sample == "" {
			sample, family = "X.BaseTx", "avm"
		}
		get, from := family+".getTx", path
		switch family {
		case "avax":
			get = "avax.getAtomicTx"
		case "avm":
			from = strings.TrimSuffix(path, "/wallet")
		}
		tx := s.resultOf(from, get, J{"txID": network.Samples[sample], "encoding": "hex"})
		return J{"tx": dig(tx, "tx"), "encoding": "hex"}, true
	case method == "avax.getUTXOs":
		return J{"addresses": []any{"C-" + s.names.World.Personas[0].Addresses[network.Name]}, "sourceChain": "P", "limit": 2, "encoding": "hex"}, true
	case method == "index.getContainerByIndex":
		return J{"index": "1", "encoding": "hex"}, true
	case method == "index.getContainerByID", method == "index.getIndex":
		id := dig(s.resultOf(path, "index.getLastAccepted", J{"encoding": "hex"}), "id")
		if method == "index.getIndex" {
			return J{"id": id}, true
		}
		return J{"id": id, "encoding": "hex"}, true
	}
	return nil, false
}

// warp returns arguments about the chain's sample message, or about a block.
func (s *samples) warp(path, name string) []any {
	id := common.HexToHash(s.blockHash())
	if strings.Contains(name, "Message") {
		receipt := s.result(path, "eth_getTransactionReceipt", s.names.World.Chains[0].Samples["crossChainSource"])
		for _, log := range list(dig(receipt, "logs")) {
			if strings.HasSuffix(text(dig(log, "address")), "0005") && strings.HasPrefix(text(dig(log, "address")), "0x0200") {
				id = common.HexToHash(text(list(dig(log, "topics"))[2]))
			}
		}
	}
	if strings.HasSuffix(name, "AggregateSignature") {
		return []any{ids.ID(id).String(), 67, s.names.World.Networks[0].Subnets[0].SubnetID} // a subnet with fewer validators than the chain's own
	}
	return []any{ids.ID(id).String()}
}

// typedData returns an EIP-712 message.
func (s *samples) typedData() J {
	field := func(name, kind string) J { return J{"name": name, "type": kind} }
	return J{
		"domain": J{"name": "Example", "chainId": s.names.Chains[0].ID}, "primaryType": "Payment", "message": J{"to": s.names.named("bob"), "amount": "1"},
		"types": J{"EIP712Domain": []any{field("name", "string"), field("chainId", "uint256")}, "Payment": []any{field("to", "address"), field("amount", "uint256")}},
	}
}

// result returns the node's result for a method, nil if it fails.
func (s *samples) result(path, method string, params ...any) any {
	return s.resultOf(path, method, params)
}

func (s *samples) resultOf(path, method string, params any) any {
	return dig(s.answer(rpcWith("", path, method, params)), "result")
}

// answer makes a call and returns the decoded response, whatever its status.
func (s *samples) answer(c *Call) any {
	_, body := s.site.ask(s.from.Context(), s.from, c)
	answer, _ := decode(body)
	return answer
}

// silence returns the reason why a method's example has no result.
func silence(method string) string {
	if _, name := partsOf(method); name == "issueTx" {
		return issued
	}
	return cmp.Or(unshown[method], changes)
}

// answers reports whether a method's example has a result, given the permission the method needs.
func answers(method string, reads bool) bool {
	_, name := partsOf(method)
	return unshown[method] == "" && (reads || slices.Contains(harmless, name))
}
