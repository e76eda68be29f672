package etherscan

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/verification"
)

var verifyActions = map[string]action{
	"contract.getabi":                 {handle: contractABI},
	"contract.getsourcecode":          {handle: sourceCode},
	"contract.verifysourcecode":       {class: permit.Control, handle: with(addressIn("contractaddress"), verifySource)},
	"contract.checkverifystatus":      {handle: verifyStatus},
	"contract.verifyproxycontract":    {handle: with(addressIn("address"), verifyProxy)},
	"contract.checkproxyverification": {handle: with(addressIn("guid"), proxyStatus)},
}

const unverified = "Contract source code not verified"

// known returns what is known of the contract that a parameter names, nil for nothing.
func (r *request) known(name string) (*verification.Contract, common.Address, error) {
	address, err := r.values.address(name)
	if err != nil {
		return nil, address, err
	}
	c, err := r.api.options.Contracts.Find(r.Context(), r.db(), r.chain, address)
	return c, address, err
}

func contractABI(r *request) (any, error) {
	c, _, err := r.known("address")
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, refusal(unverified)
	}
	return string(c.ABI), nil
}

// source is the only row of getsourcecode. Everything is empty for a contract that is not known, save the ABI, which says so.
type source struct {
	SourceCode           string `json:"SourceCode"` // of several files, the compiler's standard JSON input in a second pair of braces
	ABI                  string `json:"ABI"`
	ContractName         string `json:"ContractName"`
	ContractFileName     string `json:"ContractFileName"`
	CompilerVersion      string `json:"CompilerVersion"`
	CompilerType         string `json:"CompilerType"`
	OptimizationUsed     string `json:"OptimizationUsed"`
	Runs                 string `json:"Runs"`
	ConstructorArguments string `json:"ConstructorArguments"`
	EVMVersion           string `json:"EVMVersion"`
	Library              string `json:"Library"`
	LicenseType          string `json:"LicenseType"`
	Proxy                string `json:"Proxy"`
	Implementation       string `json:"Implementation"`
	SwarmSource          string `json:"SwarmSource"`
	SimilarMatch         string `json:"SimilarMatch"`
}

// settings are those of the compiler that getsourcecode shows.
type settings struct {
	Optimizer struct {
		Enabled bool
		Runs    *uint64
	}
	EVMVersion string
	Libraries  map[string]map[string]string
}

func sourceCode(r *request) (any, error) {
	c, address, err := r.known("address")
	if err != nil {
		return nil, err
	}
	s := source{ABI: unverified, Proxy: "0", CompilerType: "solc"}
	if c != nil {
		if s, err = sourceOf(c); err != nil {
			return nil, err
		}
	}
	target, proxy, err := verification.Implementation(r.Context(), r.db(), r.chain, address)
	if err != nil {
		return nil, err
	}
	if proxy {
		s.Proxy, s.Implementation = "1", hexAddress(target[:])
	}
	return []source{s}, nil
}

// license is the comment that names a source's license.
var license = regexp.MustCompile(`SPDX-License-Identifier:\s*([\w.+-]+)`)

func sourceOf(c *verification.Contract) (source, error) {
	s := source{ABI: string(c.ABI), ContractName: c.Name, ContractFileName: c.Source, CompilerVersion: c.Compiler, CompilerType: "solc",
		ConstructorArguments: hex.EncodeToString(c.Arguments), EVMVersion: "Default", OptimizationUsed: "0", Runs: "200", LicenseType: "Unknown", Proxy: "0"}
	if s.CompilerVersion != "" {
		s.CompilerVersion = "v" + s.CompilerVersion
	}
	var of settings
	if c.Settings != nil && json.Unmarshal(c.Settings, &of) == nil {
		if of.Optimizer.Enabled {
			s.OptimizationUsed = "1"
		}
		if of.Optimizer.Runs != nil {
			s.Runs = strconv.FormatUint(*of.Optimizer.Runs, 10)
		}
		s.EVMVersion = cmp.Or(of.EVMVersion, s.EVMVersion)
		var libraries []string
		for _, all := range of.Libraries {
			for _, name := range slices.Sorted(maps.Keys(all)) {
				libraries = append(libraries, name+":"+strings.TrimPrefix(strings.ToLower(all[name]), "0x"))
			}
		}
		slices.Sort(libraries)
		s.Library = strings.Join(libraries, ";")
	}
	if m := license.FindStringSubmatch(c.Sources[c.Source]); m != nil {
		s.LicenseType = m[1]
	}
	if len(c.Sources) == 1 && c.Settings == nil {
		s.SourceCode = c.Sources[c.Source]
		return s, nil
	}
	sources := map[string]map[string]string{}
	for name, text := range c.Sources {
		sources[name] = map[string]string{"content": text}
	}
	if len(sources) == 0 {
		return s, nil
	}
	input, err := encode(map[string]any{"language": c.Language, "sources": sources, "settings": c.Settings})
	s.SourceCode = "{" + string(input) + "}"
	return s, err
}

