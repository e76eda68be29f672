package data

import (
	"errors"
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Contract describes a contract.
type Contract struct {
	Name              string             `json:"name,omitempty"`
	Symbol            string             `json:"symbol,omitempty" doc:"Of a token."`
	Decimals          *int               `json:"decimals,omitempty" doc:"Of an ERC-20."`
	LogoAsset         *ImageAsset        `json:"logoAsset,omitempty"`
	Address           string             `json:"address" format:"address"`
	DeploymentDetails *DeploymentDetails `json:"deploymentDetails,omitempty" doc:"Absent for a contract that was there from the beginning."`
	ErcType           string             `json:"ercType" enum:"ERC-20,ERC-721,ERC-1155,UNKNOWN"`
}

// ImageAsset is where an image is.
type ImageAsset struct {
	ImageURI string `json:"imageUri" format:"url"`
}

// DeploymentDetails say how a contract came to be.
type DeploymentDetails struct {
	TxHash                  string `json:"txHash" format:"hash"`
	DeployerAddress         string `json:"deployerAddress" format:"address" doc:"The sender of the transaction."`
	DeployerContractAddress string `json:"deployerContractAddress,omitempty" format:"address" doc:"The contract that made this one, if one did."`
}

type contractList struct {
	NextPageToken string     `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Contracts     []Contract `json:"contracts"`
}

func (a *chainAPI) contractOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "getDeployment", Path: "/v1/chains/{chainId}/contracts/{address}/transactions:getDeployment", Summary: "Get the transaction that deployed a contract",
			Spec: "Transactions", Params: with(chainParam, addressParam, currencyParam), Answer: reflect.TypeFor[TransactionAnswer](), Handle: a.onChain(a.getDeployment)},
		{ID: "listDeployments", Path: "/v1/chains/{chainId}/contracts/{address}/deployments", Summary: "List the contracts that an address deployed",
			Params: with(chainParam, addressParam, handlers.Paging(10, 100)), Answer: reflect.TypeFor[contractList](), Handle: a.onChain(a.listDeployments)},
		{ID: "getContract", Path: "/v1/chains/{chainId}/addresses/{address}", Summary: "Describe a contract",
			Params: with(chainParam, addressParam), Answer: reflect.TypeFor[Contract](), Handle: a.onChain(a.getContract)},
	}
}

func (a *chainAPI) getDeployment(r *handlers.Request, c *evm.Chain) (any, error) {
	address := r.Address("address")
	d, err := a.world.DB.Deployment(r.Context(), c.Row.ID, address[:])
	if errors.Is(err, store.ErrNotFound) {
		return nil, a.undeployed(r, c)
	}
	if err != nil {
		return nil, err
	}
	row, err := a.world.DB.TransactionViewAt(r.Context(), d.Transaction())
	if err != nil {
		return nil, err
	}
	return a.transactionIn(r, c, row)
}

// undeployed says why no transaction deployed the address in the request.
func (a *chainAPI) undeployed(r *handlers.Request, c *evm.Chain) error {
	if err := a.needContract(r, c); err != nil {
		return err
	}
	return handlers.NotFound("contract %s was there when chain %d began: no transaction deployed it", r.Address("address"), c.Row.EVMID)
}

// needContract makes sure that there is code at the address in the request.
func (a *chainAPI) needContract(r *handlers.Request, c *evm.Chain) error {
	address := r.Address("address")
	account, err := a.world.DB.Account(r.Context(), c.Row.ID, address[:], store.MaxNumber)
	missing := handlers.NotFound("there is no contract at %s on chain %d", address, c.Row.EVMID)
	if err == nil && (account.Gone || account.CodeHash == nil) {
		return missing
	}
	return or(err, missing)
}

func (a *chainAPI) getContract(r *handlers.Request, c *evm.Chain) (any, error) {
	if err := a.needContract(r, c); err != nil {
		return nil, err
	}
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	address := r.Address("address")
	shown := s.contract(address)
	d, err := a.world.DB.Deployment(r.Context(), c.Row.ID, address[:])
	if errors.Is(err, store.ErrNotFound) {
		return shown, nil
	}
	if err != nil {
		return nil, err
	}
	tx, err := a.world.DB.Transaction(r.Context(), d.Transaction())
	if err != nil {
		return nil, err
	}
	shown.DeploymentDetails = deploymentDetails(d, tx.Hash)
	return shown, nil
}

// contract is what the catalog knows of a contract.
func (s *tokenView) contract(address common.Address) Contract {
	shown := Contract{Address: address.Hex(), ErcType: "UNKNOWN"}
	e := s.entries[chainAddress{chain: s.chain, address: address}]
	if e == nil {
		return shown
	}
	shown.Name = e.name
	if t := e.token; t != nil {
		shown.ErcType, shown.Symbol = t.ID.Standard().String(), t.Symbol
		if t.ID.Standard() == store.ERC20 {
			shown.Decimals = &t.Decimals
		}
		if logo := t.logo(s.Request); logo != "" {
			shown.LogoAsset = &ImageAsset{logo}
		}
	}
	return shown
}

func deploymentDetails(d *store.Deployment, txHash []byte) *DeploymentDetails {
	shown := &DeploymentDetails{TxHash: hash(txHash), DeployerAddress: common.BytesToAddress(d.Sender).Hex()}
	if d.Creator != nil {
		shown.DeployerContractAddress = common.BytesToAddress(d.Creator).Hex()
	}
	return shown
}

func (a *chainAPI) listDeployments(r *handlers.Request, c *evm.Chain) (any, error) {
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	address := r.Address("address")
	high, low := span(r, c)
	rows, err := a.world.DB.DeploymentsBy(r.Context(), address[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	rows, next := cut(r, rows, func(d *store.DeploymentView) []byte { return within(d.ID) })
	return contractList{next, list(rows, func(d *store.DeploymentView) Contract {
		shown := s.contract(common.BytesToAddress(d.Address))
		shown.DeploymentDetails = deploymentDetails(&d.Deployment, d.TxHash)
		return shown
	})}, nil
}
