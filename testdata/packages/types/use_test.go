package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"example.test/types/world"
)

func TestNames(t *testing.T) {
	if err := world.Check(os.Getenv("SNOWGLOBE_URL")); err != nil {
		t.Fatal(err)
	}
	if got := world.Personas.Alice.Address; got != os.Getenv("SNOWGLOBE_ALICE_ADDRESS") || !strings.HasPrefix(world.Personas.Alice.Mainnet.P, "P-avax1") {
		t.Error(got, world.Personas.Alice.Mainnet)
	}
	usdc := world.Chains.C.Contracts.Usdc
	if !json.Valid([]byte(usdc.ABI)) || usdc.Token.Decimals != 6 || world.Chains.C.ID != 43114 || world.Chains.FujiC.Network != "fuji" {
		t.Errorf("%+v", usdc)
	}
	if err := world.Check(os.Getenv("OTHER_URL")); err == nil || !strings.Contains(err.Error(), "run snowglobe types --go again") {
		t.Error(err)
	}
}
