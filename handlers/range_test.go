// Every operation that takes a range, with the ends swapped.

package handlers_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers"
)

// TestRangesThatEndBeforeTheyStartAreRefused sends such a range to every operation that takes both ends of one.
func TestRangesThatEndBeforeTheyStartAreRefused(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, Description string }
		}
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openapi.json", "")), &document); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for path, methods := range document.Paths {
		descriptions := map[string]string{}
		for _, p := range methods["get"].Parameters {
			descriptions[p.Name] = p.Description
		}
		for low := range descriptions {
			high := strings.Replace(strings.Replace(low, "start", "end", 1), "min", "max", 1)
			if _, pair := descriptions[high]; !pair || high == low {
				continue
			}
			found[low]++
			target := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "0") + "?" + low + "=4&" + high + "="
			if answer := ask(h, "GET", target+"3", ""); !strings.Contains(answer, low+" is above "+high) || !strings.Contains(answer, `"statusCode":400`) {
				t.Errorf("GET %s3: %s", target, answer)
			}
			if answer := ask(h, "GET", target+"4", ""); strings.Contains(answer, "above") {
				t.Errorf("GET %s4: %s", target, answer)
			}
			if !strings.Contains(descriptions[low], "At most "+high) {
				t.Errorf("%s of %s is described as %q", low, path, descriptions[low])
			}
		}
	}
	if found["startTimestamp"] < 10 || found["startBlock"] < 5 || found["minFeePercentage"] != 1 {
		t.Errorf("only found %v", found)
	}
}
