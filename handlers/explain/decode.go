package explain

import (
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// sending lists the JSON-RPC methods whose first parameter is a call or an unsigned transaction.
var sending = map[string]bool{
	"eth_call": true, "eth_estimateGas": true, "eth_sendTransaction": true, "eth_createAccessList": true, "eth_callDetailed": true,
	"eth_signTransaction": true, "eth_fillTransaction": true, "debug_traceCall": true, "trace_call": true, "personal_sendTransaction": true,
	"eth_sendTransactionSync": true, "eth_resend": true,
}

// signed lists the JSON-RPC methods whose first parameter is a signed transaction.
var signed = map[string]bool{
	"eth_sendRawTransaction": true, "eth_sendRawTransactionSync": true, "eth_sendRawTransactionConditional": true, "trace_rawTransaction": true,
}

// Decode describes the contract call that a JSON-RPC call is about, or returns an empty text. It looks at the parameters alone, so it takes the first
// contract that has the function.
func (e *Explainer) Decode(method string, params []byte) string {
	var all []json.RawMessage
	raw := signed[method]
	if !raw && !sending[method] || json.Unmarshal(params, &all) != nil || len(all) == 0 {
		return ""
	}
	var input []byte
	if raw {
		var bytes hexutil.Bytes
		tx := new(types.Transaction)
		if json.Unmarshal(all[0], &bytes) != nil || tx.UnmarshalBinary(bytes) != nil {
			return ""
		}
		input = tx.Data()
		if tx.To() == nil {
			return e.created(input)
		}
	} else {
		var call struct {
			To          *common.Address
			Data, Input hexutil.Bytes
		}
		if json.Unmarshal(all[0], &call) != nil {
			return ""
		}
		if input = call.Input; len(input) == 0 {
			input = call.Data
		}
		if call.To == nil {
			return e.created(input)
		}
	}
	d := e.Registry.Call(nil, input)
	switch {
	case d == nil:
		return ""
	case d.Contract != "":
		return d.Contract + "." + d.String()
	}
	return d.String()
}

func (e *Explainer) created(code []byte) string {
	if c := e.Registry.Creation(code); c != nil {
		return "new " + c.Name
	}
	return ""
}
