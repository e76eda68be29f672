package control

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/control/describe"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// ContractABI is a contract with everything needed to call it.
type ContractABI struct {
	Name     string          `json:"name" doc:"Its role, or the name that the world's file gives it."`
	Address  string          `json:"address"`
	Chain    string          `json:"chain"`
	ChainID  string          `json:"chainId"`
	Network  string          `json:"network"`
	Artifact string          `json:"artifact,omitempty" doc:"Name of the compiled contract, if it is one of the simulator's own."`
	ABI      json.RawMessage `json:"abi,omitempty" doc:"As the compiler wrote it. Absent if unknown."`
}

// section is a part of /sim/world's response with its own path: one of its fields, or the ABIs.
type section struct{ of any }

func (s section) MarshalJSON() ([]byte, error) { return json.Marshal(s.of) }

// Schema accepts any value: each section has its own shape.
func (section) Schema(*schema.Schemas) *schema.Schema {
	return &schema.Schema{Description: "The member of this name in /sim/world; contracts lists all chains' contracts, with their ABIs."}
}

const contractsSection, personasSection, abisSection = "contracts", "personas", "abis"

// sections lists the names of the parts.
func sections() []string {
	names := []string{contractsSection}
	for f := range reflect.TypeFor[World]().Fields() {
		if isPart(f.Type) {
			names = append(names, jsonName(f))
		}
	}
	return names
}

// isPart reports whether a value is more than a number or a text.
func isPart(t reflect.Type) bool {
	return slices.Contains([]reflect.Kind{reflect.Slice, reflect.Struct, reflect.Map}, t.Kind())
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// section returns a part of the world by name.
func (w *World) section(name string, d *describe.World) (any, error) {
	if name == contractsSection {
		all, err := contractABIs(d)
		return section{all}, err
	}
	v := reflect.ValueOf(w).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); jsonName(f) == name && isPart(f.Type) {
			return section{v.Field(i).Interface()}, nil
		}
	}
	return nil, rest.NotFound("the world has no section %s; there are %s", name, strings.Join(sections(), ", "))
}

// Names describes a world without the personas' figures, with paths in place of URLs, and the contracts of all chains with their ABIs.
func Names(ctx context.Context, w *sim.World) (*World, []ContractABI, error) {
	d, err := describe.Read(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	named, err := render(d, Version(), "", func(string) string { return "" })
	if err != nil {
		return nil, nil, err
	}
	for i := range named.Chains {
		named.Chains[i].WSURL = strings.TrimPrefix(named.Chains[i].WSURL, "ws")
	}
	contracts, err := contractABIs(d)
	return named, contracts, err
}

func contractABIs(d *describe.World) ([]ContractABI, error) {
	known := map[string]json.RawMessage{} // by artifact
	list := []ContractABI{}
	for i := range d.Chains {
		c := chain(&d.Chains[i], "")
		for _, k := range d.Chains[i].Contracts {
			shown := ContractABI{Name: k.Role, Address: common.BytesToAddress(k.Address).Hex(), Chain: c.Name, ChainID: c.ChainID, Network: c.Network,
				Artifact: k.Artifact, ABI: json.RawMessage(k.ABI)}
			if k.Artifact != "" {
				if known[k.Artifact] == nil {
					var err error
					if known[k.Artifact], err = contracts.ABI(k.Artifact); err != nil {
						return nil, err
					}
				}
				shown.ABI = known[k.Artifact]
			}
			list = append(list, shown)
		}
	}
	return list, nil
}
