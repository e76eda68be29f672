package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/genesis"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/utils/constants"
	"github.com/ava-labs/avalanchego/utils/rpc"
	"github.com/ava-labs/avalanchego/vms/avm"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm"
	"github.com/ava-labs/avalanchego/vms/platformvm/block"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"

	xtxs "github.com/ava-labs/avalanchego/vms/avm/txs"

	"snowglobe/testdata/server"
)

// network is a network as the real node's clients see it, with the findings about it.
type network struct {
	name   string
	id     uint32
	xID    ids.ID
	cID    ids.ID
	avax   ids.ID
	url    string
	server *server.Server

	x  *avm.Client
	p  *platformvm.Client
	xr rpc.EndpointRequester
	pr rpc.EndpointRequester

	utxos   map[ids.ID]*avax.UTXO // every output that was ever made, as far as the blocks tell
	spends  []spend
	owners  map[ids.ID]*secp256k1fx.OutputOwners // of subnets, as the blocks are read
	pTxs    []*txs.Tx
	xTxs    []*xtxs.Tx
	holder  map[ids.ShortID]bool // who ever owned anything
	changes []change
	pTimes  []uint64 // of the P-Chain's blocks, by height
	pBlocks []block.Block
	seen    seen
}

// change is a block of the P-Chain that changed the weight of a validator, as a chain asked for.
type change struct {
	source ids.ID
	height uint64
}

// seen counts the checked objects.
type seen struct {
	blocks, txs, utxos, signatures, unowned, proofs, messages, platform, executed, judged, signed, refused, calls, issued int
}

func (s *seen) String() string {
	return fmt.Sprintf("%d blocks and %d transactions decoded, ids and JSON equal; %d UTXOs; %d spends authorized, %d of outputs that no block made; %d proofs of possession; %d warp messages; %d blocks executed by the real P-Chain, %d by the real EVM, %d transactions with messages judged; %d signed by the aggregator, %d refused; %d client calls; %d transactions issued by the wallet",
		s.blocks, s.txs, s.utxos, s.signatures, s.unowned, s.proofs, s.messages, s.platform, s.executed, s.judged, s.signed, s.refused, s.calls, s.issued)
}

func newNetwork(s *server.Server, name string, id uint32) *network {
	n := &network{
		name: name, id: id, url: s.URL + "/" + name, server: s, utxos: map[ids.ID]*avax.UTXO{},
		owners: map[ids.ID]*secp256k1fx.OutputOwners{}, holder: map[ids.ShortID]bool{},
	}
	n.x, n.p = avm.NewClient(n.url, "X"), platformvm.NewClient(n.url)
	n.xr, n.pr = rpc.NewEndpointRequester(n.url+"/ext/bc/X"), rpc.NewEndpointRequester(n.url+"/ext/bc/P")
	return n
}

// learn takes the ids of chains and of AVAX from the real node's own genesis.
func (n *network) learn() error {
	config := genesis.GetConfig(n.id)
	raw, avaxID, err := genesis.FromConfig(config)
	if err != nil {
		return err
	}
	for chain, id := range map[ids.ID]*ids.ID{constants.AVMID: &n.xID, constants.EVMID: &n.cID} {
		tx, err := genesis.VMGenesis(raw, chain)
		if err != nil {
			return err
		}
		*id = tx.ID()
	}
	n.avax = avaxID
	return nil
}

// context returns the context that the real node's types need to write JSON.
func (n *network) context(chain ids.ID) *snow.Context {
	aliases := ids.NewAliaser()
	_ = aliases.Alias(constants.PlatformChainID, "P") // a new aliaser refuses nothing
	_ = aliases.Alias(n.xID, "X")
	_ = aliases.Alias(n.cID, "C")
	return &snow.Context{
		NetworkID: n.id, SubnetID: constants.PrimaryNetworkID, ChainID: chain,
		XChainID: n.xID, CChainID: n.cID, AVAXAssetID: n.avax, BCLookup: aliases,
	}
}

// get decodes an answer of the Data API.
func (n *network) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.server.URL+"/v1/networks/"+n.name+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, answer.Status)
	} else {
		err = json.NewDecoder(answer.Body).Decode(into)
	}
	return errors.Join(err, answer.Body.Close())
}

// same compares the server's JSON with the real node's, byte for byte.
func same(what string, have json.RawMessage, want any) error {
	due, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if !bytes.Equal(have, due) {
		return fmt.Errorf("%s:\nhave %s\nwant %s", what, have, due)
	}
	return nil
}
