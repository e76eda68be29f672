// Command go hashes the newest header of the C-Chain from the fields that headers had before Helicon. With the argument proof, it verifies an
// account's proof with that header's state root, and with stake it delegates on the P-Chain.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

func call(result any, method string, params ...any) error {
	return callAt(os.Getenv("SNOWGLOBE_RPC_URL"), result, method, params)
}

func callAt(url string, result any, method string, params any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	answer, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said := struct {
		Result any
		Error  *struct{ Message string }
	}{Result: result}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return err
	}
	if said.Error != nil {
		return errors.New(said.Error.Message)
	}
	return nil
}

// fields lists a header's fields in the order of their encoding, and whether each is a number.
var fields = []struct {
	name   string
	number bool
}{
	{"parentHash", false}, {"sha3Uncles", false}, {"miner", false}, {"stateRoot", false}, {"transactionsRoot", false}, {"receiptsRoot", false},
	{"logsBloom", false}, {"difficulty", true}, {"number", true}, {"gasLimit", true}, {"gasUsed", true}, {"timestamp", true}, {"extraData", false},
	{"mixHash", false}, {"nonce", false}, {"extDataHash", false}, {"baseFeePerGas", true}, {"extDataGasUsed", true}, {"blockGasCost", true},
	{"blobGasUsed", true}, {"excessBlobGas", true}, {"parentBeaconBlockRoot", false}, {"timestampMilliseconds", true}, {"minDelayExcess", true},
}

func hash(header map[string]any) (common.Hash, error) {
	var list []any
	for _, f := range fields {
		text, _ := header[f.name].(string)
		if f.number {
			n, err := hexutil.DecodeBig(text)
			if err != nil {
				return common.Hash{}, fmt.Errorf("%s: %w", f.name, err)
			}
			list = append(list, n)
			continue
		}
		b, err := hexutil.Decode(text)
		if err != nil {
			return common.Hash{}, fmt.Errorf("%s: %w", f.name, err)
		}
		list = append(list, b)
	}
	encoded, err := rlp.EncodeToBytes(list)
	return crypto.Keccak256Hash(encoded), err
}

func run() error {
	alice := os.Getenv("SNOWGLOBE_ALICE_ADDRESS")
	if err := call(new(string), "eth_sendTransaction", map[string]string{"from": alice, "to": os.Getenv("SNOWGLOBE_BOB_ADDRESS"), "value": "0x1"}); err != nil {
		return err
	}
	var header map[string]any
	if err := call(&header, "eth_getBlockByNumber", "latest", false); err != nil {
		return err
	}
	if len(os.Args) == 1 {
		if h, err := hash(header); err != nil || h.Hex() != header["hash"] {
			return fmt.Errorf("the header has the hash %s, and calls itself %v: %w", h, header["hash"], err)
		}
		return nil
	}
	var proof struct{ AccountProof []hexutil.Bytes }
	if err := call(&proof, "eth_getProof", alice, []string{}, header["number"]); err != nil {
		return err
	}
	if root := crypto.Keccak256Hash(proof.AccountProof[0]); root.Hex() != header["stateRoot"] {
		return fmt.Errorf("the proof begins at %s, the header has %v", root, header["stateRoot"])
	}
	return nil
}

func main() {
	do := run
	if len(os.Args) > 1 && os.Args[1] == "stake" {
		do = delegate
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
