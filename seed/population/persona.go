package population

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim/store"
)

// Personas holds the documented accounts of fixtures.Personas. Each persona that an action names has a field.
type Personas struct {
	Alice, Bob, Whale, Deployer, Collector, Clumsy, Spammed, Indirect, Fresh, Ewoq *Account
	Hoarder, Committee, CommitteeTwo, CommitteeThree                               *Account
	Locked, Traveller, Staker, Delegator, Proprietor, Relayer                      *Account

	Funded []FundedAccount // all of the table, in its order
	Rows   []store.Persona
}

// FundedAccount is a persona with its initial balances.
type FundedAccount struct {
	Account *Account
	Genesis fixtures.Persona
}

// NewPersonas reads the table of personas.
func NewPersonas() (*Personas, error) {
	p := &Personas{}
	fields := p.fields()
	for i, row := range fixtures.Personas {
		a, err := NewAccount(common.FromHex(row.Key))
		if err != nil {
			return nil, fmt.Errorf("persona %s: %w", row.Name, err)
		}
		if field := fields[row.Name]; field != nil {
			*field = a
			delete(fields, row.Name)
		}
		p.Funded = append(p.Funded, FundedAccount{a, row})
		p.Rows = append(p.Rows, store.Persona{ID: i, Name: row.Name, Purpose: row.Purpose, Key: common.FromHex(row.Key), Address: a.Address.Bytes()})
	}
	for name := range fields {
		return nil, fmt.Errorf("the table of personas has no %s", name)
	}
	return p, nil
}

// fields maps personas' names to their account fields.
func (p *Personas) fields() map[string]**Account {
	return map[string]**Account{
		"alice": &p.Alice, "bob": &p.Bob, "whale": &p.Whale,
		"deployer": &p.Deployer, "collector": &p.Collector, "clumsy": &p.Clumsy,
		"spammed": &p.Spammed, "indirect": &p.Indirect, "fresh": &p.Fresh,
		"ewoq": &p.Ewoq, "hoarder": &p.Hoarder, "committee": &p.Committee,
		"committee-two": &p.CommitteeTwo, "committee-three": &p.CommitteeThree, "locked": &p.Locked,
		"traveller": &p.Traveller, "staker": &p.Staker, "delegator": &p.Delegator,
		"proprietor": &p.Proprietor, "relayer": &p.Relayer,
	}
}
