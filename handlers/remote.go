package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"snowglobe/handlers/control"
	"snowglobe/handlers/worlds"
)

// remoteVerb is a request of a running server about snapshots or worlds; the verb's operand selects it.
type remoteVerb struct {
	name    string
	operand string // NAME or ID, in brackets if optional; empty for none
	method  string
	path    func(operand string) string
	body    func(operand string) any // nil for none
	show    func(answer []byte, w io.Writer) error
}

func fixed(path string) func(string) string { return func(string) string { return path } }

func under(path, action string) func(string) string {
	return func(operand string) string { return path + "/" + url.PathEscape(operand) + action }
}

func named(operand string) any {
	if operand == "" {
		return nil
	}
	return map[string]string{"name": operand}
}

// remoteVerbs lists the operands of the verbs that ask a running server; the first is the default.
var remoteVerbs = map[string][]remoteVerb{
	"snapshot": {
		{name: "list", method: http.MethodGet, path: fixed("/sim/snapshots"), show: showSnapshots},
		{name: "take", operand: "[NAME]", method: http.MethodPost, path: fixed("/sim/snapshots"), body: named, show: field("id")},
		{name: "revert", operand: "ID", method: http.MethodPost, path: under("/sim/snapshots", ":revert"), show: field("digest")},
		{name: "delete", operand: "ID", method: http.MethodDelete, path: under("/sim/snapshots", "")},
		{name: "reset", method: http.MethodPost, path: fixed("/sim/reset"), show: field("digest")},
	},
	"world": {
		{name: "list", method: http.MethodGet, path: fixed("/sim/worlds"), show: showWorlds},
		{name: "make", operand: "[NAME]", method: http.MethodPost, path: fixed("/sim/worlds"), body: named, show: field("url")},
		{name: "delete", operand: "NAME", method: http.MethodDelete, path: under("/sim/worlds", "")},
	},
}

// remoteOperands formats a verb's operands for its usage line.
func remoteOperands(verb string) string {
	var all []string
	for _, r := range remoteVerbs[verb] {
		all = append(all, strings.TrimSpace(r.name+" "+r.operand))
	}
	return "[" + strings.Join(all, " | ") + "]"
}

// Remote is a request to a running server.
type Remote struct {
	verb    *remoteVerb
	operand string
}

// ParseRemote reads the operands of a verb that asks a running server; it returns nil for other verbs.
func ParseRemote(verb string, operands []string) (*Remote, error) {
	all := remoteVerbs[verb]
	if len(all) == 0 {
		return nil, nil
	}
	if len(operands) == 0 {
		return &Remote{verb: &all[0]}, nil
	}
	for i := range all {
		most, least := min(1, len(all[i].operand)), min(1, len(strings.Trim(all[i].operand, "[]")))
		if strings.HasPrefix(all[i].operand, "[") {
			least = 0
		}
		if given := len(operands) - 1; all[i].name == operands[0] && given >= least && given <= most {
			return &Remote{&all[i], strings.Join(operands[1:], "")}, nil
		}
	}
	return nil, fmt.Errorf("%s: expected %s, not %.80q", verb, strings.ReplaceAll(strings.Trim(remoteOperands(verb), "[]"), " | ", ", "), strings.Join(operands, " "))
}

// Ask asks the server at the addresses and prints its answer: a line for each item, or the answer itself as JSON.
func (a Addresses) Ask(ctx context.Context, r *Remote, out *Output) error {
	var body io.Reader
	if r.verb.body != nil {
		if given := r.verb.body(r.operand); given != nil {
			text, err := json.Marshal(given)
			if err != nil {
				return err
			}
			body = bytes.NewReader(text)
		}
	}
	answer, err := ask(ctx, r.verb.method, a.url()+r.verb.path(r.operand), body)
	switch {
	case err != nil || len(answer) == 0:
		return err
	case out.JSON:
		_, err = fmt.Fprintf(out, "%s\n", bytes.TrimSpace(answer))
		return err
	}
	return r.verb.show(answer, out)
}

// field prints one member of the answer.
func field(name string) func([]byte, io.Writer) error {
	return func(answer []byte, w io.Writer) error {
		members := map[string]any{}
		if err := json.Unmarshal(answer, &members); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w, members[name])
		return err
	}
}

func showSnapshots(answer []byte, w io.Writer) error {
	var all control.Snapshots
	err := json.Unmarshal(answer, &all)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range all.Snapshots {
		fmt.Fprintf(t, "%s\t%s\t%s\n", s.ID, s.Created, s.Name)
	}
	return errors.Join(err, t.Flush())
}

func showWorlds(answer []byte, w io.Writer) error {
	var all worlds.Worlds
	err := json.Unmarshal(answer, &all)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, one := range all.Worlds {
		fmt.Fprintf(t, "%s\t%s\n", one.Name, one.URL)
	}
	return errors.Join(err, t.Flush())
}
