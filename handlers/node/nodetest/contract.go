package nodetest

import "github.com/ethereum/go-ethereum/common"

// Contract returns the address of the chain's contract with a role.
func (c *Chain) Contract(role string) *common.Address {
	c.Helper()
	all, err := c.World.DB.Contracts(c.Context(), c.Chain.Row.ID)
	if err != nil {
		c.Fatal(err)
	}
	for _, known := range all {
		if known.Role == role {
			address := common.BytesToAddress(known.Address)
			return &address
		}
	}
	c.Fatalf("%s has no %s", c.Chain.Row.Name, role)
	return nil
}
