package fault_test

import (
	"encoding/json"
	"strings"
	"testing"

	"snowglobe/handlers/fault"
)

// TestReadTheHeader writes each header's action as the rule with the same effect.
func TestReadTheHeader(t *testing.T) {
	for text, want := range map[string]string{
		"400": `{"status":400}`, "599": "no name", "511": `{"status":511}`, "399": "status 399 is not from 400 to 599", "600": "status 600 is not from 400 to 599",
		" 429 ; Retry-After=1 ;message=slow down": `{"status":429,"message":"slow down","retryAfter":1}`,
		"429;retry-after=0":                       `retry-after "0" is not a number of at least 1`, "429;retry-after=x": `retry-after "x" is not a number`, "503=1": `fault "503" is not known: expected one of content-type, delay,`,
		"delay=2s": `{"delay":"2s"}`, "delay=1h": `{"delay":"1h0m0s"}`, "delay=0s": `{"delay":"0s"}`, "delay=3601s": "at most 1h", "delay=-1s": "at most 1h", "delay": `duration ""`,
		"slow=20ms;delay=1s": `{"delay":"1s","slow":"20ms"}`, "slow=soon": `duration "soon"`,
		"drop": `{"drop":"before"}`, "drop=during": `{"drop":"during"}`, "drop=after": `{"drop":"after"}`, "drop=late": `drop "late" is not one of before, during, after`, "drop=": `drop "" is not one of`,
		"page-token=missing": `{"pageToken":"missing"}`, "page-token=lost": `page-token "lost" is not one of missing, duplicate, expired`,
		"page-token=expired": `{"pageToken":"expired"}`, "short-page": `{"shortPage":true}`, "missing-logs=2": `{"missingLogs":2}`, "missing-logs=0": `missing-logs "0" is not a number of at least 1`,
		"truncate=0": `{"truncate":0}`, "truncate=-1": `truncate "-1" is not a number of at least 0`,
		"content-type=text/html": `{"contentType":"text/html"}`, "invalid-json": `{"invalidJson":true}`, "empty-page": `{"emptyPage":true}`,
		"rpc-error=-32005":                  `{"rpcError":{"code":-32005,"message":"injected by x-sim-fault"}}`,
		"rpc-error=-32000,header not found": `{"rpcError":{"code":-32000,"message":"header not found"}}`, "rpc-error=-32000,": `{"rpcError":{"code":-32000,"message":""}}`, "rpc-error=high": `rpc-error "high" is not a code`,
		"drop;empty-page": "action has drop and emptyPage", "message=alone": "go with a status", "": `fault "" is not known`,
	} {
		a, err := fault.ParseHeader(text)
		if strings.HasPrefix(want, "{") {
			if got, _ := json.Marshal(a); err != nil || string(got) != want {
				t.Errorf("%s: %s %v: want %s", text, got, err, want)
			}
		} else if a != nil || err == nil || !strings.HasPrefix(err.Error(), "x-sim-fault: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v: want %s", text, a, err, want)
		}
	}
}
