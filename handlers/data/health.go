package data

import (
	"reflect"

	"snowglobe/handlers/rest"
)

type indicator struct {
	Status string `json:"status" enum:"up,down"`
}

type health struct {
	Status  string               `json:"status" enum:"error,ok,shutting_down"`
	Info    map[string]indicator `json:"info"`
	Error   map[string]indicator `json:"error"`
	Details map[string]indicator `json:"details"`
}

func (b *Base) healthOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "healthCheck", Path: "/v1/health-check", Summary: "Check the health of the service", Keyless: true, Live: true, Answer: reflect.TypeFor[health](), Handle: b.check},
		{ID: "liveCheck", Path: "/v1/live-check", Summary: "Check that the service can read", Keyless: true, Live: true, Answer: reflect.TypeFor[health](), Handle: b.check},
	}
}

// check fails if the world's file is damaged.
func (b *Base) check(r *rest.Request) (any, error) {
	if err := b.World.Health(r.Context()); err != nil {
		return nil, rest.Unavailable(err.Error())
	}
	up := map[string]indicator{"database": {"up"}}
	return health{Status: "ok", Info: up, Error: map[string]indicator{}, Details: up}, nil
}

// RegisterHealth adds the health checks to a server.
func RegisterHealth(server *rest.Server, b *Base) error {
	return server.Register(rest.Data, b.healthOperations()...)
}
