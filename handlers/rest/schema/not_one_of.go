package schema

import (
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// misspelt is the part of a name that may be wrong: one in three letters. What differs by more is another name.
const misspelt = 3

// fewNames are so many that all can be told.
const fewNames = 20

// NotOneOf says that a name is none of those that there are, and which it may have been meant to be.
func NotOneOf(what, name string, names []string) string {
	shown := what + " " + strconv.Quote(Shorten(name))
	near, least := "", 0
	for _, known := range names {
		wrong := levenshtein.ComputeDistance(strings.ToLower(known), strings.ToLower(Shorten(name)))
		if misspelt*wrong <= max(len(known), len(name)) && (near == "" || wrong < least) {
			near, least = known, wrong
		}
	}
	switch {
	case near != "":
		return shown + " is not known: did you mean " + near + "?"
	case len(names) <= fewNames:
		return shown + " is not known: expected one of " + strings.Join(names, ", ")
	}
	return shown + " is not known: GET /sim/world lists those that are"
}
