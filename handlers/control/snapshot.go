package control

import (
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Snapshot is a state to which the world can revert.
type Snapshot struct {
	ID      string `json:"id" doc:"A number; EVM clients write it in hexadecimal with 0x."`
	Name    string `json:"name,omitempty"`
	Created string `json:"created" doc:"The world's time, RFC 3339."`
	Unix    int64  `json:"unix" doc:"The same in Unix seconds."`
	Digest  string `json:"digest" doc:"SHA-256 of the whole world then, hex."`
}

// Snapshots is the answer of GET /sim/snapshots.
type Snapshots struct {
	Snapshots []Snapshot `json:"snapshots" doc:"Oldest first."`
}

// snapshotBody holds the options of a new snapshot.
type snapshotBody struct {
	Name *string `json:"name,omitempty" doc:"A name for people; it need not be unique."`
}

// Returned describes the world after a revert.
type Returned struct {
	Digest string `json:"digest" doc:"SHA-256 of the whole world, hex."`
	Clock  Clock  `json:"clock"`
}

type snapshotAPI struct{ world *sim.World }

// RegisterSnapshots registers the operations on snapshots.
func RegisterSnapshots(s *rest.Server, w *sim.World) error {
	a := &snapshotAPI{w}
	id := []rest.Param{{Name: "id", In: rest.InPath, Kind: schema.KindText, Doc: "Of the snapshot."}}
	one, returned := reflect.TypeFor[Snapshot](), reflect.TypeFor[Returned]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "listSnapshots", Path: "/sim/snapshots", Summary: "The world's snapshots", Live: true,
			Answer: reflect.TypeFor[Snapshots](), Handle: a.list},
		rest.Operation{ID: "takeSnapshot", Method: http.MethodPost, Path: "/sim/snapshots", Summary: "Take a snapshot of the world",
			Doc: "Covers the whole world: all chains, their pools and impersonated accounts, the clock, exports and webhooks. It lives in the world's file, so it " +
				"survives a restart.",
			Body: reflect.TypeFor[snapshotBody](), Strict: true, BodyOptional: true, Status: http.StatusCreated, Class: permit.Control, Answer: one, Handle: a.take},
		rest.Operation{ID: "getSnapshot", Path: "/sim/snapshots/{id}", Summary: "One snapshot", Live: true, Params: id,
			Answer: one, Handle: rest.With(snapshotID, a.one)},
		rest.Operation{ID: "revertToSnapshot", Method: http.MethodPost, Path: "/sim/snapshots/{id}:revert", Summary: "Revert to a snapshot", Params: id,
			Doc:   "Deletes later snapshots and keeps this one. Takes time in proportion to what changed.",
			Class: permit.Control, Answer: returned, Handle: rest.With(snapshotID, a.revert)},
		rest.Operation{ID: "deleteSnapshot", Method: http.MethodDelete, Path: "/sim/snapshots/{id}", Summary: "Delete a snapshot", Params: id,
			Doc: "Leaves the world unchanged.", Status: http.StatusNoContent, Class: permit.Control, Handle: rest.With(snapshotID, a.drop)},
		rest.Operation{ID: "resetWorld", Method: http.MethodPost, Path: "/sim/reset", Summary: "Revert to the freshly generated world",
			Doc: "Deletes all snapshots.", Class: permit.Control, Answer: returned, Handle: a.reset})
}

func showSnapshot(s *store.Snapshot) *Snapshot {
	return &Snapshot{ID: strconv.FormatInt(s.ID, 10), Name: s.Name, Created: rfc3339(s.Created / 1000), Unix: s.Created / 1000, Digest: hex(s.Digest)}
}

func (a *snapshotAPI) list(r *rest.Request) (any, error) {
	all, err := a.world.DB.Snapshots(r.Context())
	if err != nil {
		return nil, err
	}
	answer := &Snapshots{Snapshots: []Snapshot{}}
	for i := range all {
		answer.Snapshots = append(answer.Snapshots, *showSnapshot(&all[i]))
	}
	return answer, nil
}

func (a *snapshotAPI) take(r *rest.Request) (any, error) {
	name := ""
	if given := rest.Body[snapshotBody](r).Name; given != nil {
		name = *given
	}
	if len(name) > sim.MaxSnapshotName {
		return nil, rest.BadRequest("name must have at most " + strconv.Itoa(sim.MaxSnapshotName) + " bytes")
	}
	s, err := a.world.TakeSnapshot(r.Context(), name)
	if err != nil {
		return nil, refusal(err, "")
	}
	return showSnapshot(s), nil
}

func (a *snapshotAPI) one(r *rest.Request, id int64) (any, error) {
	s, err := a.world.DB.Snapshot(r.Context(), id)
	if err != nil {
		return nil, refusal(err, r.Text("id"))
	}
	return showSnapshot(s), nil
}

func (a *snapshotAPI) revert(r *rest.Request, id int64) (any, error) {
	err := refusal(a.world.Revert(r.Context(), id, false), r.Text("id"))
	return a.returned(), err
}

func (a *snapshotAPI) drop(r *rest.Request, id int64) (any, error) {
	return nil, refusal(a.world.DropSnapshot(r.Context(), id), r.Text("id"))
}

func (a *snapshotAPI) reset(r *rest.Request) (any, error) {
	err := refusal(a.world.Reset(r.Context()), "")
	return a.returned(), err
}

func (a *snapshotAPI) returned() *Returned {
	now := a.world.Clock.Now()
	return &Returned{Digest: hex(a.world.Digest()), Clock: Clock{Time: now.Format(time.RFC3339), Unix: now.Unix()}}
}

// snapshotID reads a snapshot's id in the simulator's form or in that of EVM clients.
func snapshotID(r *rest.Request) (int64, error) {
	id, err := strconv.ParseInt(r.Text("id"), 0, 64)
	if err != nil || id <= 0 {
		return 0, refusal(store.ErrNotFound, r.Text("id"))
	}
	return id, nil
}

// refusal tells the client why a snapshot could not be taken or reverted to.
func refusal(err error, id string) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return rest.NotFound("snapshot %.40q does not exist: GET /sim/snapshots lists all snapshots", id)
	case errors.Is(err, sim.ErrSnapshots):
		return rest.Conflict(err.Error())
	}
	return err
}
