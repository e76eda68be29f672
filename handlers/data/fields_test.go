package data_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fields is one of the specification's tables: names with the format of their values. A name that ends with a question mark is optional.
type fields map[string]string

// Tables of the specification.
var (
	priceFields = fields{"currencyCode": "string", "value": "string"}
	chainFields = fields{"chainId": "string", "status": "string", "chainName": "string", "description": "string", "platformChainId": "string",
		"subnetId": "string", "vmId": "string", "vmName": "string", "explorerUrl": "string", "rpcUrl": "string", "wsUrl": "string",
		"isTestnet": "boolean", "utilityAddresses": "object", "networkToken": "object", "chainLogoUri": "string", "private": "boolean",
		"enabledFeatures": "array"}
	blockFields = fields{"chainId": "string", "blockNumber": "string", "blockTimestamp": "integer", "blockHash": "string", "parentHash": "string",
		"txCount": "integer", "baseFee": "string", "gasUsed": "string", "gasLimit": "string", "gasCost": "string", "feesSpent": "string",
		"cumulativeTransactions": "string"}
	nativeFields = fields{"blockNumber": "string", "blockTimestamp": "integer", "blockHash": "string", "chainId": "string", "blockIndex": "integer",
		"txHash": "string", "txStatus": "string", "txType": "integer", "gasLimit": "string", "gasUsed": "string", "gasPrice": "string",
		"nonce": "string", "from": "object", "to": "object", "method": "object", "value": "string"}
	internalFields = fields{"from": "object", "to": "object", "internalTxType": "string", "value": "string", "isReverted": "boolean",
		"gasUsed": "string", "gasLimit": "string", "blockNumber": "string", "blockTimestamp": "integer", "blockHash": "string", "txHash": "string"}
	networkTokenFields = fields{"name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "description": "string"}
	nativeBalance      = fields{"name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "chainId": "string",
		"price": "object", "balance": "string", "balanceValue": "object"}
	erc20Balance = fields{"address": "string", "name": "string", "symbol": "string", "decimals": "integer", "logoUri?": "string",
		"ercType": "string", "price?": "object", "chainId": "string", "balance": "string", "balanceValue?": "object", "tokenReputation": "null"}
	richFields      = fields{"name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "address": "string"}
	erc721Fields    = fields{"address": "string", "name": "string", "symbol": "string", "ercType": "string", "tokenId": "string", "tokenUri": "string", "metadata": "object", "ownerAddress": "string"}
	erc1155Fields   = fields{"address": "string", "ercType": "string", "tokenId": "string", "tokenUri": "string", "metadata": "object"}
	metadataFields  = fields{"indexStatus": "string", "metadataLastUpdatedTimestamp": "integer", "name": "string", "symbol": "string", "imageUri": "string", "description": "string", "animationUri?": "string", "externalUrl": "string", "background": "string"}
	deploymentTable = fields{"erc20Transfers": "array", "erc721Transfers?": "array", "erc1155Transfers?": "array", "internalTransactions?": "array",
		"networkTokenDetails": "object", "nativeTransaction": "object"}
)

// extra lists members beyond the specification that the live service has since its Granite upgrade.
var extra = []string{"blockTimestampMilliseconds", "blockMinDelayExcess"}

func (f fields) with(more fields) fields {
	all := fields{}
	for _, m := range []fields{f, more} {
		for name, kind := range m {
			all[name] = kind
		}
	}
	return all
}

// check compares an object with a table, in both directions.
func (f fields) check(t *testing.T, what string, v any) {
	t.Helper()
	o, ok := v.(object)
	if !ok {
		t.Errorf("%s is %v: want an object", what, v)
		return
	}
	for name, kind := range f {
		name, optional := strings.CutSuffix(name, "?")
		value, there := o[name]
		if !there && !optional {
			t.Errorf("%s has no %s", what, name)
		} else if there && kindOf(value) != kind && !(kind == "number" && kindOf(value) == "integer") && !(name == "tokenReputation" && kindOf(value) == "string") {
			t.Errorf("%s: %s is %v: want %s", what, name, value, kind)
		}
	}
	for name := range o {
		if f[name] == "" && f[name+"?"] == "" && !slices.Contains(extra, name) {
			t.Errorf("%s has %s, which the specification does not", what, name)
		}
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case object:
		return "object"
	}
	if strings.Contains(fmt.Sprint(v), ".") {
		return "number"
	}
	return "integer"
}

func TestAnswersHaveTheFieldsOfTheSpecification(t *testing.T) {
	g := open(t, 1)
	alice, collector := g.persona(t, "alice"), g.persona(t, "collector")
	for _, c := range g.Chains {
		chain := g.get(t, strings.TrimSuffix(path(c), "/"))
		chainFields.check(t, "chain", chain)
		networkTokenFields.check(t, "network token", chain["networkToken"])
		blockFields.check(t, "block", dig(g.get(t, path(c, "blocks")), "blocks", 0))
		blockFields.check(t, "block 0", g.get(t, path(c, "blocks/0")))
		for _, l := range []string{"transactions", "transactions?status=failed", "addresses/" + alice + "/transactions:listNative"} {
			nativeFields.check(t, l, dig(g.get(t, path(c, l)), "transactions", 0))
		}
		calls := g.get(t, path(c, "addresses", g.persona(t, "indirect"), "transactions:listInternals"))
		internalFields.check(t, "internal transaction", dig(calls, "transactions", 0))

		balances := g.get(t, path(c, "addresses", alice, "balances:listErc20"))
		nativeBalance.check(t, "native balance", balances["nativeTokenBalance"])
		priceFields.check(t, "price", dig(balances, "nativeTokenBalance", "price"))
		for i := range balances["erc20TokenBalances"].([]any) {
			erc20Balance.check(t, "ERC-20 balance", dig(balances, "erc20TokenBalances", i))
		}
		collectibles := g.get(t, path(c, "addresses", collector, "balances:listErc721"))
		erc721Fields.with(fields{"chainId": "string"}).check(t, "ERC-721 balance", dig(collectibles, "erc721TokenBalances", 0))
		metadataFields.with(fields{"attributes": "string"}).check(t, "ERC-721 metadata", dig(collectibles, "erc721TokenBalances", 0, "metadata"))
		gear := g.get(t, path(c, "addresses", collector, "balances:listErc1155"))
		erc1155Fields.with(fields{"chainId": "string", "balance": "string"}).check(t, "ERC-1155 balance", dig(gear, "erc1155TokenBalances", 0))
		metadataFields.with(fields{"properties": "string", "decimals": "integer"}).check(t, "ERC-1155 metadata", dig(gear, "erc1155TokenBalances", 0, "metadata"))
	}
}

func TestDeploymentHasTheFieldsOfTheSpecification(t *testing.T) {
	g := open(t, 1)
	for _, c := range g.Chains {
		usdx := g.contract(t, c, "usdx")
		d := g.get(t, path(c, "contracts", usdx, "transactions:getDeployment?currency=eur"))
		deploymentTable.check(t, "deployment", d)
		native := d["nativeTransaction"].(object)
		full := nativeFields.with(fields{"input": "string", "baseFeePerGas": "string", "maxFeePerGas?": "string", "maxPriorityFeePerGas?": "string"})
		full.check(t, "deployment's transaction", native)
		richFields.check(t, "created token", native["to"])
		if dig(native, "to", "address") != usdx || dig(native, "method", "callType") != "CONTRACT_CREATION" || dig(native, "method", "methodHash") != "" {
			t.Errorf("deployment of %s goes to %v as %v", usdx, native["to"], native["method"])
		}
		mint := dig(d, "erc20Transfers", 0)
		fields{"from": "object", "to": "object", "logIndex": "integer", "value": "string", "erc20Token": "object"}.check(t, "mint", mint)
		fields{"address": "string", "name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "ercType": "string", "price": "object"}.
			check(t, "token", dig(mint, "erc20Token"))
		fields{"networkToken": "object", "currentPrice": "object", "historicalPrice": "object"}.check(t, "token details", d["networkTokenDetails"])
		if dig(d, "networkTokenDetails", "currentPrice", "currencyCode") != "eur" {
			t.Error("the price is not in the currency that was asked for")
		}
	}
}

// TestFactoryDeploymentsNameTheirMaker checks contracts that were deployed by a contract.
func TestFactoryDeploymentsNameTheirMaker(t *testing.T) {
	g := open(t, 1)
	for _, c := range g.Chains {
		factory, deployer := g.contract(t, c, "factory"), g.persona(t, "deployer")
		vault := g.contract(t, c, "vault-created2")
		details := g.get(t, path(c, "addresses", vault))["deploymentDetails"]
		if dig(details, "deployerAddress") != deployer || dig(details, "deployerContractAddress") != factory {
			t.Errorf("vault was deployed by %v", details)
		}
		tx := g.get(t, path(c, "contracts", vault, "transactions:getDeployment"))
		if dig(tx, "nativeTransaction", "txHash") != dig(details, "txHash") || dig(tx, "internalTransactions", 0, "internalTxType") != "CREATE2" {
			t.Errorf("deployment of the vault is %v", tx)
		}
		for _, by := range []string{factory, deployer} {
			made := g.pages(t, path(c, "contracts", by, "deployments"), "contracts", 7)
			if !slices.Contains(text(made, "address"), vault) {
				t.Errorf("deployments by %s lack the vault", by)
			}
			distinct(t, "deployments by "+by, made)
		}
	}
}
