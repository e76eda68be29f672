package info_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/info"
	"snowglobe/handlers/node/platform"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/warp"
)

type Object = rpctest.Object

// node serves the methods of a network's node, and the P-Chain's.
type node struct {
	*rpctest.Client
	network *sim.Network
}

func serve(t testing.TB, n *sim.Network, public bool) *node {
	t.Helper()
	indexes := query.NewStakerIndexes()
	return &node{rpctest.New(t, rpc.Service{Name: "info", Methods: info.New(n, indexes, public)}, rpc.Service{Name: "platform", Methods: platform.New(n, indexes)}), n}
}

// onEach runs a test on both networks, which it only reads.
func onEach(t *testing.T, test func(t *testing.T, n *node)) {
	for _, network := range seedtest.Shared(t, "tiny", 1).Networks {
		t.Run(network.Name, func(t *testing.T) { test(t, serve(t, network, false)) })
	}
}

// TestFacts: the networks are the public ones, with the fees of avalanchego's api/info.
func TestFacts(t *testing.T) {
	onEach(t, func(_ *testing.T, n *node) {
		mainnet := n.network.Name == fixtures.MainnetName
		id, subnet, transform := "5", "100000000", "1000000000"
		if mainnet {
			id, subnet, transform = "1", "1000000000", "10000000000"
		}
		n.Want(Object{"networkID": id}, "info.getNetworkID", nil)
		n.Want(Object{"networkName": map[bool]string{true: "mainnet", false: "fuji"}[mainnet]}, "info.getNetworkName", nil)
		n.Want(Object{
			"txFee": "1000000", "createAssetTxFee": "10000000", "createSubnetTxFee": subnet, "transformSubnetTxFee": transform, "createBlockchainTxFee": subnet,
			"addPrimaryNetworkValidatorFee": "0", "addPrimaryNetworkDelegatorFee": "0", "addSubnetValidatorFee": "1000000", "addSubnetDelegatorFee": "1000000",
		}, "info.getTxFee", nil)
		n.Want(Object{
			"version": fixtures.NodeSoftware, "databaseVersion": fixtures.DatabaseVersion, "rpcProtocolVersion": fixtures.PluginProtocol, "gitCommit": fixtures.NodeCommit,
			"vmVersions": Object{"avm": fixtures.NodeSoftware, "platform": fixtures.NodeSoftware, "evm": fixtures.NodeVersion, fixtures.SubnetEVMID.String(): fixtures.NodeVersion},
		}, "info.getNodeVersion", nil)
	})
}

// upgrades says when the public networks change their rules (avalanchego upgrade/upgrade.go, which needs cgo).
var upgrades = map[string]Object{
	fixtures.MainnetName: {
		"apricotPhase1Time": "2021-03-31T14:00:00Z", "apricotPhase2Time": "2021-05-10T11:00:00Z", "apricotPhase3Time": "2021-08-24T14:00:00Z", "apricotPhase4Time": "2021-09-22T21:00:00Z",
		"apricotPhase5Time": "2021-12-02T18:00:00Z", "apricotPhasePre6Time": "2022-09-05T01:30:00Z", "apricotPhase6Time": "2022-09-06T20:00:00Z", "apricotPhasePost6Time": "2022-09-07T03:00:00Z",
		"banffTime": "2022-10-18T16:00:00Z", "cortinaTime": "2023-04-25T15:00:00Z", "durangoTime": "2024-03-06T16:00:00Z", "etnaTime": "2024-12-16T17:00:00Z",
		"fortunaTime": "2025-04-08T15:00:00Z", "graniteTime": "2025-11-19T16:00:00Z", "heliconTime": "2026-09-22T15:00:00Z",
		"apricotPhase4MinPChainHeight": 793005, "cortinaXChainStopVertexID": "jrGWDh5Po9FMj54depyunNixpia5PN4aAYxfmNzU8n752Rjga", "graniteEpochDuration": 300_000_000_000,
	},
	fixtures.FujiName: {
		"apricotPhase1Time": "2021-03-26T14:00:00Z", "apricotPhase2Time": "2021-05-05T14:00:00Z", "apricotPhase3Time": "2021-08-16T19:00:00Z", "apricotPhase4Time": "2021-09-16T21:00:00Z",
		"apricotPhase5Time": "2021-11-24T15:00:00Z", "apricotPhasePre6Time": "2022-09-06T20:00:00Z", "apricotPhase6Time": "2022-09-06T20:00:00Z", "apricotPhasePost6Time": "2022-09-07T06:00:00Z",
		"banffTime": "2022-10-03T14:00:00Z", "cortinaTime": "2023-04-06T15:00:00Z", "durangoTime": "2024-02-13T16:00:00Z", "etnaTime": "2024-11-25T16:00:00Z",
		"fortunaTime": "2025-03-13T15:00:00Z", "graniteTime": "2025-10-29T15:00:00Z", "heliconTime": "2026-07-28T15:00:00Z",
		"apricotPhase4MinPChainHeight": 47437, "cortinaXChainStopVertexID": "2D1cmbiG36BqQMRyHt4kFhWarmatA1ighSpND3FeFgz3vFVtCZ", "graniteEpochDuration": 300_000_000_000,
	},
}

// TestUpgrades: rules change when avalanchego changes them.
func TestUpgrades(t *testing.T) {
	onEach(t, func(_ *testing.T, n *node) { n.Want(upgrades[n.network.Name], "info.upgrades", nil) })
}

// TestVMs has the answer that a real node gave.
func TestVMs(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "..", "testdata", "node", "services.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var recorded []json.RawMessage
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var call struct {
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			t.Fatal(err)
		}
		if call.Method == "info.getVMs" {
			recorded = append(recorded, call.Result)
		}
	}
	onEach(t, func(t *testing.T, n *node) {
		if n.Want(recorded[0], "info.getVMs", nil); len(recorded) != 3 {
			t.Errorf("%d answers were recorded", len(recorded))
		}
	})
}

// TestNodeID: the node is a validator, and proves that it has that validator's key.
func TestNodeID(t *testing.T) {
	onEach(t, func(t *testing.T, n *node) {
		reply := rpctest.Get[struct {
			NodeID  string
			NodePOP struct{ PublicKey, ProofOfPossession string }
		}](n.Client, "info.getNodeID", nil)
		all := rpctest.Get[struct {
			Validators []struct {
				NodeID string
				Signer struct{ PublicKey, ProofOfPossession string }
			}
		}](n.Client, "platform.getCurrentValidators", Object{"nodeIDs": []string{reply.NodeID}})
		if len(all.Validators) != 1 || all.Validators[0].Signer != reply.NodePOP {
			t.Errorf("the node is %+v, the validator %+v", reply, all)
		}
		if _, err := warp.ParsePublicKey(n.network.LocalNode.PublicKey); err != nil || reply.NodeID != n.network.LocalNode.ID().String() {
			t.Errorf("the node is %+v: %v", reply, err)
		}
		n.Want(Object{"ip": n.network.LocalNode.IP}, "info.getNodeIP", nil)
	})
}

// TestPublicServers have nothing to say about one particular node.
func TestPublicServers(t *testing.T) {
	n := serve(t, seedtest.Shared(t, "tiny", 1).Networks[0], true)
	for _, method := range []string{"NodeID", "NodeIP", "VMs"} {
		n.Refuses(`rpc: can't find method "info.Get`+method+`"`, "info.get"+method, nil)
	}
	for _, method := range []string{"getNodeVersion", "getNetworkID", "getNetworkName", "getTxFee", "upgrades", "peers", "uptime", "acps"} {
		if _, err := n.Ask("info."+method, Object{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}
