package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/graft/coreth/consensus/dummy"
	"github.com/ava-labs/avalanchego/graft/coreth/core"
	"github.com/ava-labs/avalanchego/graft/coreth/eth"
	"github.com/ava-labs/avalanchego/graft/coreth/eth/ethconfig"
	"github.com/ava-labs/avalanchego/graft/coreth/node"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/config"
	"github.com/ava-labs/avalanchego/graft/evm/constants"
	"github.com/ava-labs/avalanchego/graft/evm/rpc"
	"github.com/ava-labs/avalanchego/utils/timer/mockable"
	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
	"github.com/ava-labs/libevm/core/rawdb"
	"github.com/ava-labs/libevm/core/types"
	_ "github.com/ava-labs/libevm/eth/tracers/js" // as in coreth's virtual machine
	_ "github.com/ava-labs/libevm/eth/tracers/native"

	"snowglobe/testdata/server"
)

//go:embed questions.txt
var asked string

// silent gossips with no peer.
type silent struct{}

func (silent) Add(*types.Transaction) {}

// newNode makes a node's Ethereum service, set up as coreth's virtual machine does (plugin/evm.VM.Initialize), but with every state.
func newNode(start *core.Genesis, engine *dummy.DummyEngine) (*eth.Ethereum, error) {
	stack, err := node.New(&node.Config{})
	if err != nil {
		return nil, err
	}
	usual, own := config.NewDefaultConfig(), ethconfig.NewDefaultConfig()
	own.Genesis, own.NetworkId = start, start.Config.ChainID.Uint64()
	own.RPCGasCap, own.RPCEVMTimeout, own.RPCTxFeeCap = usual.RPCGasCap, usual.APIMaxDuration.Duration, usual.RPCTxFeeCap
	own.PriceOptionConfig.SlowFeePercentage, own.PriceOptionConfig.FastFeePercentage = usual.PriceOptionSlowFeePercentage, usual.PriceOptionFastFeePercentage
	own.PriceOptionConfig.MaxTip = usual.PriceOptionMaxTip
	own.TxPool.NoLocals, own.AllowUnprotectedTxHashes = true, usual.AllowUnprotectedTxHashes
	own.Pruning, own.SnapshotCache, own.CommitInterval, own.Preimages = false, 0, 1, true
	own.AcceptorQueueLimit, own.StateHistory = usual.AcceptorQueueLimit, usual.StateHistory
	n, err := eth.New(stack, &own, silent{}, rawdb.NewMemoryDatabase(), eth.Settings{}, common.Hash{}, engine, &mockable.Clock{})
	if err != nil {
		return nil, err
	}
	n.SetEtherbase(constants.BlackholeAddr)
	n.TxPool().SetGasTip(new(big.Int))
	n.TxPool().SetMinFee(big.NewInt(1))
	return n, nil
}

// reply is a server's response.
type reply struct {
	Result any
	Error  any
}

// differ says where two values of JSON differ first, nil if they do not.
func differ(path string, have, want any) error {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		if !ok {
			break
		}
		names := slices.Concat(slices.Collect(maps.Keys(have)), slices.Collect(maps.Keys(want)))
		slices.Sort(names)
		for _, name := range names {
			if err := differ(path+"."+name, have[name], want[name]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		have, ok := have.([]any)
		if !ok || len(have) != len(want) {
			break
		}
		for i := range want {
			if err := differ(fmt.Sprintf("%s[%d]", path, i), have[i], want[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if reflect.DeepEqual(have, want) {
		return nil
	}
	return fmt.Errorf("%s: have %.300s, want %.300s", path, fmt.Sprint(have), fmt.Sprint(want))
}

// answered asks a server.
func answered(ctx context.Context, at server.Chain, body string) (r reply, err error) {
	err = at.Send(ctx, []byte(body), &r)
	if e, ok := r.Error.(map[string]any); ok && e["code"] == float64(-32003) {
		e["code"] = float64(-32000) // the server's own code for what is rejected
	}
	return r, err
}

// compare asks the server and a node that has executed the same blocks the same questions.
func (c *chain) compare(ctx context.Context) error {
	handler := rpc.NewServer(0)
	for _, api := range c.node.APIs() {
		if err := handler.RegisterName(api.Namespace, api.Service); err != nil {
			return err
		}
	}
	executed := httptest.NewServer(handler)
	defer executed.Close()
	questions, err := c.questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range questions {
		method, params, _ := strings.Cut(q, " ")
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
		have, err := answered(ctx, c.Chain, body)
		if err != nil {
			return err
		}
		want, err := answered(ctx, server.Chain(executed.URL), body)
		if err != nil {
			return err
		}
		if refusedTrace(have.Error) {
			err = tooLarge(want.Result)
		} else {
			err = cmp.Or(differ("error", have.Error, want.Error), differ("result", have.Result, want.Result))
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", q, err)
		}
		c.seen.note(c.parent.Number.Uint64(), method, err)
	}
	return nil
}

// traceLimit is how many bytes of a trace the server returns; a node returns any number.
const traceLimit = 16 << 20

func refusedTrace(answer any) bool {
	e, _ := answer.(map[string]any)
	message, _ := e["message"].(string)
	return strings.HasPrefix(message, fmt.Sprintf("the trace is larger than %d bytes", traceLimit))
}

// tooLarge returns an error if the node's trace is one that the server should have returned.
func tooLarge(trace any) error {
	whole, err := json.Marshal(trace)
	if err == nil && len(whole) <= traceLimit {
		err = fmt.Errorf("refused as larger than %d bytes, but has %d", traceLimit, len(whole))
	}
	return err
}

// questions returns the requests of the list, about the chain's own blocks, transactions, accounts and contracts.
func (c *chain) questions(ctx context.Context) ([]string, error) {
	var logs []types.Log
	if err := c.Call(ctx, &logs, "eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"}); err != nil {
		return nil, err
	}
	var accounts []common.Address
	if err := c.Call(ctx, &accounts, "eth_accounts"); err != nil {
		return nil, err
	}
	head := c.parent
	all, err := c.refusals(accounts[1])
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(logs); i += max(1, len(logs)/samples) {
		log := &logs[i]
		names := strings.NewReplacer(
			"{head}", hexutil.EncodeBig(head.Number), "{headHash}", head.Hash().Hex(), "{above}", hexutil.EncodeUint64(head.Number.Uint64()+1),
			"{block}", hexutil.EncodeUint64(log.BlockNumber), "{hash}", log.BlockHash.Hex(), "{tx}", log.TxHash.Hex(), "{index}", hexutil.EncodeUint64(uint64(log.TxIndex)),
			"{contract}", log.Address.Hex(), "{topic}", log.Topics[0].Hex(), "{alice}", accounts[0].Hex(), "{bob}", accounts[1].Hex(),
			"{nobody}", common.Address{0xee, byte(i)}.Hex(), "{unknown}", common.Hash{0xee}.Hex(), "{zero}", common.Hash{}.Hex(), "{one}", common.Hash{31: 1}.Hex(),
		)
		for _, line := range bytes.Split([]byte(asked), []byte{'\n'}) {
			if len(line) > 0 && line[0] != '#' {
				all = append(all, names.Replace(string(line)))
			}
		}
	}
	return all, nil
}

// samples is about how many of the chain's logs the questions are asked about.
const samples = 20
