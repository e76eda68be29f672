package rehearse

import (
	"path"
	"strings"
)

// known explains why the matching fields of matching requests differ.
type known struct {
	requests, fields string // names with *, separated by spaces
	why              string
}

// helicon lists what the upgrade changes, more specific rules first. The manual's page upgrades explains each.
var helicon = []known{
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeaderByNumber eth_getHeaderByHash", "number", "finalized and safe name the last settled block, some five seconds behind latest; every block with a receipt is final"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader* eth_subscribe", "settled* target* excess* *Exponent *Excess minPrice* gasConfig*", "headers of the C-Chain have six more fields; a decoder of the old ones computes another hash"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader*", "stateRoot receiptsRoot logsBloom", "a header has the results of the blocks that it settles, not its own"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader*", "extraData extDataGasUsed blockGasCost size", "the fee state is no longer in extraData, and the header has other fields"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader*", "baseFeePerGas", "a header's base fee is the most that gas can cost; effectiveGasPrice of a receipt is what was paid"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader*", "gasUsed", "a header's gasUsed is the sum of the gas limits"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader*", "gasLimit", "a block's gas limit follows from the gas target and is no longer constant"},
	{"eth_getBlockByNumber eth_getBlockByHash eth_getHeader*", "timestamp", "a block that spends what has just arrived waits until that is settled, five seconds later, and the next blocks come after it"},
	{"eth_getTransactionReceipt eth_getBlockReceipts eth_sendRawTransactionSync eth_sendTransactionSync", "*gasUsed *umulativeGasUsed", "at least half of the gas limit is charged: gasUsed of a receipt is the greater of the two"},
	{"eth_getTransactionReceipt eth_getBlockReceipts eth_sendRawTransactionSync eth_sendTransactionSync", "*effectiveGasPrice", "what was paid is the price at the execution, often less than the header's base fee and the tip"},
	{"eth_getTransactionByHash eth_getBlockBy*", "*gasPrice", "gasPrice of a transaction is its bound, and the receipt has what was paid"},
	{"eth_gasPrice eth_baseFee eth_maxPriorityFeePerGas eth_feeHistory eth_suggestPriceOptions", "*", "fees follow ACP-176 by gas time: the announced price is the most that gas can cost in the next block, and it is not constant"},
	{"eth_getBalance eth_getTransactionCount eth_call eth_estimateGas", "*", "balances depend on the gas that was charged and on what has settled"},
	{"eth_getProof", "accountProof storageHash storageProof balance", "a proof at block n fits the state root of the block that settles n"},
	{"eth_blockNumber", "*", "blocks settle earlier ones, so different blocks are made"},
	{"eth_config eth_getChainConfig", "*elicon* *urrent* *ext*", "the chain's configuration names the upgrade"},
	{"eth_coinbase eth_etherbase eth_getBadBlocks eth_accounts admin_* warp_* personal_* debug_*", "*", "the method is gone from the C-Chain, or now on by default"},
	{"web3_clientVersion info.getNodeVersion", "*", "the node has another version"},
	{"info.upgrades", "helicon*", "it has the activation time"},
	{"platform.getMinStake platform.getStakingParameters platform.getSubnet", "*", "staking has other limits: at least 48 hours on mainnet and 12 on fuji"},
	{"platform.getCurrentValidators platform.getPendingValidators listValidators listDelegators getValidator*", "*", "rewards fall to a least consumption rate of 7.5 %, 90 % uptime is required, and auto-renewed validators have more fields"},
	{"platform.getCurrentSupply platform.getTotalStake", "*", "rewards are calculated by the rates since the upgrade"},
	{"platform.issueTx", "*", "staking has other limits: stakes from 48 hours on mainnet and 12 on fuji are valid, auto-renewed validators are a new type, and 90 % uptime is required"},
	{"platform.getTx platform.getBlock*", "*", "there are three more types of transactions, for auto-renewed staking"},
	{"platform.getFeeConfig platform.getFeeState platform.getValidatorFee*", "*", "the fee parameters changed"},
	{"avax.*", "*", "atomic transactions wait in blocks that are executed later"},
	{"eth_sendRawTransaction eth_sendTransaction", "*", "a block takes what a sender can pay in the worst case: what has just arrived can be spent once it is settled, and every waiting transaction counts with its whole gas limit"},
	{"get*Block* list*Block* getTransaction* list*Transaction* get*Tx* list*Tx*", "*baseFee *gasUsed *gasPrice *feesSpent *gasCost* *txFee *fee *gasLimit", "the Data API has what was charged and paid; baseFee is the header's bound"},
}

// rule returns the rule that names a field of a request, or nil.
func rule(r *request, field string, c *Change) *known {
	if c.Name != "helicon" {
		return nil
	}
	for i := range helicon {
		if k := &helicon[i]; matches(k.requests, r.name) && (k.fields == "*" || field != "" && matches(k.fields, strings.ReplaceAll(field, "[]", ""))) {
			return k
		}
	}
	return nil
}

// matches reports whether a name, or its last part, matches one of several patterns.
func matches(patterns, name string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are well-formed
			return true
		}
		if ok, _ := path.Match(pattern, name[strings.LastIndex(name, ".")+1:]); ok && !strings.Contains(pattern, ".") {
			return true
		}
	}
	return false
}

// explain returns why a field differs, and the manual's page.
func (c *Change) explain(r *request, field string) (why, page string) {
	if k := rule(r, field, c); k != nil {
		return k.why, c.Page
	}
	return c.Why, c.Page
}
