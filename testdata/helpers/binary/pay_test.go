package binary_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func call(t *testing.T, method, params string) (result any) {
	t.Helper()
	answer, err := http.Post(world["SNOWGLOBE_RPC_URL"], "application/json", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Result any
		Error  any
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || got.Error != nil {
		t.Fatal(method, err, got.Error)
	}
	return got.Result
}

func TestBobIsPaid(t *testing.T) {
	alice, bob := world["SNOWGLOBE_ALICE_ADDRESS"], world["SNOWGLOBE_BOB_ADDRESS"]
	balance := func() any { return call(t, "eth_getBalance", fmt.Sprintf("%q,%q", bob, "latest")) }
	before, snapshot := balance(), call(t, "evm_snapshot", "")
	call(t, "eth_sendTransaction", fmt.Sprintf(`{"from":%q,"to":%q,"value":"0x1"}`, alice, bob))
	if balance() == before {
		t.Error("bob received nothing")
	}
	if call(t, "evm_revert", fmt.Sprintf("%q", snapshot)) != true || balance() != before {
		t.Error("the revert left the payment in place")
	}
}
