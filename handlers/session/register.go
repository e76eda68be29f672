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
	Session string `json:"session,omitempty" doc:"The session's text."`
	Path    string `json:"path,omitempty" doc:"Path of a file on the server's machine with the text, instead of session."`
}

// backBody chooses the line to go back to.
type backBody struct {
	Line int `json:"line" min:"0" doc:"Number of the line, as in GET /sim/session/lines; 0 for the beginning."`
}

// Register registers the operations on sessions.
func Register(s *rest.Server, r *Recorder) error {
	player := NewPlayer(r.world, s)
	return s.Register(rest.Sim,
		rest.Operation{ID: "getSession", Path: "/sim/session", Summary: "What clients have done to the world since the server opened it",
			Doc:  "One line for each action. snowglobe play and POST /sim/session:play repeat them, and reach the same digest on the same world.",
			Live: true, Produces: "text/plain; charset=utf-8",
			Handle: func(q *rest.Request) (any, error) {
				text, err := r.Text(q.Context())
				return rest.Raw{Type: "text/plain; charset=utf-8", Body: []byte(text)}, err
			}},
		rest.Operation{ID: "getSessionLines", Path: "/sim/session/lines", Summary: "The lines of the session, and which of them the world can go back to", Live: true,
			Answer: reflect.TypeFor[Timeline](), Handle: func(q *rest.Request) (any, error) { return r.Timeline(q.Context()) }},
		rest.Operation{ID: "returnToLine", Method: http.MethodPost, Path: "/sim/session:back", Summary: "Go back to the state of the world after a line of the session",
			Doc: "Reverts to the last snapshot before the line, or resets, and plays the lines from there again. The session then ends with the line. " +
				"It resets if a line changed how the world makes blocks, or used an operation such as POST /sim/faults, because no snapshot contains these. Don't change the world meanwhile.",
			Body: reflect.TypeFor[backBody](), Strict: true, Class: permit.Control, Slow: true, Answer: reflect.TypeFor[Timeline](),
			Handle: func(q *rest.Request) (any, error) {
				err := r.Back(q.Context(), player, rest.Body[backBody](q).Line)
				if wrong := mistakes(err); len(wrong) > 0 {
					return nil, rest.Conflict("going back stopped at " + wrong[0])
				}
				if err != nil {
					return nil, err
				}
				return r.Timeline(q.Context())
			}},
		rest.Operation{ID: "playSession", Method: http.MethodPost, Path: "/sim/session:play", Summary: "Play a session on the world",
			Doc: "Stops at the first line whose outcome differs from the session's, and keeps what the lines before it did. " +
				"Faults, rate limits and the journal ignore the lines. Example: {\"session\":\"alice sends 1.5 AVAX to bob on C\"}.",
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
