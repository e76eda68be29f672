package node

import (
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// seeded returns the smallest world with a seed, which tests share and only read.
func seeded(t testing.TB) *sim.World {
	t.Helper()
	if seededWorld == nil {
		seededWorld = seedtest.Generate(t, store.Memory, "tiny", 1)
	}
	return seededWorld
}

var seededWorld *sim.World

func TestMain(m *testing.M) {
	code := m.Run()
	if seededWorld != nil {
		if err := seededWorld.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// ownSeeded returns a seeded world for one test, which may change or close it.
func ownSeeded(t testing.TB) *sim.World {
	t.Helper()
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	t.Cleanup(func() { w.Close() })
	return w
}

// serveSeeded answers for a world until the test ends.
func serveSeeded(t testing.TB, w *sim.World, o Options) string {
	t.Helper()
	o.Miners, o.Networks, o.Network, o.Version = w.Miners, w.Networks, "mainnet", fixtures.NodeVersion
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(n)
	t.Cleanup(func() {
		n.Close()
		server.Close()
	})
	return server.URL
}

// roleNames lists the names that transcripts of a seeded world may use.
func roleNames(t testing.TB, w *sim.World) *strings.Replacer {
	t.Helper()
	mainnet := w.Networks[0]
	names := append(chainNames(t, w), "{SELF}", mainnet.LocalNode.ID().String())
	for _, c := range w.Chains {
		if c.Row.EVMID == 70411 {
			names = append(names, "{L1}", ids.ID(c.Row.BlockchainID).String())
		}
	}
	nodes, err := w.DB.Nodes(t.Context(), mainnet.Rules.NetworkID)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.Role != "" {
			names = append(names, "{"+n.Role+"}", ids.NodeID(n.Node).String())
		}
	}
	names = append(names, "{peer}", peerOf(t, mainnet, nodes).String())
	return strings.NewReplacer(names...)
}

// peerOf returns a connected validator of a network.
func peerOf(t testing.TB, n *sim.Network, nodes []store.Node) ids.NodeID {
	t.Helper()
	index, err := query.NewStakerIndexes().Of(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range index.ValidatorSet(ids.Empty) {
		known := slices.ContainsFunc(nodes, func(row store.Node) bool { return ids.NodeID(row.Node) == v.Node && row.Connected })
		if known && v.Node != n.LocalNode.ID() {
			return v.Node
		}
	}
	t.Fatal("no validator is connected")
	return ids.EmptyNodeID
}

// TestNetworkTranscripts replays conversations with the node of a seeded world, which may name {SELF}, {L1} and the nodes with a role.
func TestNetworkTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(transcripts, "network", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			written, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, o := seeded(t), Options{Public: strings.HasPrefix(string(written), "# public")}
			if strings.HasPrefix(string(written), "# admin") {
				w = ownSeeded(t)
				o.Loggers, o.Profiler = map[string]*Loggers{}, NewProfiler(t.TempDir())
				for _, n := range w.Networks {
					o.Loggers[n.Name] = NewLoggers(n, slog.New(slog.NewTextHandler(io.Discard, nil)))
				}
			}
			keep(t, file, string(written), converse(t, serveSeeded(t, w, o), roleNames(t, w), string(written)))
		})
	}
}

func TestAnsweringNodeProvesItsKey(t *testing.T) {
	for _, n := range seeded(t).Networks {
		if got := txs.NodeIDOf(n.LocalNode.Certificate); got != n.LocalNode.ID() {
			t.Errorf("%s: the certificate is that of %s, not of %s", n.Name, got, n.LocalNode.ID())
		}
		key, err := warp.ParsePublicKey(n.LocalNode.PublicKey)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := warp.ParseSignature(n.LocalNode.Proof)
		if err != nil {
			t.Fatal(err)
		}
		if !key.VerifyPossession(proof) {
			t.Errorf("%s: the proof of possession does not verify", n.Name)
		}
	}
}
