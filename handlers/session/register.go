package session

import (
	"errors"
	"net/http"
	"reflect"

	"snowglobe/fixtures/session"
	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim/store"
)

// MostBytes bounds the size of a session to play.
const MostBytes = 64 << 20

// playBody is the session to play.
type playBody struct {
	Session string `json:"session,omitempty" doc:"The text."`
	Path    string `json:"path,omitempty" doc:"Path of a file on this machine with the text, in place of session."`
}

// backBody chooses the line to go back to.
type backBody struct {
	Line int `json:"line" min:"0" doc:"Number of the line, as in GET /sim/session/lines; 0 for the beginning."`
}

// Register registers the operations on sessions.
func Register(s *rest.Server, r *Recorder) error {
	player := NewPlayer(r.world, s)
	return s.Register(rest.Sim,
		rest.Operation{ID: "getSession", Path: "/sim/session", Summary: "What was done to the world since the server opened it",
			Doc:  "A line for each action, which snowglobe play and POST /sim/session:play read. On the same world it leads to the same digest.",
			Live: true, Produces: "text/plain; charset=utf-8",
			Handle: func(q *rest.Request) (any, error) {
				text, err := r.Text(q.Context())
				return rest.Raw{Type: "text/plain; charset=utf-8", Body: []byte(text)}, err
			}},
		rest.Operation{ID: "getSessionLines", Path: "/sim/session/lines", Summary: "The lines of the session, and to which of them the world can go back", Live: true,
			Answer: reflect.TypeFor[Timeline](), Handle: func(q *rest.Request) (any, error) { return r.Timeline(q.Context()) }},
		rest.Operation{ID: "returnToLine", Method: http.MethodPost, Path: "/sim/session:back", Summary: "Go back to where the world was after a line of the session",
			Doc: "Reverts to the last snapshot before the line, or resets, and plays the lines from there again. The session then ends with the line. " +
				"It resets if a line set how blocks are made, or used an operation such as POST /sim/faults: no snapshot has these. Nobody else may change the world meanwhile.",
			Body: reflect.TypeFor[backBody](), Strict: true, Class: permit.Control, Slow: true, Answer: reflect.TypeFor[Timeline](),
			Handle: func(q *rest.Request) (any, error) {
				err := r.Back(q.Context(), player, rest.Body[backBody](q).Line)
				if wrong := mistakes(err); len(wrong) > 0 {
					return nil, rest.Conflict("the way back ended at " + wrong[0])
				}
				if err != nil {
					return nil, err
				}
				return r.Timeline(q.Context())
			}},
		rest.Operation{ID: "playSession", Method: http.MethodPost, Path: "/sim/session:play", Summary: "Do to the world what a session says",
			Doc: "Stops at the first line that has another outcome than the session says. The world then stays as the lines before have left it. " +
				"Neither faults nor rate limits nor the journal concern the lines. Example: {\"session\":\"alice sends 1.5 AVAX to bob on C\"}.",
			Body: reflect.TypeFor[playBody](), Strict: true, Class: permit.Control, Slow: true, Answer: reflect.TypeFor[Played](),
			Handle: func(q *rest.Request) (any, error) {
				b := rest.Body[playBody](q)
				text := []byte(b.Session)
				if (b.Path == "") == (b.Session == "") {
					return nil, rest.BadRequest("expected either session or path")
				}
				if b.Path != "" {
					var err error
					if text, err = userfile.Read(b.Path, MostBytes); err != nil {
						return nil, rest.BadRequest("path: " + err.Error())
					}
				}
				played, err := player.Play(q.Context(), string(text))
				if wrong := mistakes(err); len(wrong) > 0 {
					return nil, rest.BadRequest(wrong...)
				}
				return played, err
			}})
}

// mistakes returns the messages of an error about lines; none for any other error.
func mistakes(err error) (all []string) {
	var m *session.Mistake
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, one := range joined.Unwrap() {
			all = append(all, one.Error())
		}
	} else if errors.As(err, &m) && !store.Internal(err) {
		all = append(all, m.Error())
	}
	return all
}
