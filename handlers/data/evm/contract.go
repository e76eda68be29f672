package evm

import (
	"errors"
	"reflect"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Contract describes a contract.
type Contract struct {
	Name              string             `json:"name,omitempty"`
	Symbol            string             `json:"symbol,omitempty" doc:"Only for a token."`
	Decimals          *int               `json:"decimals,omitempty" doc:"Only for an ERC-20."`
	LogoAsset         *ImageAsset        `json:"logoAsset,omitempty"`
	Address           string             `json:"address" format:"address"`
	DeploymentDetails *DeploymentDetails `json:"deploymentDetails,omitempty" doc:"Absent for a contract of the genesis."`
	ErcType           string             `json:"ercType" enum:"ERC-20,ERC-721,ERC-1155,UNKNOWN"`
}

// ImageAsset is the URL of an image.
type ImageAsset struct {
	ImageURI string `json:"imageUri" format:"url"`
}

// DeploymentDetails names the transaction and account that deployed a contract.
type DeploymentDetails struct {
	TxHash                  string `json:"txHash" format:"hash"`
	DeployerAddress         string `json:"deployerAddress" format:"address" doc:"The sender of the transaction."`
	DeployerContractAddress string `json:"deployerContractAddress,omitempty" format:"address" doc:"The contract that created this one, if any."`
}

type contractList struct {
	NextPageToken string     `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Contracts     []Contract `json:"contracts"`
}

func (a *chainAPI) contractOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "getDeployment", Path: "/v1/chains/{chainId}/contracts/{address}/transactions:getDeployment", Summary: "Get the transaction that deployed a contract",
			Spec: "Transactions", Params: data.JoinParams(data.ChainParam, data.AddressParam, data.CurrencyParam), Answer: reflect.TypeFor[TransactionAnswer](), Handle: a.OnChain(a.getDeployment)},
		{ID: "listDeployments", Path: "/v1/chains/{chainId}/contracts/{address}/deployments", Summary: "List the contracts that an address deployed",
			Params: data.JoinParams(data.ChainParam, data.AddressParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[contractList](), Handle: a.onView(a.listDeployments)},
		{ID: "getContract", Path: "/v1/chains/{chainId}/addresses/{address}", Summary: "Describe a contract",
			Params: data.JoinParams(data.ChainParam, data.AddressParam), Answer: reflect.TypeFor[Contract](), Handle: a.OnChain(a.getContract)},
	}
}

func (a *chainAPI) getDeployment(r *rest.Request, c *reader.Chain) (any, error) {
	address := r.Address("address")
	d, err := a.World.DB.Deployment(r.Context(), c.Row.ID, address[:])
	if errors.Is(err, store.ErrNotFound) {
		return nil, a.undeployed(r, c)
	}
	if err != nil {
		return nil, err
	}
	row, err := a.World.DB.TransactionViewAt(r.Context(), d.Transaction())
	if err != nil {
		return nil, err
	}
	return a.transactionIn(r, c, row)
}

// undeployed explains why no transaction deployed the request's address.
func (a *chainAPI) undeployed(r *rest.Request, c *reader.Chain) error {
	if err := a.needContract(r, c); err != nil {
		return err
	}
	return rest.NotFound("contract %s is part of the genesis of chain %d: no transaction deployed it", r.Address("address"), c.Row.EVMID)
}

// needContract fails unless the request's address has code.
func (a *chainAPI) needContract(r *rest.Request, c *reader.Chain) error {
	address := r.Address("address")
	account, err := a.World.DB.Account(r.Context(), c.Row.ID, address[:], store.MaxNumber)
	missing := rest.NotFound("there is no contract at %s on chain %d", address, c.Row.EVMID)
	if err == nil && (account.Gone || account.CodeHash == nil) {
		return missing
	}
	return data.OrNotFound(err, missing)
}

func (a *chainAPI) getContract(r *rest.Request, c *reader.Chain) (any, error) {
	if err := a.needContract(r, c); err != nil {
		return nil, err
	}
	s, err := a.view(r, c.Row.ID)
	if err != nil {
		return nil, err
	}
	address := r.Address("address")
	shown := s.contract(address)
	d, err := a.World.DB.Deployment(r.Context(), c.Row.ID, address[:])
	if errors.Is(err, store.ErrNotFound) {
		return shown, nil
	}
	if err != nil {
		return nil, err
	}
	tx, err := a.World.DB.Transaction(r.Context(), d.Transaction())
	if err != nil {
		return nil, err
	}
	shown.DeploymentDetails = deploymentDetails(d, tx.Hash)
	return shown, nil
}

// contract returns what the catalog knows about a contract.
func (s *tokenView) contract(address common.Address) Contract {
	shown := Contract{Address: address.Hex(), ErcType: "UNKNOWN"}
	e := s.Entries[data.ChainAddress{Chain: s.Chain, Address: address}]
	if e == nil {
		return shown
	}
	shown.Name = e.Name
	if t := e.Token; t != nil {
		shown.ErcType, shown.Symbol = t.ID.Standard().String(), t.Symbol
		if t.ID.Standard() == store.ERC20 {
			shown.Decimals = &t.Decimals
		}
		if logo := t.Logo(s.Request); logo != "" {
			shown.LogoAsset = &ImageAsset{logo}
		}
	}
	return shown
}

func deploymentDetails(d *store.Deployment, txHash []byte) *DeploymentDetails {
	shown := &DeploymentDetails{TxHash: data.Hash(txHash), DeployerAddress: common.BytesToAddress(d.Sender).Hex()}
	if d.Creator != nil {
		shown.DeployerContractAddress = common.BytesToAddress(d.Creator).Hex()
	}
	return shown
}

func (a *chainAPI) listDeployments(r *rest.Request, s *tokenView, c *reader.Chain) (any, error) {
	address := r.Address("address")
	high, low := data.Span(r, c)
	rows, err := a.World.DB.DeploymentsBy(r.Context(), address[:], high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	rows, next := data.CutPage(r, rows, func(d *store.DeploymentView) []byte { return data.Within(d.ID) })
	return contractList{next, data.List(rows, func(d *store.DeploymentView) Contract {
		shown := s.contract(common.BytesToAddress(d.Address))
		shown.DeploymentDetails = deploymentDetails(&d.Deployment, d.TxHash)
		return shown
	})}, nil
}
