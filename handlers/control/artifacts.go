package control

import (
	"context"
	"net/http"
	"os"
	"reflect"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/explain"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// Artifacts is the answer of GET and POST /sim/artifacts.
type Artifacts struct {
	Folders   []ArtifactFolder   `json:"folders"`
	Contracts []ArtifactContract `json:"contracts" doc:"The first 1,000, in order of precedence."`
	Total     int                `json:"total" doc:"Number of contracts."`
}

// ArtifactFolder is a folder of artifacts.
type ArtifactFolder struct {
	Path      string   `json:"path"`
	Contracts int      `json:"contracts"`
	Problems  []string `json:"problems,omitempty" doc:"What could not be read."`
}

// ArtifactContract is a contract that an artifact describes.
type ArtifactContract struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Origin string `json:"origin" doc:"The folder, or where else it came from."`
}

// NewArtifacts is the body of POST /sim/artifacts.
type NewArtifacts struct {
	Path string `json:"path" doc:"Path of a folder on the server's machine: Foundry's out, Hardhat's artifacts, or a folder of build-infos."`
}

// ExplainedTransaction is the answer of GET /sim/transactions/{txHash}/trace.
type ExplainedTransaction struct {
	ChainID string            `json:"chainId"`
	Network string            `json:"network"`
	Hash    string            `json:"hash"`
	Failure *explain.Failure  `json:"failure,omitempty" doc:"Absent if the transaction succeeded."`
	Trace   string            `json:"trace,omitempty" doc:"The failure as text."`
	Console []explain.Message `json:"console" doc:"What contracts logged with console.log."`
	Events  []explain.Event   `json:"events" doc:"The receipt's logs."`
	Call    *explain.Step     `json:"call" doc:"The transaction's call, with the calls inside it."`
}

// mostContracts bounds the list of contracts.
const mostContracts = 1_000

// RegisterArtifacts registers the operations on artifacts, and the one that explains a transaction by them.
func RegisterArtifacts(s *rest.Server, w *sim.World, known *artifacts.Registry, explainer *explain.Explainer) error {
	session, err := explain.Begin(context.Background(), w.Chains)
	if err != nil {
		return err
	}
	list := func() *Artifacts {
		all := known.Contracts()
		a := &Artifacts{Folders: []ArtifactFolder{}, Contracts: []ArtifactContract{}, Total: len(all)}
		for _, f := range known.Folders() {
			a.Folders = append(a.Folders, ArtifactFolder(f))
		}
		for _, c := range all[:min(len(all), mostContracts)] {
			a.Contracts = append(a.Contracts, ArtifactContract{c.Name, c.Source, c.Origin})
		}
		return a
	}
	answer := reflect.TypeFor[Artifacts]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "listArtifacts", Path: "/sim/artifacts", Summary: "The folders of compiled contracts that the server reads, and the contracts in them",
			Live: true, Answer: answer, Handle: func(*rest.Request) (any, error) { return list(), nil }},
		rest.Operation{ID: "addArtifacts", Method: http.MethodPost, Path: "/sim/artifacts", Summary: "Read compiled contracts from a folder, as --artifacts does",
			Doc: "Example: {\"path\":\"/home/me/project/out\"}. Calls, events and failures of these contracts have names, lines and reasons from then on, in every world of the process. " +
				"The server notices when the folder changes.",
			Body: reflect.TypeFor[NewArtifacts](), Strict: true, Class: permit.Control, Answer: answer,
			Handle: func(r *rest.Request) (any, error) {
				path := rest.Body[NewArtifacts](r).Path
				if path == "" {
					return nil, rest.BadRequest("path must not be empty")
				}
				if _, err := os.Stat(path); err != nil {
					return nil, rest.BadRequest("the folder cannot be read: " + err.Error())
				}
				if err := known.AddFolder(path); err != nil {
					return nil, rest.BadRequest(err.Error())
				}
				return list(), nil
			}},
		rest.Operation{ID: "reportGas", Path: "/sim/gas", Summary: "The gas of each function of each contract since the server started",
			Doc: "Reports the least, median and most gas, used and charged. Counts transactions to contracts since the server started, not calls between contracts. " +
				"On a C-Chain since Helicon, it executes each transaction again, the newest 5,000 at most.",
			Live: true, Answer: reflect.TypeFor[explain.GasReport](), Handle: func(r *rest.Request) (any, error) { return explainer.Gas(r.Context(), session) }},
		rest.Operation{ID: "traceTransaction", Path: "/sim/transactions/{txHash}/trace", Summary: "What a transaction of an EVM chain did: calls, events, console.log and, if it failed, why and where",
			Doc:  "Executes the transaction again. Names and lines come from artifacts; without them, functions, events and errors of well-known standards still get names.",
			Live: true, Answer: reflect.TypeFor[ExplainedTransaction](), Params: []rest.Param{{Name: "txHash", Kind: schema.KindHash}},
			Handle: func(r *rest.Request) (any, error) {
				hash := r.Hash("txHash")
				c, t, err := transactionOf(r, w)
				if err != nil {
					return nil, err
				}
				if executed, err := w.MinerOf(c).LastExecuted(r.Context()); err != nil {
					return nil, err
				} else if t.Block.Number > executed.Number {
					return nil, rest.NotFound("transaction %s is accepted but not executed yet", hash)
				}
				report, err := explainer.Transaction(r.Context(), c, t)
				if err != nil {
					return nil, err
				}
				e := &ExplainedTransaction{ChainID: decimal(c.Row.EVMID), Network: c.Row.Network, Hash: hash.Hex(), Failure: report.Failure,
					Console: append([]explain.Message{}, report.Console...), Events: append([]explain.Event{}, report.Events...), Call: report.Root}
				if e.Failure != nil {
					e.Trace = e.Failure.String()
				}
				return e, nil
			}})
}
