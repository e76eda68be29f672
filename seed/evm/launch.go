package evm

import (
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
)

// launches deploy NFTs and mint their first items in the same transaction, and make a CALLCODE: rare cases that clients have to cope with.
func (d *deployment) launches() []action {
	alice := d.chain.Personas.Alice.Address
	launched := func(role, artifact string, args []any, method string, mint ...any) action {
		return func(*rand.Rand) (*TxRequest, error) { return d.launch(role, artifact, args, method, mint...) }
	}
	return []action{
		launched("launched-collection", "Collection", []any{"First Tracks", "TRACKS", fixtures.Multicall}, "mint", alice, big.NewInt(1), ""),
		launched("launched-items", "Items", []any{"First Gear", "FGEAR", fixtures.Multicall}, "mint", alice, big.NewInt(1), big.NewInt(25)),
		func(*rand.Rand) (*TxRequest, error) {
			amount := big.NewInt(1e15)
			return d.chain.CallWith(d.chain.Personas.Deployer, "splitter", "Splitter", "callcodeTo", amount, 200_000, d.chain.byRole["vault"], amount)
		},
	}
}

// multicall is a batch of calls in Multicall3's form.
type multicall struct {
	Target   common.Address
	CallData []byte
}

// launch deploys a contract that belongs to the multicall through the factory, and calls a method of it in the same transaction.
func (d *deployment) launch(role, artifact string, args []any, method string, mint ...any) (*TxRequest, error) {
	a, err := contracts.Load(artifact)
	if err != nil {
		return nil, err
	}
	code, err := a.InitCode(args...)
	if err != nil {
		return nil, err
	}
	salt, factory := word(role), d.chain.byRole["factory"]
	create, err := d.chain.Call(d.chain.Personas.Deployer, "factory", "Factory", "deployCode2", salt, code)
	if err != nil {
		return nil, err
	}
	data, err := a.ABI.Pack(method, mint...)
	if err != nil {
		return nil, err
	}
	child := crypto.CreateAddress2(factory, salt, crypto.Keccak256(code))
	request, err := d.chain.CallWith(d.chain.Personas.Deployer, "multicall", "Multicall3", "aggregate", nil, gasDeploy(len(code))+400_000,
		[]multicall{{factory, create.Data}, {child, data}})
	if err != nil {
		return nil, err
	}
	request.role, request.artifact = role, artifact
	return request, nil
}
