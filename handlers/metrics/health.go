package metrics

import (
	"reflect"

	"snowglobe/handlers/rest"
)

// Health reports whether the service and its dependencies are up.
type Health struct {
	Status  string               `json:"status" enum:"error,ok,shutting_down"`
	Info    map[string]Indicator `json:"info"`
	Error   map[string]Indicator `json:"error"`
	Details map[string]Indicator `json:"details"`
}

// Indicator is the state of one dependency of the service.
type Indicator struct {
	Status string `json:"status" enum:"up,down"`
}

func (a *api) health() []rest.Operation {
	return []rest.Operation{
		{ID: "metricsHealthCheck", Path: "/v2/health-check", Summary: "Get the health of the service",
			Answer: reflect.TypeFor[Health](), Live: true, Handle: a.checkHealth},
		{ID: "metricsLiveCheck", Path: "/v2/live-check", Summary: "Get the liveliness of the service",
			Answer: reflect.TypeFor[Health](), Live: true, Handle: a.checkLife},
	}
}

// checkHealth fails if the world's file is damaged.
func (a *api) checkHealth(r *rest.Request) (any, error) {
	if err := a.world.Health(r.Context()); err != nil {
		return nil, rest.Unavailable(err.Error())
	}
	up := map[string]Indicator{"database": {"up"}}
	return Health{Status: "ok", Info: up, Error: map[string]Indicator{}, Details: up}, nil
}

// checkLife succeeds while the server responds.
func (a *api) checkLife(*rest.Request) (any, error) {
	none := map[string]Indicator{}
	return Health{Status: "ok", Info: none, Error: none, Details: none}, nil
}
