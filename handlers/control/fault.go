package control

import (
	"context"
	"net/http"
	"reflect"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Faults is the answer of GET /sim/faults.
type Faults struct {
	Faults []fault.State     `json:"faults" doc:"In the order in which they apply."`
	Held   []HeldTransaction `json:"held" doc:"Transactions that mining rules hold in the pool. The hold ends when they leave the pool or the server restarts; a copy of the world holds none."`
}

// HeldTransaction is a transaction that a rule keeps from being mined.
type HeldTransaction struct {
	Network string `json:"network"`
	ChainID string `json:"chainId" doc:"EVM chain id."`
	TxHash  string `json:"txHash"`
	From    string `json:"from"`
	Nonce   uint64 `json:"nonce"`
	Until   string `json:"until,omitempty" doc:"Real time, RFC 3339; absent if the hold lasts as long as any mining rule exists."`
}

// Holds lists and releases the transactions that rules keep from being mined.
type Holds interface {
	Held() []HeldTransaction
	// Release frees the transactions that are held for ever, so that they can be mined.
	Release(ctx context.Context) error
}

// DeletedFaults is the answer of DELETE /sim/faults.
type DeletedFaults struct {
	Deleted int `json:"deleted"`
}

// RegisterFaults registers the operations on faults. names returns the names that rules may use; they are known once everything is
// registered.
func RegisterFaults(s *rest.Server, set *fault.Set, names func() *fault.Names, holds Holds) error {
	id := rest.Param{Name: "id", Kind: schema.KindText, Doc: "The rule's id."}
	state := reflect.TypeFor[fault.State]()
	remove := func(r *rest.Request, id string) (*DeletedFaults, error) {
		n := set.Delete(id)
		if set.Mining() { // another rule may hold them too
			return &DeletedFaults{n}, nil
		}
		return &DeletedFaults{n}, holds.Release(r.Context())
	}
	return s.Register(rest.Sim,
		rest.Operation{ID: "listFaults", Path: "/sim/faults", Summary: "The fault rules, and how often each has applied", Live: true,
			Answer: reflect.TypeFor[Faults](), Handle: func(*rest.Request) (any, error) { return &Faults{set.List(), holds.Held()}, nil }},
		rest.Operation{ID: "addFault", Method: http.MethodPost, Path: "/sim/faults", Summary: "Make responses fail on purpose",
			Doc: "Example: {\"match\":{\"operation\":\"getChain\"},\"action\":{\"status\":429},\"times\":{\"first\":2}}. The first rule that applies to a request wins; " +
				"a rule with an existing id replaces that one. Rules live in memory, write nothing and never affect /sim.",
			Body: reflect.TypeFor[fault.Rule](), Strict: true, Class: permit.Control, Answer: state,
			Handle: func(r *rest.Request) (any, error) {
				rule, problems := fault.Decode(rest.Body[fault.Rule](r), names())
				if len(problems) > 0 {
					return nil, rest.BadRequest(problems...)
				}
				return new(set.Add(rule)), nil
			}},
		rest.Operation{ID: "deleteFaults", Method: http.MethodDelete, Path: "/sim/faults", Summary: "Delete all rules",
			Doc:   "Releases transactions held for ever, as deleting the last mining rule does.",
			Class: permit.Control, Answer: reflect.TypeFor[DeletedFaults](),
			Handle: func(r *rest.Request) (any, error) { return remove(r, "") }},
		rest.Operation{ID: "deleteFault", Method: http.MethodDelete, Path: "/sim/faults/{id}", Summary: "Delete a rule",
			Params: []rest.Param{id}, Class: permit.Control, Answer: reflect.TypeFor[DeletedFaults](),
			Handle: func(r *rest.Request) (any, error) {
				deleted, err := remove(r, r.Text("id"))
				if err == nil && deleted.Deleted == 0 {
					return nil, rest.NotFound("there is no fault with the id %s", r.Text("id"))
				}
				return deleted, err
			}})
}
