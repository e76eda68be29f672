package snowglobe_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"

	snowglobe "snowglobe/handlers/packages/testcontainers"
)

func TestAContainerHasAWorld(t *testing.T) {
	c, err := snowglobe.Run(t.Context(), "snowglobe", snowglobe.WithSeed(7), snowglobe.WithFlags("--no-mining"))
	if c != nil {
		defer testcontainers.CleanupContainer(t, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Get(c.URL + "/sim/world")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var world struct {
		Seed    int
		Profile string
	}
	if err := json.NewDecoder(answer.Body).Decode(&world); err != nil || world.Seed != 7 || world.Profile != "tiny" {
		t.Error(world, err)
	}
	called, err := http.Post(c.RPCURL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer called.Body.Close()
	var id struct{ Result string }
	if err := json.NewDecoder(called.Body).Decode(&id); err != nil || id.Result != "0xa86a" {
		t.Error(id, err)
	}
}
