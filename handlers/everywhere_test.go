// A sent transaction shows in all interfaces of one server.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures/contracts"
)

// ask calls a REST interface of the server.
func (d *devnet) ask(path string) map[string]any {
	d.Helper()
	var answer map[string]any
	response, err := http.Get(d.url + path)
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		d.Fatalf("%s: %d %v %v", path, response.StatusCode, answer, err)
	}
	return answer
}

// contract returns the address of the chain's contract with a role.
func (d *devnet) contract(role string) *common.Address {
	d.Helper()
	all, err := d.world.DB.Contracts(d.Context(), d.chain.Row.ID)
	if err != nil {
		d.Fatal(err)
	}
	for _, c := range all {
		if c.Role == role {
			address := common.BytesToAddress(c.Address)
			return &address
		}
	}
	d.Fatalf("there is no %s", role)
	return nil
}

// everywhere checks that a transaction shows in the Data API, the Metrics API and the node's responses as soon as it is in a block.
func everywhere(d *devnet) {
	greeter, err := contracts.Load("Greeter")
	if err != nil {
		d.Fatal(err)
	}
	other := d.world.Chains[len(d.world.Chains)-1]
	data, err := greeter.ABI.Pack("greet", ids.ID(other.Row.BlockchainID), *d.contract("greeter"), "hi")
	if err != nil {
		d.Fatal(err)
	}
	const sent = "/v2/chains/43114/rollingWindowMetrics/txCount"
	txs := "/v1/chains/43114/transactions/"
	before := dig(d.ask(sent), "result", "allTime").(float64)
	hash := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: d.contract("greeter"), Data: data, Gas: 1_000_000})
	if receipt, err := d.client.TransactionReceipt(d.Context(), hash); err != nil || receipt.Status != 1 {
		d.Fatal(receipt, err)
	}
	if now := dig(d.ask(sent), "result", "allTime").(float64); now != before+1 {
		d.Errorf("%v transactions, before %v", now, before)
	}
	if got := dig(d.ask(txs+hash.Hex()), "nativeTransaction", "txStatus"); got != "1" {
		d.Errorf("status %v", got)
	}
	messages := objects(d.ask("/v1/icm/messages?sourceBlockchainId=" + ids.ID(d.chain.Row.BlockchainID).String() + "&pageSize=1")["messages"])
	if len(messages) != 1 || dig(messages[0], "sourceTransaction", "txHash") != hash.Hex() || messages[0]["status"] != "pending" {
		d.Errorf("%v", messages)
	}
	token, err := contracts.Load("Token")
	if err != nil {
		d.Fatal(err)
	}
	create, err := token.ABI.Pack("", "Flake", "FLK", uint8(6), big.NewInt(1000), d.from)
	if err != nil {
		d.Fatal(err)
	}
	nonce := d.nonce()
	hash = d.mustSend(&types.DynamicFeeTx{Nonce: nonce, Data: append(append([]byte{}, token.Bytecode...), create...), Gas: 3_000_000})
	receipt, err := d.client.TransactionReceipt(d.Context(), hash)
	if err != nil || receipt.Status != 1 {
		d.Fatal(receipt, err)
	}
	move, err := token.ABI.Pack("transfer", someone, big.NewInt(7))
	if err != nil {
		d.Fatal(err)
	}
	d.mustSend(&types.DynamicFeeTx{Nonce: nonce + 1, To: &receipt.ContractAddress, Data: move, Gas: 200_000})
	balances := objects(d.ask("/v1/chains/43114/addresses/" + someone.Hex() + "/balances:listErc20?contractAddresses=" + receipt.ContractAddress.Hex())["erc20TokenBalances"])
	if len(balances) != 1 || balances[0]["balance"] != "7" || balances[0]["symbol"] != "FLK" {
		d.Errorf("%v", balances)
	}
	if made := d.ask("/v1/chains/43114/contracts/" + receipt.ContractAddress.Hex() + "/transactions:getDeployment"); !strings.EqualFold(fmt.Sprint(dig(made, "nativeTransaction", "txHash")), hash.Hex()) {
		d.Errorf("%v", made)
	}
}
