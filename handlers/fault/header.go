package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snowglobe/handlers/rest/schema"
)

// Header is the header with which a request asks for a fault of its own.
const Header = "X-Sim-Fault"

// headerNames lists the names that the header's value may contain, besides a status.
var headerNames = []string{"content-type", "delay", "drop", "empty-page", "invalid-json", "message", "missing-logs", "page-token", "retry-after", "rpc-error", "short-page", "slow", "truncate"}

// ParseHeader reads the header's value: a status, or names with values, separated by semicolons, such as 429;retry-after=3, delay=2s, drop
// or truncate=100.
func ParseHeader(text string) (*Action, error) {
	a := &Action{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, given := strings.Cut(strings.TrimSpace(part), "=")
		if err := a.set(strings.ToLower(name), value, given); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.ToLower(Header), err)
		}
	}
	if problems := a.problems(); len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s", strings.ToLower(Header), strings.Join(problems, "; "))
	}
	return a, nil
}

func (a *Action) set(name, value string, given bool) (err error) {
	switch name {
	case "delay":
		a.Delay = &Delay{}
		err = a.Delay.Fixed.UnmarshalJSON(quoted(value))
	case "slow":
		err = a.Slow.UnmarshalJSON(quoted(value))
	case "drop":
		if a.Drop.When = value; !given {
			a.Drop.When = dropBefore
		}
		err = oneOf(name, a.Drop.When, dropMoments...)
	case "page-token":
		a.PageToken = value
		err = oneOf(name, value, "missing", "duplicate", "expired")
	case "short-page":
		a.ShortPage = true
	case "missing-logs":
		a.MissingLogs, err = number(name, value, 1)
	case "truncate":
		var n int
		n, err = number(name, value, 0)
		a.Truncate = &n
	case "retry-after":
		a.RetryAfter, err = number(name, value, 1)
	case "message":
		a.Message = value
	case "content-type":
		a.ContentType = value
	case "invalid-json":
		a.InvalidJSON = true
	case "empty-page":
		a.EmptyPage = true
	case "rpc-error":
		a.RPCError, err = parseRPCError(value)
	default:
		n, wrong := strconv.Atoi(name)
		if wrong != nil || given {
			return errors.New(schema.NotOneOf("fault", name, headerNames))
		}
		if a.Status = n; n < 400 || n > 599 {
			return fmt.Errorf("status %d is not from 400 to 599", n)
		}
	}
	return err
}

func parseRPCError(value string) (*RPCError, error) {
	code, text, given := strings.Cut(value, ",")
	n, err := strconv.ParseInt(code, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("rpc-error %q is not a code such as -32000, or a code and a message: -32000,header not found", schema.Shorten(value))
	}
	if !given {
		text = "injected by " + strings.ToLower(Header)
	}
	return &RPCError{Code: n, Message: text}, nil
}

func number(name, value string, least int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least {
		return 0, fmt.Errorf("%s %q is not a number of at least %d", name, schema.Shorten(value), least)
	}
	return n, nil
}

func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q is not one of %s", name, schema.Shorten(value), strings.Join(allowed, ", "))
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // strings always encode
	return b
}