// constructorArguments reads the arguments, under the name that Etherscan spells wrongly too.
func (p parameters) constructorArguments() ([]byte, error) {
	text := cmp.Or(p["constructorarguements"], p["constructorarguments"])
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return nil, refusal("Error! Invalid constructor arguments: expected hex")
	}
	return b, nil
}

// compilerInput makes the compiler's input of a form, and returns the source and the name of the contract.
func (p parameters) compilerInput() (in *solc.Input, from, name string, err error) {
	from, name = "*", p["contractname"]
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		from, name = name[:at], name[at+1:]
	}
	switch {
	case p["sourcecode"] == "":
		return nil, "", "", refusal("Error! Missing sourceCode")
	case name == "":
		return nil, "", "", refusal("Error! Missing contractname")
	}
	switch format := strings.ToLower(p["codeformat"]); format {
	case "solidity-standard-json-input":
		text := p["sourcecode"]
		if inner, doubled := strings.CutPrefix(text, "{{"); doubled {
			text = "{" + strings.TrimSuffix(inner, "}")
		}
		in, err = solc.ParseInput([]byte(text))
	case "solidity-single-file", "":
		from = name + ".sol"
		in, err = solc.Single(from, p["sourcecode"], p.settings(from))
	default:
		return nil, "", "", refusal(fmt.Sprintf("Error! The codeformat %.40q is not supported: expected solidity-standard-json-input or solidity-single-file", format))
	}
	if err != nil {
		return nil, "", "", refusal("Error! " + err.Error())
	}
	if from != "*" && !in.Has(from) {
		return nil, "", "", refusal(fmt.Sprintf("Error! The sources have no %.200q, which contractname names", from))
	}
	return in, from, name, nil
}

// settings makes the compiler's settings of a form with a single file.
func (p parameters) settings(from string) map[string]any {
	runs, ok := number64(p["runs"])
	if !ok || p["runs"] == "" {
		runs = 200
	}
	all := map[string]any{"optimizer": map[string]any{"enabled": p["optimizationused"] == "1", "runs": runs}}
	if version := strings.ToLower(p["evmversion"]); version != "" && version != "default" {
		all["evmVersion"] = version
	}
	libraries := map[string]string{}
	for n := 1; n <= 10; n++ {
		if name := p["libraryname"+strconv.Itoa(n)]; name != "" {
			libraries[name] = p["libraryaddress"+strconv.Itoa(n)]
		}
	}
	if len(libraries) > 0 {
		all["libraries"] = map[string]any{from: libraries}
	}
	return all
}

// verifySource begins a verification and returns its id.
func verifySource(r *request, address common.Address) (any, error) {
	arguments, err := r.values.constructorArguments()
	if err != nil {
		return nil, err
	}
	in, from, name, err := r.values.compilerInput()
	if err != nil {
		return nil, err
	}
	job, err := r.api.options.Contracts.Submit(r.Context(), &verification.Request{
		Chain: r.chain, Address: address, Input: in, Compiler: r.values["compilerversion"], Source: from, Name: name, Arguments: arguments,
	})
	missing := new(solc.MissingError)
	switch {
	case errors.Is(err, verification.ErrNoCode):
		return nil, refusal("Unable to locate ContractCode at " + hexAddress(address[:]))
	case errors.Is(err, verification.ErrVerified):
		return nil, refusal("Contract source code already verified")
	case errors.Is(err, solc.ErrVersion), errors.Is(err, verification.ErrBusy), errors.Is(err, verification.ErrFull), errors.As(err, &missing):
		return nil, refusal("Error! " + err.Error())
	case err != nil:
		return nil, err
	}
	return job.ID, nil
}

// verifyStatus tells what became of a verification. The reason of a failure follows for clients of Etherscan; those of Blockscout, which send no
// chainid, expect the bare sentence.
func verifyStatus(r *request) (any, error) {
	job := r.api.options.Contracts.Job(r.values["guid"])
	switch {
	case job == nil:
		return nil, refusal("Invalid guid: no verification has it, or it was too long ago")
	case !job.Wait(r.Context()):
		return nil, refusal("Pending in queue")
	case job.Err == nil:
		return "Pass - Verified", nil
	case !r.values.given("chainid"):
		return nil, refusal("Fail - Unable to verify")
	}
	return nil, refusal("Fail - Unable to verify. " + job.Err.Error())
}

// verifyProxy takes note of nothing: whoever asks for a proxy is told of its implementation anyway. The id is the address.
func verifyProxy(_ *request, address common.Address) (any, error) { return hexAddress(address[:]), nil }

func proxyStatus(r *request, address common.Address) (any, error) {
	target, proxy, err := verification.Implementation(r.Context(), r.db(), r.chain, address)
	switch {
	case err != nil:
		return nil, err
	case !proxy:
		return nil, refusal("A corresponding implementation contract was unfortunately not detected for the proxy address.")
	}
	return fmt.Sprintf("The proxy's (%s) implementation contract is found at %s and is successfully updated.", hexAddress(address[:]), hexAddress(target[:])), nil
}
