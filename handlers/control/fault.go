package control

import (
	"net/http"
	"reflect"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Faults is the answer of GET /sim/faults.
type Faults struct {
	Faults []fault.State `json:"faults" doc:"In the order in which they are tried."`
}

// DeletedFaults is the answer of DELETE /sim/faults.
type DeletedFaults struct {
	Deleted int `json:"deleted"`
}

// RegisterFaults adds the operations on faults. names are what rules may name, known once everything is registered.
func RegisterFaults(s *rest.Server, set *fault.Set, names func() *fault.Names) error {
	id := rest.Param{Name: "id", Kind: schema.KindText, Doc: "The rule's id."}
	state := reflect.TypeFor[fault.State]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "listFaults", Path: "/sim/faults", Summary: "The rules by which answers fail, with how often they did", Live: true,
			Answer: reflect.TypeFor[Faults](), Handle: func(*rest.Request) (any, error) { return &Faults{set.List()}, nil }},
		rest.Operation{ID: "addFault", Method: http.MethodPost, Path: "/sim/faults", Summary: "Let answers fail on purpose",
			Doc: "Example: {\"match\":{\"operation\":\"getChain\"},\"action\":{\"status\":429},\"times\":{\"first\":2}}. The first rule that applies to a request decides; " +
				"with the id of a rule that is there, it takes its place. Rules are kept in memory, write nothing, and never reach /sim.",
			Body: reflect.TypeFor[fault.Rule](), Strict: true, Class: permit.Control, Answer: state,
			Handle: func(r *rest.Request) (any, error) {
				rule, problems := fault.Decode(rest.Body[fault.Rule](r), names())
				if len(problems) > 0 {
					return nil, rest.BadRequest(problems...)
				}
				added := set.Add(rule)
				return &added, nil
			}},
		rest.Operation{ID: "deleteFaults", Method: http.MethodDelete, Path: "/sim/faults", Summary: "Take all rules away",
			Class: permit.Control, Answer: reflect.TypeFor[DeletedFaults](),
			Handle: func(*rest.Request) (any, error) { return &DeletedFaults{set.Delete("")}, nil }},
		rest.Operation{ID: "deleteFault", Method: http.MethodDelete, Path: "/sim/faults/{id}", Summary: "Take a rule away",
			Params: []rest.Param{id}, Class: permit.Control, Answer: reflect.TypeFor[DeletedFaults](),
			Handle: func(r *rest.Request) (any, error) {
				n := set.Delete(r.Text("id"))
				if n == 0 {
					return nil, rest.NotFound("there is no fault with the id %s", r.Text("id"))
				}
				return &DeletedFaults{n}, nil
			}})
}
