package data

import (
	"reflect"

	"snowglobe/handlers"
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

func (b *base) healthOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "healthCheck", Path: "/v1/health-check", Summary: "Check the health of the service", Keyless: true, Live: true, Answer: reflect.TypeFor[health](), Handle: b.check},
		{ID: "liveCheck", Path: "/v1/live-check", Summary: "Check that the service can read", Keyless: true, Live: true, Answer: reflect.TypeFor[health](), Handle: b.check},
	}
}

// check reads from the world's file.
func (b *base) check(r *handlers.Request) (any, error) {
	if _, err := b.world.DB.Meta(r.Context()); err != nil {
		return nil, handlers.Unavailable("the world's file cannot be read")
	}
	up := map[string]indicator{"database": {"up"}}
	return health{Status: "ok", Info: up, Error: map[string]indicator{}, Details: up}, nil
}

// registerHealth adds the health checks to a server.
func registerHealth(server *handlers.Server, b *base) error {
	return server.Register(handlers.Data, b.healthOperations()...)
}
