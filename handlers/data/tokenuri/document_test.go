package tokenuri_test

import (
	"testing"

	"snowglobe/handlers/data/tokenuri"
)

func TestMetadataInURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"data:application/json;base64,eyJuYW1lIjoiQSJ9":               "INDEXED A",
		"DATA:;base64,eyJuYW1lIjoiQSIsIngiOjF9":                       "INDEXED A",
		`data:application/json;utf8,{"name":"100% #1"}`:               "INDEXED 100% #1",
		"data:application/json,%7B%22name%22%3A%22B%22%7D":            "INDEXED B",
		`data:application/json,{"name":"C","attributes":[ { } ]}`:     "INDEXED C[{}]",
		`data:application/json,{"name":"D","attributes":null}`:        "INDEXED D",
		`data:application/json,{"name":1}`:                            "INVALID_METADATA ",
		"data:application/json,[]":                                    "INVALID_METADATA ",
		"data:application/json,null":                                  "INVALID_METADATA ",
		"data:application/json,<html>":                                "INVALID_METADATA_JSON ",
		"data:application/json,":                                      "INVALID_METADATA_JSON ",
		"data:application/json;base64,***":                            "INVALID_TOKEN_URI ",
		"data:application/json":                                       "INVALID_TOKEN_URI ",
		"data:":                                                       "INVALID_TOKEN_URI ",
		"https://example.org/1.json":                                  "UNREACHABLE_TOKEN_URI ",
		"http://127.0.0.1:9650/sim/metadata/crystals/1.json":          "UNREACHABLE_TOKEN_URI ",
		"http://127.0.0.1:9650/sim/metadata/throttled/whichever.json": "THROTTLED_TOKEN_URI ",
	} {
		status, d := tokenuri.Read(uri)
		have := status + " "
		if d != nil {
			have += d.Name + string(d.Attributes)
		}
		if have != want {
			t.Errorf("%s is %q, want %q", uri, have, want)
		}
	}
}
