package worlds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"snowglobe/fixtures/interchange"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// Wish describes a new world.
type Wish struct {
	Name string // empty for the next free one
	From Origin
	TTL  time.Duration // idle real time after which it ends; 0 for never
	Keep bool          // keep its file when the process ends
}

// Origin is a new world's source: another world in its current state, one of its snapshots, its beginning with another L1, or a seed.
type Origin struct {
	Snapshot int64 // 0 for none
	Profile  string
	Seed     int64           // used with a profile
	Upgrades []string        // used with a profile: when upgrades activate, if other than in the server's other new worlds
	L1       *interchange.L1 // to add to the world, which is generated again; nil for none
}

// generated reports whether the new world gets a history of its own.
func (o Origin) generated() bool { return o.Profile != "" || o.L1 != nil }

func (o Origin) String() string {
	switch {
	case o.Profile != "":
		return strings.Join(append([]string{fmt.Sprintf("seed %d, profile %s", o.Seed, o.Profile)}, o.Upgrades...), ", ")
	case o.L1 != nil:
		return "the beginning, with the L1 " + o.L1.Name
	case o.Snapshot != 0:
		return "snapshot " + strconv.FormatInt(o.Snapshot, 10)
	}
	return "head"
}

// Make makes a world, from the given one unless its origin is a seed.
func (s *Set) Make(ctx context.Context, of *sim.World, wish Wish) (*hosted, error) {
	if err := s.check(ctx, of, wish.From); err != nil {
		return nil, err
	}
	h, err := s.place(wish.Name, wish.Keep)
	if err != nil {
		return nil, err
	}
	defer close(h.made)
	h.mu.Lock()
	h.ttl, h.from = wish.TTL, wish.From.String()
	h.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.working, cancel)()
	if wish.From.generated() { // generating must not delay copies
		s.generating.Lock()
		defer s.generating.Unlock()
	}
	err = s.inTurn(ctx, func() error {
		w, err := s.write(ctx, of, h, wish.From)
		if err != nil {
			return err
		}
		return h.begin(ctx, w)
	})
	if err == nil {
		return h, nil
	}
	if !errors.Is(err, store.ErrExists) {
		err = errors.Join(err, dbfile.Remove(h.path))
	}
	s.forget(h)
	return nil, err
}

// inTurn makes a world once it is its turn.
func (s *Set) inTurn(ctx context.Context, do func() error) error {
	select {
	case s.copying <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.copying }()
	return do()
}

// check rejects an impossible world before anything is made.
func (s *Set) check(ctx context.Context, of *sim.World, from Origin) error {
	if from.Profile == "" {
		size, err := of.DB.Size(ctx)
		if err != nil {
			return err
		}
		if from.Snapshot != 0 {
			if _, err := of.DB.Snapshot(ctx, from.Snapshot); err != nil {
				return err
			}
		}
		return s.checkSize(size, "the world has")
	}
	size, known := s.options.Generator.Profiles[from.Profile]
	if !known {
		return rest.BadRequest(schema.NotOneOf("from.profile", from.Profile, slices.Sorted(maps.Keys(s.options.Generator.Profiles))))
	}
	if err := s.options.Generator.CheckUpgrades(from.Upgrades); err != nil {
		return rest.BadRequest("upgrades: " + err.Error())
	}
	return s.checkSize(size, "a world of profile "+from.Profile+" has about")
}

func (s *Set) checkSize(bytes int64, what string) error {
	if bytes <= s.options.MostBytes {
		return nil
	}
	const mebibyte = 1 << 20
	return rest.Conflict(fmt.Sprintf("%s %d MiB: --world-size allows %d for each world besides the main one", what, bytes/mebibyte, s.options.MostBytes/mebibyte))
}

// write creates a world's file and opens it.
func (s *Set) write(ctx context.Context, of *sim.World, h *hosted, from Origin) (*sim.World, error) {
	if from.generated() {
		var err error
		if from.Profile != "" {
			err = s.options.Generator.Generate(ctx, h.path, from.Seed, from.Profile, from.Upgrades)
		} else {
			err = s.options.Generator.GenerateWithL1(ctx, of, h.path, from.L1)
		}
		if err != nil {
			return nil, err
		}
		return sim.OpenWithin(ctx, h.path, h.limits())
	}
	w, err := of.CopyTo(ctx, h.path, h.limits())
	if err != nil || from.Snapshot == 0 {
		return w, err
	}
	if err := w.Revert(ctx, from.Snapshot, false); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}
