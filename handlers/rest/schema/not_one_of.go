package schema

import (
	"strconv"
	"strings"

	"snowglobe/fixtures/spelling"
)

// fewNames bounds the names that are listed in full.
const fewNames = 20

// NotOneOf says that a name does not exist, and which one the client may have meant.
func NotOneOf(what, name string, names []string) string {
	shown := what + " " + strconv.Quote(Shorten(name))
	switch near := spelling.Nearest(name, names); {
	case near != "":
		return shown + " is not known: did you mean " + near + "?"
	case len(names) <= fewNames:
		return shown + " is not known: expected one of " + strings.Join(names, ", ")
	}
	return shown + " is not known: GET /sim/world lists them"
}
