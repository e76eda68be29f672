package anvil

// unsupported is the error of a method of anvil or Hardhat that cannot work on this network. It says why, and names an alternative if there
// is one.
type unsupported string

func (e unsupported) Error() string { return string(e) }

// ErrorCode is EIP-1474's code for an unsupported method, as Hardhat returns it.
func (unsupported) ErrorCode() int { return -32004 }

const (
	errMinGasPrice = unsupported("the minimum gas price cannot be set: blocks have a base fee (EIP-1559), so anvil and Hardhat would refuse this too; set the next block's with anvil_setNextBlockBaseFeePerGas")
	errPrevRandao  = unsupported("blocks of this network have no random value: PREVRANDAO is 1 in all of them")
	errBlobs       = unsupported("this network has no blobs: its transactions are of types 0 to 2 (no EIP-4844)")
	errAccessLists = unsupported("blocks of this network have no access lists (EIP-7928)")
	errTempo       = unsupported("this method belongs to anvil's Tempo mode, whose transactions this network does not have")
	errFork        = unsupported("a world is not a fork of another network, so it has no node to read from")
)

// refused lists those methods by namespace.
var refused = map[string]map[string]error{
	"anvil": {
		"setMinGasPrice": errMinGasPrice, "setPrevRandao": errPrevRandao, "setNextBlockPrevRandao": errPrevRandao,
		"getBlobByHash": errBlobs, "getBlobsByTransactionHash": errBlobs, "setRpcUrl": errFork,
		"classifyTransaction": errTempo, "dealTIP20": errTempo, "setFeeToken": errTempo, "setValidatorFeeToken": errTempo, "setFeeAmmLiquidity": errTempo,
	},
	"hardhat": {"setMinGasPrice": errMinGasPrice, "setPrevRandao": errPrevRandao},
	"eth": {
		"getBlockAccessList": errAccessLists, "getBlockAccessListByBlockHash": errAccessLists, "getBlockAccessListByBlockNumber": errAccessLists,
		"getBlockAccessListRaw": errAccessLists, "signRawTransaction": errTempo,
	},
}
