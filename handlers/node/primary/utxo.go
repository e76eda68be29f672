package primary

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Limits of getUTXOs: maxGetUTXOsAddrs and maxPageSize of avalanchego's vms/platformvm and vms/avm.
const (
	maxUTXOAddresses = 1024
	maxUTXOs         = 1024
)

// UTXOArgs asks for a page of outputs.
type UTXOArgs struct {
	Addresses   []string         `json:"addresses"`
	SourceChain string           `json:"sourceChain"` // the chain that exported the outputs; empty for this chain's own
	Limit       jsonrpc.Uint32   `json:"limit"`
	StartIndex  UTXOIndex        `json:"startIndex"`
	Encoding    jsonrpc.Encoding `json:"encoding"`
}

// UTXOIndex is the position at which a page ends and the next one continues.
type UTXOIndex struct {
	Address string `json:"address"`
	UTXO    string `json:"utxo"` // the output's input id
}

// UTXOReply is a page of outputs.
type UTXOReply struct {
	NumFetched jsonrpc.Uint64   `json:"numFetched"`
	UTXOs      []string         `json:"utxos"`
	EndIndex   UTXOIndex        `json:"endIndex"`
	Encoding   jsonrpc.Encoding `json:"encoding"`
}

// UTXOID names an output.
type UTXOID struct {
	TxID        ids.ID `json:"txID"`
	OutputIndex uint32 `json:"outputIndex"`
}

var errNoAddresses = errors.New("no addresses provided")

// GetUTXOs returns a page of the outputs that addresses own: address by address, newest first.
func (a *Service) GetUTXOs(r *http.Request, args *UTXOArgs, reply *UTXOReply) error {
	p, err := a.page(args)
	if err != nil {
		return err
	}
	if err := p.read(r.Context()); err != nil {
		return fmt.Errorf("problem retrieving UTXOs: %w", err)
	}
	if reply.UTXOs, err = a.EncodeUTXOs(p.found, args.Encoding); err != nil {
		return err
	}
	reply.NumFetched, reply.Encoding = jsonrpc.Uint64(len(p.found)), args.Encoding
	reply.EndIndex = UTXOIndex{a.FormatAddress(p.address), p.utxo.String()}
	return nil
}

// CheckCount rejects too many addresses, and none.
func CheckCount(addresses []string) error {
	switch n := len(addresses); {
	case n == 0:
		return errNoAddresses
	case n > maxUTXOAddresses:
		return fmt.Errorf("number of addresses given, %d, exceeds maximum, %d", n, maxUTXOAddresses)
	}
	return nil
}

// page checks the arguments in the node's order.
func (a *Service) page(args *UTXOArgs) (*utxoPage, error) {
	if err := CheckCount(args.Addresses); err != nil {
		return nil, err
	}
	p := &utxoPage{Service: a, source: a.StoreChain(), limit: int(min(args.Limit, maxUTXOs))}
	if p.limit == 0 {
		p.limit = maxUTXOs
	}
	var err error
	if args.SourceChain != "" {
		if p.source, err = a.source(args.SourceChain); err != nil {
			return nil, fmt.Errorf("problem parsing source chainID %q: %w", args.SourceChain, err)
		}
	}
	if p.owners, err = a.Addresses(args.Addresses); err != nil {
		return nil, err
	}
	if args.StartIndex == (UTXOIndex{}) {
		return p, nil
	}
	if p.address, err = a.Address(args.StartIndex.Address); err != nil {
		return nil, fmt.Errorf("couldn't parse start index address %q: %w", args.StartIndex.Address, err)
	}
	if p.utxo, err = parse.ID(args.StartIndex.UTXO); err != nil {
		return nil, fmt.Errorf("couldn't parse start index utxo: %w", err)
	}
	return p, nil
}

// nowhere is a chain that never exports anything.
const nowhere = 0

// source returns a chain's number by its name.
func (a *Service) source(name string) (int, error) {
	id, err := ChainByAlias(a.Network, name)
	if err != nil {
		return nowhere, err
	}
	chain, found := a.Network.Rules.ChainOf(id)
	if !found {
		return nowhere, nil
	}
	return a.Network.Chain(chain), nil
}

// EncodeUTXOs encodes outputs as strings.
func (a *Service) EncodeUTXOs(rows []store.UTXO, encoding jsonrpc.Encoding) ([]string, error) {
	texts := make([]string, len(rows))
	for i := range rows {
		var err error
		if texts[i], err = formatting.Encode(encoding, rows[i].Bytes()); err != nil {
			return nil, a.encodingError(ids.ID(rows[i].Hash), encoding, err)
		}
	}
	return texts, nil
}

// encodingError is each chain's own error for an output that it cannot encode.
func (a *Service) encodingError(utxo ids.ID, encoding jsonrpc.Encoding, err error) error {
	switch a.chain {
	case txs.CChain:
		return fmt.Errorf("problem encoding utxo: %w", err)
	case txs.PChain:
		return fmt.Errorf("couldn't encode UTXO %s as %s: %w", utxo, encoding, err)
	}
	return fmt.Errorf("couldn't encode UTXO %s as string: %w", utxo, err)
}

func (a *Service) parse(row *store.UTXO) (*txs.UTXO, error) {
	u, err := txs.ParseUTXO(a.chain, row.Bytes())
	if err != nil {
		return nil, fmt.Errorf("UTXO %s: %w", ids.ID(row.Hash), err)
	}
	return u, nil
}
