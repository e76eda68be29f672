package control

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/explain"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
)

// DecodeRequest is the body of POST /sim/decode.
type DecodeRequest struct {
	Data    string   `json:"data,omitempty" pattern:"^0x([0-9a-fA-F]{2})*$" doc:"Calldata, the data of a revert, or the data of a log if topics are given."`
	Topics  []string `json:"topics,omitempty" doc:"Topics of a log, at most four."`
	Address string   `json:"address,omitempty" pattern:"^0x[0-9a-fA-F]{40}$" doc:"The contract, whose own functions, errors and events come first."`
	Chain   string   `json:"chain,omitempty" doc:"Chain of the address: C, fuji/C, or an L1's name or EVM chain id. Default: mainnet's C-Chain."`
}

// Decoding is the answer of POST /sim/decode.
type Decoding struct {
	Kind      string             `json:"kind" enum:"call,error,event,creation"`
	Contract  string             `json:"contract,omitempty" doc:"Contract that declares it; absent if a standard does."`
	Signature string             `json:"signature,omitempty" doc:"Name and types of the parameters."`
	Arguments []explain.Argument `json:"arguments"`
}

// RegisterDecode registers the operation that decodes calls, reverts and logs.
func RegisterDecode(s *rest.Server, w *sim.World, known *artifacts.Registry) error {
	return s.Register(rest.Sim, rest.Operation{ID: "decode", Method: http.MethodPost, Path: "/sim/decode", Summary: "Decode calldata, the data of a revert, or a log",
		Doc:  "Uses the artifacts that the server reads, the world's own contracts, and well-known standards. Example: {\"data\":\"0xa9059cbb…\"}.",
		Body: reflect.TypeFor[DecodeRequest](), Strict: true, Answer: reflect.TypeFor[Decoding](),
		Handle: func(r *rest.Request) (any, error) { return decode(r, w, known) }})
}

func decode(r *rest.Request, w *sim.World, known *artifacts.Registry) (any, error) {
	body := rest.Body[DecodeRequest](r)
	data, err := hexutil.Decode(body.Data)
	if err != nil && body.Data != "" {
		return nil, rest.BadRequest("data: " + err.Error())
	}
	var topics []common.Hash
	for _, text := range body.Topics {
		raw, err := hexutil.Decode(text)
		if err != nil || len(raw) != common.HashLength || len(topics) == 4 {
			return nil, rest.BadRequest(fmt.Sprintf("topics: expected at most four hashes, got %.80q", text))
		}
		topics = append(topics, common.Hash(raw))
	}
	standard, err := ownContracts()
	if err != nil {
		return nil, err
	}
	registries := []*artifacts.Registry{known, standard}
	own, err := contractAt(r, w, registries, body)
	if err != nil {
		return nil, err
	}
	for _, from := range registries {
		if d := decodeWith(from, own, topics, data); d != nil {
			return d, nil
		}
	}
	return nil, rest.NotFound("no known function, error or event matches this selector and these arguments: add your contracts with POST /sim/artifacts")
}

// decodeWith decodes with the signatures of a registry; nil if none fits.
func decodeWith(from *artifacts.Registry, own *artifacts.Contract, topics []common.Hash, data []byte) *Decoding {
	if len(topics) > 0 {
		return shownDecoding("event", from.Event(own, topics, data))
	}
	if d := shownDecoding("call", from.Call(own, data)); d != nil {
		return d
	}
	if d := shownDecoding("error", from.Error(own, data)); d != nil {
		return d
	}
	if c := from.Creation(data); c != nil {
		return &Decoding{Kind: "creation", Contract: c.Name, Arguments: []explain.Argument{}}
	}
	return nil
}

func shownDecoding(kind string, d *artifacts.Decoded) *Decoding {
	if d == nil {
		return nil
	}
	shown := &Decoding{Kind: kind, Contract: d.Contract, Signature: d.Signature, Arguments: []explain.Argument{}}
	for _, v := range d.Values {
		shown.Arguments = append(shown.Arguments, explain.Argument{Name: v.Name, Type: v.Type, Value: artifacts.Text(v.Value)})
	}
	return shown
}

// contractAt recognizes the contract at the body's address; nil without an address, or for unknown code.
func contractAt(r *rest.Request, w *sim.World, registries []*artifacts.Registry, body *DecodeRequest) (*artifacts.Contract, error) {
	if body.Address == "" {
		return nil, nil
	}
	c, err := ChainNamed(w, body.Chain)
	if err != nil {
		return nil, rest.BadRequest("chain: " + err.Error())
	}
	c = cmp.Or(c, w.Chains[0])
	head, err := w.MinerOf(c).LastExecuted(r.Context())
	if err != nil {
		return nil, err
	}
	states, err := c.State(r.Context(), head)
	if err != nil {
		return nil, err
	}
	code := states.GetCode(common.HexToAddress(body.Address))
	if err := evm.Fault(states); err != nil {
		return nil, err
	}
	for _, from := range registries {
		if found := from.Runtime(code); found != nil {
			return found, nil
		}
	}
	return nil, nil
}

// ownContracts lists the contracts that generated worlds deploy.
var ownContracts = sync.OnceValues(func() (*artifacts.Registry, error) {
	known := artifacts.New()
	for _, name := range contracts.Names() {
		raw, err := contracts.ABI(name)
		if err != nil {
			return nil, err
		}
		artifact, err := contracts.Load(name)
		if err != nil {
			return nil, err
		}
		known.Add(artifacts.NewContract(name, raw, artifact.Bytecode, artifact.Runtime))
	}
	return known, nil
})
