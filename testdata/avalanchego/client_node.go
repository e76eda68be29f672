package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/api/admin"
	"github.com/ava-labs/avalanchego/api/info"
	"github.com/ava-labs/avalanchego/database"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/upgrade"
	"github.com/ava-labs/avalanchego/version"
)

// clients are the real node's own; each of their methods is called.
type clients struct{ *network }

// useInfo calls every method of the info service through the real node's client.
func (n clients) useInfo(ctx context.Context) error {
	c := info.NewClient(n.url)
	id, proof, err := c.GetNodeID(ctx)
	if err != nil {
		return fmt.Errorf("getNodeID: %w", err)
	}
	if err := proof.Verify(); err != nil {
		return fmt.Errorf("getNodeID: %w", err)
	}
	if current, err := n.p.GetCurrentValidators(ctx, ids.Empty, []ids.NodeID{id}); err != nil || len(current) != 1 {
		return fmt.Errorf("%s is not one validator: %d, %w", id, len(current), err)
	}
	network, err := c.GetNetworkID(ctx)
	if err != nil || network != n.id {
		return fmt.Errorf("getNetworkID: %d, %w", network, err)
	}
	if name, err := c.GetNetworkName(ctx); err != nil || name != n.name {
		return fmt.Errorf("getNetworkName: %s, %w", name, err)
	}
	if got, err := c.Upgrades(ctx); err != nil || *got != upgrade.GetConfig(n.id) {
		return fmt.Errorf("upgrades: %+v, %w", got, err)
	}
	for alias, chain := range map[string]ids.ID{"X": n.xID, "evm": n.cID, "P": ids.Empty} {
		got, err := c.GetBlockchainID(ctx, alias)
		if err != nil || got != chain {
			return fmt.Errorf("getBlockchainID: %s is %s, %w", alias, got, err)
		}
		if ready, err := c.IsBootstrapped(ctx, alias); err != nil || !ready {
			return fmt.Errorf("isBootstrapped: %s %v, %w", alias, ready, err)
		}
	}
	n.seen.calls += 10
	return n.usePeers(ctx, c)
}

func (n clients) usePeers(ctx context.Context, c *info.Client) error {
	software, versionErr := c.GetNodeVersion(ctx)
	_, addressErr := c.GetNodeIP(ctx)
	_, machinesErr := c.GetVMs(ctx)
	_, uptimeErr := c.Uptime(ctx)
	peers, err := c.Peers(ctx, nil)
	if err := errors.Join(versionErr, addressErr, machinesErr, uptimeErr, err); err != nil {
		return err
	}
	if software.Version != version.Current.String() || uint(software.RPCProtocolVersion) != version.RPCChainVMProtocol || software.DatabaseVersion != version.CurrentDatabase {
		return fmt.Errorf("getNodeVersion: %+v", software)
	}
	if len(peers) == 0 {
		return errors.New("peers: none")
	}
	one, err := c.Peers(ctx, []ids.NodeID{peers[0].ID, ids.EmptyNodeID})
	if err != nil || len(one) != 1 || one[0].ID != peers[0].ID {
		return fmt.Errorf("peers: %+v, %w", one, err)
	}
	n.seen.calls += 6
	return nil
}

// useAdmin calls every method of the admin service through the real node's client.
func (n clients) useAdmin(ctx context.Context) error {
	c := admin.NewClient(n.url)
	for _, do := range []func() error{
		func() error { return c.StartCPUProfiler(ctx) }, func() error { return c.StopCPUProfiler(ctx) },
		func() error { return c.MemoryProfile(ctx) }, func() error { return c.LockProfile(ctx) },
		func() error { return c.Stacktrace(ctx) }, func() error { return c.Alias(ctx, "info", "about") }, func() error { return c.AliasChain(ctx, "X", "exchange") },
	} {
		if err := do(); err != nil {
			return fmt.Errorf("admin: %w", err)
		}
	}
	names, err := c.GetChainAliases(ctx, n.xID.String())
	if err != nil || names[len(names)-1] != "exchange" {
		return fmt.Errorf("getChainAliases: %q, %w", names, err)
	}
	// The client writes a level that is left out as one that a node refuses.
	if _, err := c.SetLoggerLevel(ctx, "C", "debug", "off"); err != nil {
		return fmt.Errorf("setLoggerLevel: %w", err)
	}
	levels, err := c.GetLoggerLevel(ctx, "C")
	if err != nil || levels["C"].LogLevel.String() != "DEBUG" {
		return fmt.Errorf("getLoggerLevel: %+v, %w", levels, err)
	}
	if _, _, err := c.LoadVMs(ctx); err != nil {
		return fmt.Errorf("loadVMs: %w", err)
	}
	if config, err := c.GetConfig(ctx); err != nil || config == nil {
		return fmt.Errorf("getConfig: %v, %w", config, err)
	}
	if _, err := c.DBGet(ctx, []byte{0}); !errors.Is(err, database.ErrNotFound) {
		return fmt.Errorf("dbGet: %w", err)
	}
	n.seen.calls += 13
	return nil
}
