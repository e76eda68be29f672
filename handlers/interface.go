package handlers

// Interface is one family of REST endpoints, with the rules that hold for all of its operations.
type Interface struct {
	Name        string // what an API-keys file calls it
	Title       string // what the documentation calls it
	ArrayErrors bool   // whether the message of a 400 is an array in every dialect; upstream's always is
	Keyless     bool   // whether it answers without an API key even when keys are required
	Limited     bool   // whether its requests count against the rate limit
}

// The REST interfaces of the simulator.
var (
	Data    = &Interface{Name: "data", Title: "Data API", Limited: true}
	Metrics = &Interface{Name: "metrics", Title: "Metrics API", ArrayErrors: true, Keyless: true, Limited: true}
	Sim     = &Interface{Name: "sim", Title: "Simulator", Keyless: true}
)

// interfaces are those that an API key may be confined to.
var interfaces = []*Interface{Data, Metrics, Sim}
