package control

import (
	"reflect"
	"strings"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/solc"
)

// Compiler is a compiler with which contracts can be verified.
type Compiler struct {
	Version string `json:"version" doc:"The full version, such as 0.8.30+commit.73712a01."`
	File    string `json:"file"`
}

// CompilerList lists them by version.
type CompilerList struct {
	Compilers []Compiler `json:"compilers"`
}

// RegisterCompilers registers the operations on compilers. They run each compiler once, so they need the permission that verifying does.
func RegisterCompilers(s *rest.Server, all *solc.Compilers) error {
	return s.Register(rest.Sim,
		rest.Operation{ID: "listCompilers", Path: "/sim/compilers", Summary: "List the Solidity compilers on this machine that can verify contracts",
			Doc: "Lists the compilers that --solc names and those that Foundry and Hardhat keep.", Class: permit.Control, Live: true, Readable: true, Answer: reflect.TypeFor[CompilerList](),
			Handle: func(r *rest.Request) (any, error) {
				found, err := all.List(r.Context())
				answer := CompilerList{Compilers: make([]Compiler, len(found))}
				for i, c := range found {
					answer.Compilers[i] = Compiler{c.Version, c.File}
				}
				return answer, err
			}},
		rest.Operation{ID: "listCompilersAsText", Path: "/sim/compilers/list.txt", Summary: "The compilers in the format of binaries.soliditylang.org/bin/list.txt, which forge reads",
			Doc: "Start the server with --as-host binaries.soliditylang.org=compilers to serve it there.", Class: permit.Control, Live: true, Produces: "text/plain; charset=utf-8",
			Handle: func(r *rest.Request) (any, error) {
				found, err := all.List(r.Context())
				var b strings.Builder
				for _, c := range found {
					b.WriteString("soljson-v" + c.Version + ".js\n")
				}
				return rest.Raw{Type: "text/plain; charset=utf-8", Body: []byte(b.String())}, err
			}},
	)
}
