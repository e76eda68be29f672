package schema

import (
	"strconv"
	"strings"

	"snowglobe/fixtures/spelling"
)

// fewNames are so many that all can be told.
const fewNames = 20

// NotOneOf says that a name is none of those that there are, and which it may have been meant to be.
func NotOneOf(what, name string, names []string) string {
	shown := what + " " + strconv.Quote(Shorten(name))
	switch near := spelling.Nearest(name, names); {
	case near != "":
		return shown + " is not known: did you mean " + near + "?"
	case len(names) <= fewNames:
		return shown + " is not known: expected one of " + strings.Join(names, ", ")
	}
	return shown + " is not known: GET /sim/world lists those that are"
}
