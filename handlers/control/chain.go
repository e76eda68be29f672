package control

import (
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/control/describe"
	"snowglobe/sim/store"
)

// Chain is one EVM chain.
type Chain struct {
	ChainID      string            `json:"chainId"`
	Name         string            `json:"name"`
	Network      string            `json:"network"`
	BlockchainID string            `json:"blockchainId"`
	SubnetID     string            `json:"subnetId"`
	VMID         string            `json:"vmId"`
	RPCURL       string            `json:"rpcUrl"`
	WSURL        string            `json:"wsUrl"`
	NativeToken  string            `json:"networkToken"`
	Height       uint64            `json:"height"`
	Transactions int64             `json:"transactions"`
	Contracts    []Contract        `json:"contracts"`
	Samples      map[string]string `json:"samples" doc:"Example transaction hashes and cross-chain message ids by the situation that they show. The destination of a cross-chain message is on the chain beside it."`
}

// Contract is a contract with a role.
type Contract struct {
	Role     string `json:"role" doc:"Unique on its chain, and the same on every chain."`
	Artifact string `json:"artifact" doc:"Name of the compiled contract."`
	Address  string `json:"address"`
	Token    *Token `json:"token,omitempty" doc:"Only if the contract is a token."`
}

// Token describes the token that a contract implements.
type Token struct {
	Standard string `json:"standard" enum:"ERC-20,ERC-721,ERC-1155"`
	Name     string `json:"name"`
	Symbol   string `json:"symbol"`
	Decimals *int   `json:"decimals,omitempty" doc:"Only for an ERC-20."`
}

func chain(d *describe.Chain, base string) Chain {
	row := d.Chain.Row
	id := ids.ID(row.BlockchainID).String()
	c := Chain{
		ChainID: strconv.FormatUint(row.EVMID, 10), Name: row.Name, Network: row.Network,
		BlockchainID: id, SubnetID: ids.ID(row.SubnetID).String(), VMID: ids.ID(row.VMID).String(),
		RPCURL: base + "/ext/bc/" + id + "/rpc", WSURL: "ws" + strings.TrimPrefix(base, "http") + "/ext/bc/" + id + "/ws",
		NativeToken: row.TokenSymbol, Height: d.Height, Transactions: d.Transactions,
		Contracts: []Contract{}, Samples: map[string]string{},
	}
	for _, r := range d.Contracts {
		c.Contracts = append(c.Contracts, Contract{
			Role: r.Role, Artifact: r.Artifact, Address: common.BytesToAddress(r.Address).Hex(), Token: token(r.Token),
		})
	}
	for name, hash := range map[string][]byte{
		"deployment": d.Deployment, "failed": d.Failed, "crossChainMessage": d.Message.ID, "crossChainPending": d.Message.Undelivered,
		"crossChainSource": d.Message.Source, "crossChainDestination": d.Message.Destination,
	} {
		if hash != nil {
			c.Samples[name] = hexutil.Encode(hash)
		}
	}
	if d.Message.Destination != nil {
		c.Samples["crossChainDestinationChainId"] = strconv.FormatUint(d.Message.Chain, 10)
	}
	return c
}

func token(row *store.Token) *Token {
	if row == nil {
		return nil
	}
	t := &Token{Standard: row.ID.Standard().String(), Name: row.Name, Symbol: row.Symbol}
	if row.ID.Standard() == store.ERC20 {
		t.Decimals = &row.Decimals
	}
	return t
}
