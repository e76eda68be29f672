package platform

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/primary"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
)

// BlockchainsReply lists chains.
type BlockchainsReply struct {
	Blockchains []Blockchain `json:"blockchains"`
}

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	ID       ids.ID `json:"id"`
	Name     string `json:"name"`
	SubnetID ids.ID `json:"subnetID"`
	VMID     ids.ID `json:"vmID"`
}

// BlockchainArgs names a chain.
type BlockchainArgs struct {
	BlockchainID string `json:"blockchainID"` // or an alias
}

// BlockchainStatusReply is the node's status of a chain.
type BlockchainStatusReply struct {
	Status string `json:"status"`
}

// ValidatedByArgs names a chain by its id.
type ValidatedByArgs struct {
	BlockchainID ids.ID `json:"blockchainID"`
}

// ValidatedByReply is the subnet that validates a chain.
type ValidatedByReply struct {
	SubnetID ids.ID `json:"subnetID"`
}

// ValidatesReply lists the chains that a subnet validates.
type ValidatesReply struct {
	BlockchainIDs []ids.ID `json:"blockchainIDs"`
}

var errMissingBlockchainID = errors.New("argument 'blockchainID' not given")

// primaryNetworkChains lists the chains that the primary network validates besides the P-Chain.
func (a *Service) primaryNetworkChains() []Blockchain {
	return []Blockchain{
		{a.Network.Rules.CChainID, "C-Chain", ids.Empty, fixtures.EVMID},
		{a.Network.Rules.XChainID, "X-Chain", ids.Empty, fixtures.AVMID},
	}
}

// GetBlockchains lists every chain, with the primary network's last.
func (a *Service) GetBlockchains(r *http.Request, _ *jsonrpc.NoArgs, reply *BlockchainsReply) error {
	rows, err := a.Network.DB.Blockchains(r.Context(), a.StoreChain())
	for _, row := range rows {
		reply.Blockchains = append(reply.Blockchains, Blockchain{ids.ID(row.Hash), row.Name, ids.ID(row.Subnet), ids.ID(row.VM)})
	}
	reply.Blockchains = append(reply.Blockchains, a.primaryNetworkChains()...)
	return err
}

// GetBlockchainStatus reports whether the node validates a chain, follows it, or only knows that it exists.
func (a *Service) GetBlockchainStatus(r *http.Request, args *BlockchainArgs, reply *BlockchainStatusReply) error {
	if args.BlockchainID == "" {
		return errMissingBlockchainID
	}
	if id, err := primary.ChainByAlias(a.Network, args.BlockchainID); err == nil {
		reply.Status, err = a.statusOf(r, id)
		return err
	}
	id, err := parse.ID(args.BlockchainID)
	if err != nil {
		return fmt.Errorf("problem parsing blockchainID %q: %w", args.BlockchainID, err)
	}
	if _, err = a.state.Blockchain(r.Context(), id); errors.Is(err, store.ErrNotFound) {
		reply.Status = "Unknown"
		return nil
	}
	reply.Status = "Created"
	return err
}

// statusOf returns the node's part in a chain that it runs. No transaction creates the P-Chain, so a node does not find itself among its
// validators.
func (a *Service) statusOf(r *http.Request, id ids.ID) (string, error) {
	if id == ids.Empty {
		return "Syncing", nil
	}
	subnet, err := a.Network.SubnetOf(r.Context(), id)
	if err != nil {
		return "", err
	}
	members, err := a.state.ValidatorsNow(r.Context(), subnet)
	if err != nil || members[a.Network.LocalNode.ID()] == nil {
		return "Syncing", err
	}
	return "Validating", nil
}

// ValidatedBy returns the subnet that validates a chain, with the errors of avalanchego's vms/platformvm/validators.Manager.GetSubnetID.
func (a *Service) ValidatedBy(r *http.Request, args *ValidatedByArgs, reply *ValidatedByReply) error {
	if _, found := a.Network.Rules.ChainOf(args.BlockchainID); found {
		return nil
	}
	row, err := a.state.Blockchain(r.Context(), args.BlockchainID)
	if a.state.otherTx(r.Context(), args.BlockchainID, err) {
		return fmt.Errorf("%q is not a blockchain", args.BlockchainID)
	}
	if err != nil {
		return fmt.Errorf("problem retrieving blockchain %q: %w", args.BlockchainID, err)
	}
	reply.SubnetID = ids.ID(row.Subnet)
	return nil
}

// Validates returns the chains that a subnet validates.
func (a *Service) Validates(r *http.Request, args *SubnetArgs, reply *ValidatesReply) error {
	reply.BlockchainIDs = []ids.ID{}
	if args.SubnetID == ids.Empty {
		for _, chain := range a.primaryNetworkChains() {
			reply.BlockchainIDs = append(reply.BlockchainIDs, chain.ID)
		}
		return nil
	}
	if _, err := a.state.Subnet(r.Context(), args.SubnetID); errors.Is(err, errNotSubnet) {
		return err
	} else if err != nil {
		return fmt.Errorf("problem retrieving subnet %q: %w", args.SubnetID, err)
	}
	rows, err := a.Network.DB.BlockchainsOfSubnet(r.Context(), args.SubnetID[:])
	for _, row := range rows {
		reply.BlockchainIDs = append(reply.BlockchainIDs, ids.ID(row.Hash))
	}
	return err
}
