package worlds

import (
	"cmp"
	"strings"

	"snowglobe/fixtures/interchange"
	"snowglobe/handlers/control"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

// StartL1 returns the function that generates the given world again, with one more L1; nil without a set. The new world gets the L1's name in lower
// case, if that is a valid name for a world.
func (s *Set) StartL1(of *sim.World) control.StartL1 {
	if s == nil {
		return nil
	}
	return func(r *rest.Request, l *interchange.L1) (*control.ImportedL1, error) {
		wish := Wish{From: Origin{L1: l}}
		usual, _ := interchange.StartsL1(l.Genesis)
		if name := strings.ToLower(cmp.Or(l.Name, usual)); checkName(name) == nil {
			wish.Name = name
		}
		h, err := s.Make(r.Context(), of, wish)
		if err != nil {
			return nil, s.refusal(err)
		}
		h.mu.Lock()
		w := h.world
		h.mu.Unlock()
		started := control.ShowL1(w, l.Name)
		started.World, started.URL = h.name, rest.RootURL(r.HTTP)+Prefix+h.name
		started.RPCURL = started.URL + "/ext/bc/" + started.BlockchainID + "/rpc"
		return started, nil
	}
}
