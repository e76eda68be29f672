package etherscan

import (
	"errors"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/store"
)

var contractActions = map[string]action{
	"contract.getcontractcreation": {handle: creations},
}

// maxCreations is how many addresses getcontractcreation takes.
const maxCreations = 5

type creation struct {
	ContractAddress  string `json:"contractAddress"`
	ContractCreator  string `json:"contractCreator"`
	TxHash           string `json:"txHash"`
	BlockNumber      string `json:"blockNumber"`
	Timestamp        string `json:"timestamp"`
	ContractFactory  string `json:"contractFactory"`  // the contract that made this one, if one did
	CreationBytecode string `json:"creationBytecode"` // with the constructor's arguments; 0x of a factory's
}

// creations tells which transactions deployed contracts. Contracts of the genesis have none.
func creations(r *request) (any, error) {
	texts := strings.Split(r.values["contractaddresses"], ",")
	if len(texts) > maxCreations {
		return nil, refusal("Error! Maximum of 5 contract addresses in a single batch")
	}
	var all []creation
	for _, text := range texts {
		address, err := parseAddress(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		c, err := r.creation(address)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, *c)
	}
	if len(all) == 0 {
		return nil, &refused{"No data found", nil}
	}
	return all, nil
}

func (r *request) creation(address common.Address) (*creation, error) {
	d, err := r.db().Deployment(r.Context(), r.chain.Row.ID, address[:])
	if err != nil {
		return nil, err
	}
	v, err := r.db().TransactionViewAt(r.Context(), d.Transaction())
	if err != nil {
		return nil, err
	}
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(v.Raw); err != nil {
		return nil, err
	}
	c := &creation{ContractAddress: hexAddress(d.Address), ContractCreator: hexAddress(d.Sender), TxHash: hexHash(v.Transaction.Hash),
		BlockNumber: decimal(v.ID.Number()), Timestamp: decimal(uint64(v.BlockTime)), ContractFactory: hexAddress(d.Creator), CreationBytecode: "0x"}
	if d.Creator == nil {
		c.CreationBytecode = hexutil.Encode(tx.Data())
	}
	return c, nil
}
