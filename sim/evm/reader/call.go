package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// Call is a message to execute, with the JSON names of a transaction object (coreth internal/ethapi.TransactionArgs). Unset fields are zero;
// Gas defaults to the chain's limit.
type Call struct {
	From                 *common.Address   `json:"from"`
	To                   *common.Address   `json:"to"`
	Gas                  *hexutil.Uint64   `json:"gas"`
	GasPrice             *hexutil.Big      `json:"gasPrice"`
	MaxFeePerGas         *hexutil.Big      `json:"maxFeePerGas"`
	MaxPriorityFeePerGas *hexutil.Big      `json:"maxPriorityFeePerGas"`
	Value                *hexutil.Big      `json:"value"`
	Nonce                *hexutil.Uint64   `json:"nonce"`
	Data                 *hexutil.Bytes    `json:"data"`
	Input                *hexutil.Bytes    `json:"input"` // wins over Data
	AccessList           *types.AccessList `json:"accessList"`
	ChainID              *hexutil.Big      `json:"chainId"`

	// Blobs and authorizations are refused: the network has no such transactions.
	BlobHashes     *json.RawMessage `json:"blobVersionedHashes"`
	BlobFee        *hexutil.Big     `json:"maxFeePerBlobGas"`
	Authorizations *json.RawMessage `json:"authorizationList"`
}

// UnmarshalJSON names the node's own type in the error for a wrong argument.
func (c *Call) UnmarshalJSON(data []byte) error {
	type TransactionArgs Call
	return decodeAs("ethapi.TransactionArgs", data, (*TransactionArgs)(c))
}

// decodeAs reads a JSON object, or returns the error that names the type.
func decodeAs(name string, data []byte, object any) error {
	err := json.Unmarshal(data, object)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) && wrong.Field == "" {
		return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", wrong.Value, name)
	}
	return err
}

var (
	errBlobs          = errors.New("blob transactions are not supported")
	errAuthorizations = errors.New("set code transactions are not supported")
)

var errFeeStyles = errors.New("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified")

// sender returns the caller, the zero address if the call names none.
func (c *Call) sender() common.Address {
	if c.From == nil {
		return common.Address{}
	}
	return *c.From
}

// Check refuses what no transaction of the network can have (coreth internal/ethapi.TransactionArgs.ToMessage).
func (c *Call) Check() error {
	switch {
	case c.GasPrice != nil && (c.MaxFeePerGas != nil || c.MaxPriorityFeePerGas != nil):
		return errFeeStyles
	case c.BlobHashes != nil || c.BlobFee != nil:
		return errBlobs
	case c.Authorizations != nil:
		return errAuthorizations
	}
	return nil
}

// CheckChain refuses a call for another chain. A node does so for what becomes a transaction, and not for eth_call, eth_estimateGas and
// traces (coreth internal/ethapi.TransactionArgs.setDefaults).
func (c *Call) CheckChain(chainID uint64) error {
	want := new(big.Int).SetUint64(chainID)
	if c.ChainID != nil && c.ChainID.ToInt().Cmp(want) != 0 {
		return fmt.Errorf("chainId does not match node's (have=%v, want=%v)", c.ChainID.ToInt(), want)
	}
	return nil
}

// CallData returns the call's data: Input or, without that, Data.
func (c *Call) CallData() []byte {
	if input := either(c.Data, c.Input); input != nil {
		return *input
	}
	return nil
}

// message converts the call to the EVM's form, in a block with this base fee.
func (c *Call) message(baseFee *big.Int, limit uint64) (*core.Message, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &core.Message{From: c.sender(), To: c.To, GasLimit: limit, Data: c.CallData()}
	if c.Gas != nil && uint64(*c.Gas) < limit {
		m.GasLimit = uint64(*c.Gas)
	}
	if c.Nonce != nil {
		m.Nonce = uint64(*c.Nonce)
	}
	if c.AccessList != nil {
		m.AccessList = *c.AccessList
	}
	var err error
	if m.Value, err = amount(c.Value, "value"); err != nil {
		return nil, err
	}
	return m.SkipNonceCheck().SkipEOACheck(), c.pay(m, baseFee)
}

func (c *Call) pay(m *core.Message, baseFee *big.Int) (err error) {
	if c.GasPrice != nil {
		m.GasPrice, err = amount(c.GasPrice, "gasPrice")
		m.GasFeeCap, m.GasTipCap = m.GasPrice, m.GasPrice
		return err
	}
	if m.GasFeeCap, err = amount(c.MaxFeePerGas, "maxFeePerGas"); err != nil {
		return err
	}
	if m.GasTipCap, err = amount(c.MaxPriorityFeePerGas, "maxPriorityFeePerGas"); err != nil {
		return err
	}
	m.GasPrice = new(uint256.Int)
	if m.GasFeeCap.IsZero() && m.GasTipCap.IsZero() {
		return nil
	}
	if _, overflow := m.GasPrice.AddOverflow(m.GasTipCap, uint256.MustFromBig(baseFee)); overflow || m.GasPrice.Gt(m.GasFeeCap) {
		m.GasPrice.Set(m.GasFeeCap)
	}
	return nil
}

func amount(value *hexutil.Big, name string) (*uint256.Int, error) {
	if value == nil {
		return new(uint256.Int), nil
	}
	n, overflow := uint256.FromBig(value.ToInt())
	if overflow || value.ToInt().Sign() < 0 {
		return nil, fmt.Errorf("%s does not fit 256 bits", name)
	}
	return n, nil
}

// Call executes a call on top of a block (coreth internal/ethapi.DoCall). It returns an error only if the call could not run; the result reports a failure of the code.
func (c *Chain) Call(ctx context.Context, b *Block, call *Call, o Overrides) (*core.ExecutionResult, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, err
	}
	defer leave()
	x, m, err := c.executionOf(ctx, b, call, o)
	if err != nil {
		return nil, err
	}
	result, err := x.run(ctx, m, nil)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("err: %w (supplied gas %d)", err, m.GasLimit)
	}
	return result, err
}
