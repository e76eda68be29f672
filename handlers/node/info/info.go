package info

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/platform"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/query"
	"snowglobe/sim/txs"
)

// Service implements the /ext/info methods that any server of the network may answer: avalanchego's api/info.Info.
type Service struct {
	network  *sim.Network
	platform platform.State
	known    cache.Derived[peersOf, *peers]
}

// New makes the service of a network's node; a public one omits everything about one particular node.
func New(network *sim.Network, indexes *query.StakerIndexes, public bool) any {
	info := &Service{network: network, platform: platform.NewState(network, indexes)}
	if public {
		return info
	}
	return &NodeService{info}
}

// NodeService adds the methods about one particular node, which a public server hides.
type NodeService struct{ *Service }

// Requests and replies of the info service.
type (
	// NodeVersionReply lists the node's software versions.
	NodeVersionReply struct {
		Version            string            `json:"version"`
		DatabaseVersion    string            `json:"databaseVersion"`
		RPCProtocolVersion string            `json:"rpcProtocolVersion"`
		GitCommit          string            `json:"gitCommit"`
		VMVersions         map[string]string `json:"vmVersions"`
	}
	// NodeIDReply is the node's identity.
	NodeIDReply struct {
		NodeID  ids.NodeID      `json:"nodeID"`
		NodePOP platform.Signer `json:"nodePOP"`
	}
	// NodeIPReply is the node's address with its port.
	NodeIPReply struct {
		IP string `json:"ip"`
	}
	// NetworkIDReply is the network's number.
	NetworkIDReply struct {
		NetworkID jsonrpc.Uint32 `json:"networkID"`
	}
	// NetworkNameReply is the network's name.
	NetworkNameReply struct {
		NetworkName string `json:"networkName"`
	}
	// AliasArgs names a chain.
	AliasArgs struct {
		Alias string `json:"alias"`
	}
	// BlockchainIDReply is a chain's id.
	BlockchainIDReply struct {
		BlockchainID ids.ID `json:"blockchainID"`
	}
	// ChainArgs names a chain by its id or an alias.
	ChainArgs struct {
		Chain string `json:"chain"`
	}
	// BootstrappedReply reports whether a chain answers.
	BootstrappedReply struct {
		IsBootstrapped bool `json:"isBootstrapped"`
	}
	// VMsReply lists the node's virtual machines by id with their aliases, and the X-Chain's extensions.
	VMsReply struct {
		VMs map[ids.ID][]string `json:"vms"`
		FXs map[ids.ID]string   `json:"fxs"`
	}
)

var errNoChain = errors.New("argument 'chain' not given")

// GetNodeVersion returns the node's software versions.
func (a *Service) GetNodeVersion(_ *http.Request, _ *jsonrpc.NoArgs, reply *NodeVersionReply) error {
	*reply = NodeVersionReply{
		fixtures.NodeSoftware, fixtures.DatabaseVersion, fixtures.PluginProtocol, fixtures.NodeCommit,
		map[string]string{
			"avm": fixtures.NodeSoftware, "platform": fixtures.NodeSoftware,
			"evm": fixtures.NodeVersion, fixtures.SubnetEVMID.String(): fixtures.NodeVersion,
		},
	}
	return nil
}

// GetNodeID returns the node's id, with proof that it has that validator's key.
func (a *NodeService) GetNodeID(_ *http.Request, _ *jsonrpc.NoArgs, reply *NodeIDReply) error {
	self := &a.network.LocalNode
	*reply = NodeIDReply{NodeID: self.ID(), NodePOP: platform.Signer{PublicKey: self.PublicKey, ProofOfPossession: self.Proof}}
	return nil
}

// GetNodeIP returns the node's address.
func (a *NodeService) GetNodeIP(_ *http.Request, _ *jsonrpc.NoArgs, reply *NodeIPReply) error {
	reply.IP = a.network.LocalNode.IP
	return nil
}

// GetVMs returns the node's virtual machines.
func (a *NodeService) GetVMs(_ *http.Request, _ *jsonrpc.NoArgs, reply *VMsReply) error {
	reply.VMs = map[ids.ID][]string{
		fixtures.AVMID: {"avm"}, fixtures.EVMID: {"evm"}, fixtures.PlatformVMID: {"platform"}, fixtures.SubnetEVMID: {},
	}
	reply.FXs = map[ids.ID]string{
		txs.FxIDs[0]: "secp256k1fx", txs.FxIDs[1]: "nftfx", txs.FxIDs[2]: "propertyfx",
	}
	return nil
}

// GetNetworkID returns the network's number.
func (a *Service) GetNetworkID(_ *http.Request, _ *jsonrpc.NoArgs, reply *NetworkIDReply) error {
	reply.NetworkID = jsonrpc.Uint32(a.network.Rules.NetworkID)
	return nil
}

// GetNetworkName returns the network's name.
func (a *Service) GetNetworkName(_ *http.Request, _ *jsonrpc.NoArgs, reply *NetworkNameReply) error {
	reply.NetworkName = a.network.Name
	return nil
}

// GetBlockchainID returns a chain's id by one of its names.
func (a *Service) GetBlockchainID(_ *http.Request, args *AliasArgs, reply *BlockchainIDReply) (err error) {
	reply.BlockchainID, err = primary.ChainByAlias(a.network, args.Alias)
	return err
}

// IsBootstrapped returns true for every chain that runs here, because there is nothing to catch up with, unless a client has put it in
// trouble.
func (a *Service) IsBootstrapped(_ *http.Request, args *ChainArgs, reply *BootstrappedReply) error {
	if args.Chain == "" {
		return errNoChain
	}
	chain, err := primary.ChainByAlias(a.network, args.Chain)
	if err != nil {
		return fmt.Errorf("there is no chain with alias/ID '%s'", args.Chain)
	}
	reply.IsBootstrapped = a.network.Trouble.Bootstrapped(chain)
	return nil
}
