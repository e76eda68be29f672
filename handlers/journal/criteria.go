package journal

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"snowglobe/fixtures/spelling"
)

// Criteria state which exchanges match. Empty fields match everything.
type Criteria struct {
	Interface  string            `json:"interface,omitempty" doc:"data, metrics, node or sim."`
	Operation  string            `json:"operation,omitempty" doc:"Id of an operation, or a JSON-RPC method; members of batches count too."`
	Method     string            `json:"method,omitempty" doc:"HTTP method."`
	Path       string            `json:"path,omitempty" doc:"A path, or a pattern in which * stands for a segment or part of one."`
	Host       string            `json:"host,omitempty" doc:"The host of its URL without the port, or a pattern such as *.avax.network."`
	Status     int               `json:"status,omitempty" doc:"HTTP status."`
	World      string            `json:"world,omitempty"`
	Client     string            `json:"client,omitempty" doc:"The client's address, or part of its user agent."`
	Fault      *bool             `json:"fault,omitempty" doc:"Whether a fault applied."`
	Failed     *bool             `json:"failed,omitempty" doc:"Whether it failed, by its status or a JSON-RPC error."`
	Parameters map[string]string `json:"parameters,omitempty" doc:"Values of parameters by their names."`
}

// differences lists in sentences where an exchange differs from the criteria.
func (c *Criteria) differences(s *Summary) (all []string) {
	differ := func(name, want, got string) {
		if want != "" && !strings.EqualFold(want, got) {
			all = append(all, fmt.Sprintf("%s is %q, not %q", name, got, want))
		}
	}
	if c.Operation != s.Operation && !slices.ContainsFunc(s.Calls, func(call Call) bool { return call.Method == c.Operation }) {
		differ("operation", c.Operation, s.Operation)
	}
	differ("interface", c.Interface, s.Interface)
	differ("method", c.Method, s.Method)
	if matched, err := path.Match(c.Path, s.Path); c.Path != "" && (err != nil || !matched) {
		all = append(all, fmt.Sprintf("path is %q, which %q does not match", s.Path, c.Path))
	}
	if matched, err := path.Match(strings.ToLower(c.Host), s.host); c.Host != "" && (err != nil || !matched) {
		all = append(all, fmt.Sprintf("host is %q, which %q does not match", s.host, c.Host))
	}
	if c.Status != 0 && c.Status != s.Status {
		all = append(all, fmt.Sprintf("status is %d, not %d", s.Status, c.Status))
	}
	differ("world", c.World, s.World)
	if c.Client != "" && c.Client != s.Client && !strings.Contains(strings.ToLower(s.UserAgent), strings.ToLower(c.Client)) {
		all = append(all, fmt.Sprintf("client is %s %q, not %q", s.Client, s.UserAgent, c.Client))
	}
	if c.Fault != nil && *c.Fault != (s.Fault != "") {
		all = append(all, choose(*c.Fault, "no fault was applied", "a fault was applied"))
	}
	if failed := s.Status >= http.StatusBadRequest || s.Cause != ""; c.Failed != nil && *c.Failed != failed {
		all = append(all, choose(failed, "it failed", "it did not fail"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		got, given := s.Parameters[name]
		if !given {
			all = append(all, fmt.Sprintf("parameter %s is not there", name))
		} else if text := fmt.Sprint(got); !strings.EqualFold(text, c.Parameters[name]) {
			all = append(all, fmt.Sprintf("parameter %s is %q, not %q", name, text, c.Parameters[name]))
		}
	}
	return all
}

func choose(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

// List returns the latest matching exchanges below an id, and whether there are more.
func (j *Journal) List(c *Criteria, before int64, most int) (found []*Summary, more bool) {
	for _, e := range j.Latest(before) {
		s := j.Summarize(&e)
		if len(c.differences(s)) > 0 {
			continue
		}
		if len(found) == most {
			return found, true
		}
		found = append(found, s)
	}
	return found, false
}

// Count returns the number of matches: requests, and in batches every member with the operation.
func (j *Journal) Count(c *Criteria) (n int) {
	for _, e := range j.Latest(0) {
		if s := j.Summarize(&e); len(c.differences(s)) == 0 {
			n += c.times(s)
		}
	}
	return n
}

func (c *Criteria) times(s *Summary) (n int) {
	for _, call := range s.Calls {
		if c.Operation != "" && call.Method == c.Operation {
			n++
		}
	}
	return max(n, 1)
}

// NearMiss is an exchange that almost matches.
type NearMiss struct {
	Request     *Summary `json:"request"`
	Differences []string `json:"differences" doc:"How it differs from the request."`
}

// mostNearMisses bounds the near misses listed.
const mostNearMisses = 5

// NearMisses returns the exchanges closest to the criteria, closest first.
func (j *Journal) NearMisses(c *Criteria) []NearMiss {
	all := []NearMiss{}
	for _, e := range j.Latest(0) {
		s := j.Summarize(&e)
		if d := c.differences(s); len(d) > 0 {
			all = append(all, NearMiss{s, d})
		}
	}
	slices.SortStableFunc(all, func(a, b NearMiss) int {
		return cmp.Or(cmp.Compare(len(a.Differences), len(b.Differences)), cmp.Compare(c.unlike(a.Request), c.unlike(b.Request)))
	})
	return all[:min(len(all), mostNearMisses)]
}

// unlike measures how far a request's operation name is from the expected one.
func (c *Criteria) unlike(s *Summary) int {
	if c.Operation == "" {
		return 0
	}
	least := spelling.Distance(c.Operation, s.Operation)
	for _, call := range s.Calls {
		least = min(least, spelling.Distance(c.Operation, call.Method))
	}
	return least
}
