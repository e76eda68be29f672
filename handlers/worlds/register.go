package worlds

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"snowglobe/handlers/control"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// World is one of the worlds of the process.
type World struct {
	Name    string         `json:"name"`
	URL     string         `json:"url" format:"url" doc:"URL of the world; all its paths are below it."`
	RPCURL  string         `json:"rpcUrl" format:"url" doc:"JSON-RPC URL of the world's C-Chain."`
	WSURL   string         `json:"wsUrl" format:"url"`
	From    string         `json:"from,omitempty" doc:"Its origin; absent for the main world and for a kept world from another process."`
	Keep    bool           `json:"keep" doc:"Whether its file outlives the process."`
	TTL     string         `json:"ttl,omitempty" doc:"Idle real time after which the world ends. Default: never."`
	Created string         `json:"created,omitempty" doc:"In real time, RFC 3339."`
	Bytes   int64          `json:"bytes" doc:"Size of its file."`
	Open    bool           `json:"open" doc:"Whether the world is open. A kept world opens on its first request, and lacks the other fields until then."`
	Seed    *int64         `json:"seed,omitempty"`
	Profile string         `json:"profile,omitempty"`
	Digest  string         `json:"digest,omitempty" doc:"SHA-256 of the whole world, hex."`
	Clock   *control.Clock `json:"clock,omitempty"`
}

// Worlds is the answer of GET /sim/worlds.
type Worlds struct {
	Worlds []World `json:"worlds" doc:"The main world first, the others by name."`
	Most   int     `json:"most" doc:"Maximum number of worlds besides the main one."`
}

// makeBody holds the options of a new world.
type makeBody struct {
	Name     *string  `json:"name,omitempty" doc:"1 to 63 characters from a to z, 0 to 9 and -. Default: the next of world-1, world-2 and so on."`
	From     *from    `json:"from,omitempty"`
	Upgrades []string `json:"upgrades,omitempty" doc:"When upgrades activate in a world from a seed, overriding --upgrade: helicon=never, helicon=now or fuji:helicon=2026-12-01T00:00:00Z."`
	TTL      *string  `json:"ttl,omitempty" doc:"Idle real time after which the world ends, such as 10m or 2h; at least 1s."`
	Keep     *bool    `json:"keep,omitempty" doc:"Whether to keep the world's file beside the main world's when the process ends."`
}

// from is a new world's origin in the client's form.
type from struct{ Origin }

// seedBody is the origin of a world from a seed.
type seedBody struct {
	Seed    int64  `json:"seed"`
	Profile string `json:"profile" doc:"A built-in profile, such as tiny."`
}

// Schema allows all forms.
func (from) Schema(d *schema.Schemas) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{{Type: "string"}, d.Of(reflect.TypeFor[seedBody]())},
		Description: "head, the id of a snapshot of this world, or an object with a seed and a profile; default: head."}
}

const head = "head"

// UnmarshalJSON reads all forms.
func (f *from) UnmarshalJSON(data []byte) error {
	b := seedBody{}
	if data[0] == '{' {
		err := json.Unmarshal(data, &b)
		f.Origin = Origin{Seed: b.Seed, Profile: b.Profile}
		return err
	}
	text := ""
	if err := json.Unmarshal(data, &text); err != nil || text == head {
		return err
	}
	id, err := strconv.ParseInt(text, 0, 64)
	if f.Snapshot = id; err != nil || id <= 0 {
		f.Snapshot = -1 // means no snapshot
	}
	return nil
}

// Register registers the operations on worlds with the server of one of them.
func Register(server *rest.Server, s *Set, of *sim.World) error {
	name := []rest.Param{{Name: "name", In: rest.InPath, Kind: schema.KindText, Doc: "Of the world."}}
	one := reflect.TypeFor[World]()
	return server.Register(rest.Sim,
		rest.Operation{ID: "listWorlds", Path: "/sim/worlds", Summary: "The worlds of this process", Live: true, Answer: reflect.TypeFor[Worlds](),
			Handle: func(r *rest.Request) (any, error) {
				main, err := s.describeMain(r)
				if err != nil {
					return nil, err
				}
				answer := &Worlds{Worlds: []World{main}, Most: s.options.Most}
				for _, h := range s.list() {
					if h.current() != making {
						answer.Worlds = append(answer.Worlds, h.describe(r))
					}
				}
				return answer, nil
			}},
		rest.Operation{ID: "makeWorld", Method: http.MethodPost, Path: "/sim/worlds", Summary: "Make a new world",
			Doc: "Copies this world with its snapshots, or generates a new one. The new world has the main world's paths below /w/ and its " +
				"name, and the worlds do not affect each other. Example: {\"from\":{\"seed\":7,\"profile\":\"tiny\"},\"name\":\"a\",\"ttl\":\"10m\"}.",
			Body: reflect.TypeFor[makeBody](), Strict: true, BodyOptional: true, Slow: true, Class: permit.Control,
			Status: http.StatusCreated, Answer: one,
			Handle: func(r *rest.Request) (any, error) {
				wish, err := rest.Body[makeBody](r).read()
				if err != nil {
					return nil, err
				}
				h, err := s.Make(r.Context(), of, wish)
				if err != nil {
					return nil, s.refusal(err)
				}
				return new(h.describe(r)), nil
			}},
		rest.Operation{ID: "getWorld", Path: "/sim/worlds/{name}", Summary: "A world of this process", Params: name, Live: true, Answer: one,
			Handle: func(r *rest.Request) (any, error) {
				if r.Text("name") == Main {
					answer, err := s.describeMain(r)
					return &answer, err
				}
				h, err := s.find(r.Text("name"))
				if err == nil {
					err = h.open(r.Context())
				}
				if err != nil {
					return nil, err
				}
				return new(h.describe(r)), nil
			}},
		rest.Operation{ID: "deleteWorld", Method: http.MethodDelete, Path: "/sim/worlds/{name}", Summary: "End a world and delete its file", Params: name,
			Doc: "You cannot delete the main world.", Status: http.StatusNoContent, Class: permit.Control,
			Handle: func(r *rest.Request) (any, error) {
				return nil, s.Delete(r.Context(), r.Text("name"))
			}})
}

