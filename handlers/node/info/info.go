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

// Service has the methods of /ext/info that any server of the network may answer: avalanchego's api/info.Info.
type Service struct {
	network  *sim.Network
	platform platform.State
	known    cache.Derived[peersOf, *peers]
}

// New makes the service of a network's node; a public one hides what is about one particular node.
func New(network *sim.Network, indexes *query.StakerIndexes, public bool) any {
	info := &Service{network: network, platform: platform.NewState(network, indexes)}
	if public {
		return info
	}
	return &NodeService{info}
}

// NodeService adds what one particular node says of itself, which a public server hides.
type NodeService struct{ *Service }

// Requests and answers of the info service.
type (
	// NodeVersionReply is what runs on the node.
	NodeVersionReply struct {
		Version            string            `json:"version"`
		DatabaseVersion    string            `json:"databaseVersion"`
		RPCProtocolVersion string            `json:"rpcProtocolVersion"`
		GitCommit          string            `json:"gitCommit"`
		VMVersions         map[string]string `json:"vmVersions"`
	}
	// NodeIDReply is who the node is.
	NodeIDReply struct {
		NodeID  ids.NodeID      `json:"nodeID"`
		NodePOP platform.Signer `json:"nodePOP"`
	}
	// NodeIPReply is where the node is, with its port.
	NodeIPReply struct {
		IP string `json:"ip"`
	}
	// NetworkIDReply is the number of the network.
	NetworkIDReply struct {
		NetworkID jsonrpc.Uint32 `json:"networkID"`
	}
	// NetworkNameReply is the name of the network.
	NetworkNameReply struct {
		NetworkName string `json:"networkName"`
	}
	// AliasArgs name a chain.
	AliasArgs struct {
		Alias string `json:"alias"`
	}
	// BlockchainIDReply is the id of a chain.
	BlockchainIDReply struct {
		BlockchainID ids.ID `json:"blockchainID"`
	}
	// ChainArgs name a chain by its id or an alias.
	ChainArgs struct {
		Chain string `json:"chain"`
	}
	// BootstrappedReply tells whether a chain answers.
	BootstrappedReply struct {
		IsBootstrapped bool `json:"isBootstrapped"`
	}
	// VMsReply are the virtual machines of the node by id, with their aliases, and the extensions of the X-Chain's.
	VMsReply struct {
		VMs map[ids.ID][]string `json:"vms"`
		FXs map[ids.ID]string   `json:"fxs"`
	}
)

var errNoChain = errors.New("argument 'chain' not given")

// GetNodeVersion answers what runs on the node.
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

// GetNodeID answers who the node is and proves that it has the key of that validator.
func (a *NodeService) GetNodeID(_ *http.Request, _ *jsonrpc.NoArgs, reply *NodeIDReply) error {
	self := &a.network.LocalNode
	*reply = NodeIDReply{NodeID: self.ID(), NodePOP: platform.Signer{PublicKey: self.PublicKey, ProofOfPossession: self.Proof}}
	return nil
}

// GetNodeIP answers where the node is.
func (a *NodeService) GetNodeIP(_ *http.Request, _ *jsonrpc.NoArgs, reply *NodeIPReply) error {
	reply.IP = a.network.LocalNode.IP
	return nil
}

// GetVMs answers the virtual machines of the node.
func (a *NodeService) GetVMs(_ *http.Request, _ *jsonrpc.NoArgs, reply *VMsReply) error {
	reply.VMs = map[ids.ID][]string{
		fixtures.AVMID: {"avm"}, fixtures.EVMID: {"evm"}, fixtures.PlatformVMID: {"platform"}, fixtures.SubnetEVMID: {},
	}
	reply.FXs = map[ids.ID]string{
		txs.FxIDs[0]: "secp256k1fx", txs.FxIDs[1]: "nftfx", txs.FxIDs[2]: "propertyfx",
	}
	return nil
}

// GetNetworkID answers the number of the network.
func (a *Service) GetNetworkID(_ *http.Request, _ *jsonrpc.NoArgs, reply *NetworkIDReply) error {
	reply.NetworkID = jsonrpc.Uint32(a.network.Rules.NetworkID)
	return nil
}

// GetNetworkName answers the name of the network.
func (a *Service) GetNetworkName(_ *http.Request, _ *jsonrpc.NoArgs, reply *NetworkNameReply) error {
	reply.NetworkName = a.network.Name
	return nil
}

// GetBlockchainID answers the id of a chain by one of its names.
func (a *Service) GetBlockchainID(_ *http.Request, args *AliasArgs, reply *BlockchainIDReply) (err error) {
	reply.BlockchainID, err = primary.ChainByAlias(a.network, args.Alias)
	return err
}

// IsBootstrapped answers yes for every chain that runs here, as nothing has to be caught up with, unless it was made to be in trouble.
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
