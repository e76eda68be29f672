package evm_test

import (
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/data/datatest"
)

// Tables of the specification.
var (
	priceFields = datatest.Fields{"currencyCode": "string", "value": "string"}
	chainFields = datatest.Fields{"chainId": "string", "status": "string", "chainName": "string", "description": "string", "platformChainId": "string",
		"subnetId": "string", "vmId": "string", "vmName": "string", "explorerUrl": "string", "rpcUrl": "string", "wsUrl": "string",
		"isTestnet": "boolean", "utilityAddresses": "object", "networkToken": "object", "chainLogoUri": "string", "private": "boolean",
		"enabledFeatures": "array"}
	blockFields = datatest.Fields{"chainId": "string", "blockNumber": "string", "blockTimestamp": "integer", "blockHash": "string", "parentHash": "string",
		"txCount": "integer", "baseFee": "string", "gasUsed": "string", "gasLimit": "string", "gasCost": "string", "feesSpent": "string",
		"cumulativeTransactions": "string"}
	nativeFields = datatest.Fields{"blockNumber": "string", "blockTimestamp": "integer", "blockHash": "string", "chainId": "string", "blockIndex": "integer",
		"txHash": "string", "txStatus": "string", "txType": "integer", "gasLimit": "string", "gasUsed": "string", "gasPrice": "string",
		"nonce": "string", "from": "object", "to": "object", "method": "object", "value": "string"}
	internalFields = datatest.Fields{"from": "object", "to": "object", "internalTxType": "string", "value": "string", "isReverted": "boolean",
		"gasUsed": "string", "gasLimit": "string", "blockNumber": "string", "blockTimestamp": "integer", "blockHash": "string", "txHash": "string"}
	networkTokenFields = datatest.Fields{"name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "description": "string"}
	nativeBalance      = datatest.Fields{"name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "chainId": "string",
		"price": "object", "balance": "string", "balanceValue": "object"}
	erc20Balance = datatest.Fields{"address": "string", "name": "string", "symbol": "string", "decimals": "integer", "logoUri?": "string",
		"ercType": "string", "price?": "object", "chainId": "string", "balance": "string", "balanceValue?": "object", "tokenReputation": "null"}
	richFields      = datatest.Fields{"name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "address": "string"}
	erc721Fields    = datatest.Fields{"address": "string", "name": "string", "symbol": "string", "ercType": "string", "tokenId": "string", "tokenUri": "string", "metadata": "object", "ownerAddress": "string"}
	erc1155Fields   = datatest.Fields{"address": "string", "ercType": "string", "tokenId": "string", "tokenUri": "string", "metadata": "object"}
	metadataFields  = datatest.Fields{"indexStatus": "string", "metadataLastUpdatedTimestamp": "integer", "name": "string", "symbol": "string", "imageUri": "string", "description": "string", "animationUri?": "string", "externalUrl": "string", "background": "string"}
	deploymentTable = datatest.Fields{"erc20Transfers": "array", "erc721Transfers?": "array", "erc1155Transfers?": "array", "internalTransactions?": "array",
		"networkTokenDetails": "object", "nativeTransaction": "object"}
)

func TestAnswersHaveTheFieldsOfTheSpecification(t *testing.T) {
	g := datatest.Open(t, 1)
	alice, collector := g.Persona(t, "alice"), g.Persona(t, "collector")
	for _, c := range g.Chains {
		chain := g.Get(t, strings.TrimSuffix(datatest.Path(c), "/"))
		chainFields.Check(t, "chain", chain)
		networkTokenFields.Check(t, "network token", chain["networkToken"])
		blockFields.Check(t, "block", datatest.Dig(g.Get(t, datatest.Path(c, "blocks")), "blocks", 0))
		blockFields.Check(t, "block 0", g.Get(t, datatest.Path(c, "blocks/0")))
		for _, l := range []string{"transactions", "transactions?status=failed", "addresses/" + alice + "/transactions:listNative"} {
			nativeFields.Check(t, l, datatest.Dig(g.Get(t, datatest.Path(c, l)), "transactions", 0))
		}
		calls := g.Get(t, datatest.Path(c, "addresses", g.Persona(t, "indirect"), "transactions:listInternals"))
		internalFields.Check(t, "internal transaction", datatest.Dig(calls, "transactions", 0))

		balances := g.Get(t, datatest.Path(c, "addresses", alice, "balances:listErc20"))
		nativeBalance.Check(t, "native balance", balances["nativeTokenBalance"])
		priceFields.Check(t, "price", datatest.Dig(balances, "nativeTokenBalance", "price"))
		for i := range balances["erc20TokenBalances"].([]any) {
			erc20Balance.Check(t, "ERC-20 balance", datatest.Dig(balances, "erc20TokenBalances", i))
		}
		collectibles := g.Get(t, datatest.Path(c, "addresses", collector, "balances:listErc721"))
		erc721Fields.With(datatest.Fields{"chainId": "string"}).Check(t, "ERC-721 balance", datatest.Dig(collectibles, "erc721TokenBalances", 0))
		metadataFields.With(datatest.Fields{"attributes": "string"}).Check(t, "ERC-721 metadata", datatest.Dig(collectibles, "erc721TokenBalances", 0, "metadata"))
		gear := g.Get(t, datatest.Path(c, "addresses", collector, "balances:listErc1155"))
		erc1155Fields.With(datatest.Fields{"chainId": "string", "balance": "string"}).Check(t, "ERC-1155 balance", datatest.Dig(gear, "erc1155TokenBalances", 0))
		metadataFields.With(datatest.Fields{"properties": "string", "decimals": "integer"}).Check(t, "ERC-1155 metadata", datatest.Dig(gear, "erc1155TokenBalances", 0, "metadata"))
	}
}

func TestDeploymentHasTheFieldsOfTheSpecification(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		usdx := g.Contract(t, c, "usdx")
		d := g.Get(t, datatest.Path(c, "contracts", usdx, "transactions:getDeployment?currency=eur"))
		deploymentTable.Check(t, "deployment", d)
		native := d["nativeTransaction"].(datatest.Object)
		full := nativeFields.With(datatest.Fields{"input": "string", "baseFeePerGas": "string", "maxFeePerGas?": "string", "maxPriorityFeePerGas?": "string"})
		full.Check(t, "deployment's transaction", native)
		richFields.Check(t, "created token", native["to"])
		if datatest.Dig(native, "to", "address") != usdx || datatest.Dig(native, "method", "callType") != "CONTRACT_CREATION" || datatest.Dig(native, "method", "methodHash") != "" {
			t.Errorf("deployment of %s goes to %v as %v", usdx, native["to"], native["method"])
		}
		mint := datatest.Dig(d, "erc20Transfers", 0)
		datatest.Fields{"from": "object", "to": "object", "logIndex": "integer", "value": "string", "erc20Token": "object"}.Check(t, "mint", mint)
		datatest.Fields{"address": "string", "name": "string", "symbol": "string", "decimals": "integer", "logoUri": "string", "ercType": "string", "price": "object"}.
			Check(t, "token", datatest.Dig(mint, "erc20Token"))
		datatest.Fields{"networkToken": "object", "currentPrice": "object", "historicalPrice": "object"}.Check(t, "token details", d["networkTokenDetails"])
		if datatest.Dig(d, "networkTokenDetails", "currentPrice", "currencyCode") != "eur" {
			t.Error("the price is not in the currency that was asked for")
		}
	}
}

// TestFactoryDeploymentsNameTheirMaker checks contracts that were deployed by a contract.
func TestFactoryDeploymentsNameTheirMaker(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, c := range g.Chains {
		factory, deployer := g.Contract(t, c, "factory"), g.Persona(t, "deployer")
		vault := g.Contract(t, c, "vault-created2")
		details := g.Get(t, datatest.Path(c, "addresses", vault))["deploymentDetails"]
		if datatest.Dig(details, "deployerAddress") != deployer || datatest.Dig(details, "deployerContractAddress") != factory {
			t.Errorf("vault was deployed by %v", details)
		}
		tx := g.Get(t, datatest.Path(c, "contracts", vault, "transactions:getDeployment"))
		if datatest.Dig(tx, "nativeTransaction", "txHash") != datatest.Dig(details, "txHash") || datatest.Dig(tx, "internalTransactions", 0, "internalTxType") != "CREATE2" {
			t.Errorf("deployment of the vault is %v", tx)
		}
		for _, by := range []string{factory, deployer} {
			made := g.Pages(t, datatest.Path(c, "contracts", by, "deployments"), "contracts", 7)
			if !slices.Contains(datatest.Text(made, "address"), vault) {
				t.Errorf("deployments by %s lack the vault", by)
			}
			datatest.Distinct(t, "deployments by "+by, made)
		}
	}
}