// read checks a client's request for a world.
func (b *makeBody) read() (w Wish, err error) {
	var problems []string
	if b.Name != nil {
		w.Name = *b.Name
		if err := checkName(w.Name); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if b.From != nil {
		w.From = b.From.Origin
	}
	if w.From.Upgrades = b.Upgrades; len(b.Upgrades) > 0 && w.From.Profile == "" {
		problems = append(problems, "upgrades works only with from.seed and from.profile: a copy has the upgrades of its original")
	}
	if b.TTL != nil {
		if w.TTL, err = time.ParseDuration(*b.TTL); err != nil || w.TTL < time.Second {
			problems = append(problems, "ttl "+strconv.Quote(schema.Shorten(*b.TTL))+" is not allowed: expected a time such as 10m or 2h, at least 1s")
		}
	}
	if b.Keep != nil {
		w.Keep = *b.Keep
	}
	if w.Keep && w.TTL > 0 {
		problems = append(problems, "keep and ttl cannot be combined: a kept world lives until it is deleted")
	}
	if len(problems) > 0 {
		return w, rest.BadRequest(problems...)
	}
	return w, nil
}

// refusal tells the client why a world could not be made. The details go to the log.
func (s *Set) refusal(err error) error {
	var failed *fs.PathError
	var refused error
	switch {
	case errors.Is(err, store.ErrNotFound):
		return rest.NotFound("the snapshot does not exist: from is head, the id of one that GET /sim/snapshots lists, or an object with seed and profile")
	case errors.Is(err, store.ErrExists):
		return rest.Conflict("a file already exists where the server would keep the world: move it away, or choose another name")
	case errors.Is(err, context.Canceled):
		return rest.Unavailable("the world ended before it was ready")
	case errors.Is(err, os.ErrPermission):
		refused = rest.Forbidden("the world cannot be kept: the folder of the main world's file is not writable")
	case errors.Is(err, store.ErrDisk):
		refused = rest.Unavailable(store.ErrDisk.Error())
	case errors.Is(err, fs.ErrNotExist), s.world.DB.CheckFile() != nil:
		refused = rest.Unavailable("the world cannot be copied: its file, or the folder for the copy, has moved since the server started")
	case errors.As(err, &failed):
		refused = rest.Unavailable("the world cannot be copied: " + failed.Err.Error())
	default:
		return err
	}
	s.note("a world could not be made", err)
	return refused
}

func (s *Set) describeMain(r *rest.Request) (World, error) {
	answer := describe(s.world)
	answer.Name, answer.URL, answer.Keep = Main, rest.RootURL(r.HTTP), s.file != ""
	answer.finish(s.file)
	if s.file != "" {
		return answer, nil
	}
	var err error
	answer.Bytes, err = s.world.DB.Size(r.Context())
	return answer, err
}

func (h *hosted) describe(r *rest.Request) World {
	h.mu.Lock()
	w := h.world
	h.mu.Unlock()
	answer := describe(w)
	answer.Name, answer.URL, answer.From, answer.Keep = h.name, rest.RootURL(r.HTTP)+Prefix+h.name, h.from, h.keep
	answer.Created = h.created.UTC().Format(time.RFC3339)
	if h.ttl > 0 {
		answer.TTL = h.ttl.String()
	}
	answer.finish(h.path)
	return answer
}

// describe describes a world, if it is open.
func describe(w *sim.World) World {
	if w == nil {
		return World{}
	}
	now := w.Clock.Now()
	return World{Open: true, Seed: &w.Meta.Seed, Profile: w.Meta.Profile, Digest: hex.EncodeToString(w.Digest()),
		Clock: &control.Clock{Time: now.Format(time.RFC3339), Unix: now.Unix()}}
}

// finish adds the derived fields.
func (w *World) finish(path string) {
	w.RPCURL = w.URL + "/ext/bc/C/rpc"
	w.WSURL = "ws" + strings.TrimPrefix(w.URL, "http") + "/ext/bc/C/ws"
	for _, file := range []string{path, path + "-wal"} {
		if info, err := os.Stat(file); err == nil {
			w.Bytes += info.Size()
		}
	}
}
