package icm

import (
	"math"
	"slices"

	"snowglobe/handlers/rest"
	"snowglobe/sim/store"
)

// chainBits leaves room in a page token for a chain's number next to a position.
const chainBits = 8

// pageMark packs a message's position into a number that stays small while heights do, which keeps the page token short.
func pageMark(m *store.Message) []byte {
	chain := m.ID.Chain()
	return rest.Position(uint64(m.ID-store.First(chain))<<chainBits | uint64(chain))
}

// messageMark returns where the page begins: after the message at a position, at its time.
func (a *icmAPI) messageMark(r *rest.Request) (store.MessageCursor, error) {
	n, resumed := r.PositionNumber()
	if !resumed {
		return store.MessageCursor{Time: math.MaxInt64, ID: math.MaxInt64}, nil
	}
	at := store.First(int(n%(1<<chainBits))) + store.Position(n>>chainBits)
	row, err := a.World.DB.Block(r.Context(), at.Chain(), at.Number())
	if err != nil {
		return store.MessageCursor{}, err
	}
	return store.MessageCursor{Time: row.Time, ID: at}, nil
}

// messageFilter builds the request's filter; none means that no message can match. A message never leaves its network, so the network of a
// named chain applies unless the request names another.
func (a *icmAPI) messageFilter(r *rest.Request) (f store.MessageFilter, none bool) {
	var networks []string
	if r.Given("network") {
		networks = append(networks, r.Text("network"))
	}
	for name, field := range map[string]*[]byte{"sourceBlockchainId": &f.Source, "destinationBlockchainId": &f.Destination, "blockchainId": &f.EitherChain} {
		if !r.Given(name) {
			continue
		}
		id := r.Chain(name)
		switch c := a.World.ChainNamed(id.String()); {
		case c == nil && id.EVM != 0:
			none = true
		case c == nil:
			*field = id.Blockchain[:]
		default:
			*field = c.Row.BlockchainID
			if !r.Given("network") {
				networks = append(networks, c.Row.Network)
			}
		}
	}
	f.Chains = a.chainsIn(networks)
	for name, field := range map[string]*[]byte{"from": &f.Sender, "to": &f.Recipient, "address": &f.EitherAddress} {
		if r.Given(name) {
			address := r.Address(name)
			*field = address[:]
		}
	}
	return f, none || len(networks) > 0 && f.Chains == 0
}

// chainsIn returns a bit set of these networks' EVM chains.
func (a *icmAPI) chainsIn(networks []string) (bits uint64) {
	for _, c := range a.World.Chains {
		if slices.Contains(networks, c.Row.Network) {
			bits |= 1 << c.Row.ID
		}
	}
	return bits
}
