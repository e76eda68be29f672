package index

import (
	"bytes"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/sim/store"
)

// callGas limits one call: enough for a usual token, and too little for a contract to delay a block.
const callGas = 2_000_000

// The functions that the index calls, and the interface ids of ERC-165.
var (
	methodName              = selector("name()")
	methodSymbol            = selector("symbol()")
	methodDecimals          = selector("decimals()")
	methodTotalSupply       = selector("totalSupply()")
	methodBalanceOf         = selector("balanceOf(address)")
	methodBalanceOfItem     = selector("balanceOf(address,uint256)")
	methodOwnerOf           = selector("ownerOf(uint256)")
	methodTokenURI          = selector("tokenURI(uint256)")
	methodURI               = selector("uri(uint256)")
	methodSupportsInterface = selector("supportsInterface(bytes4)")
	interfaceERC165         = []byte{0x01, 0xff, 0xc9, 0xa7}
	interfaceInvalid        = []byte{0xff, 0xff, 0xff, 0xff}
	interfaceERC721         = []byte{0x80, 0xac, 0x58, 0xcd}
	interfaceERC1155        = []byte{0xd9, 0xb6, 0x7a, 0x26}
)

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// EVM runs view functions.
type EVM interface {
	StaticCall(caller, contract common.Address, input []byte, gas vm.GasBudget) (answer []byte, left vm.GasBudget, err error)
	SetTxContext(vm.TxContext)
	GetVMContext() *tracing.VMContext
	Entered() bool // code called a precompile that this EVM cannot run
	Release()
}

// ContractReader calls the view functions of contracts on the state after a block, without changing it.
type ContractReader struct {
	fast, evm EVM
	full      func() EVM // makes one that runs every precompile
	state     *state.StateDB
	slots     tracing.StateDB // the state by the chain's own slot keys
}

// NewContractReader reads contracts with an EVM on a state, and repeats a call with the EVM from full if the first one cannot run it. It never
// writes the state.
func NewContractReader(fast EVM, full func() EVM, states *state.StateDB) *ContractReader {
	fast.SetTxContext(vm.TxContext{GasPrice: new(uint256.Int)})
	return &ContractReader{fast: fast, full: full, state: states, slots: fast.GetVMContext().StateDB}
}

// release releases the resources of the EVMs. They are not used again.
func (p *ContractReader) release() {
	p.fast.Release()
	if p.evm != nil {
		p.evm.Release()
	}
}

// call calls a contract; nil means that it did not answer.
func (p *ContractReader) call(contract common.Address, method []byte, words ...[]byte) []byte {
	input := bytes.Clone(method)
	for _, w := range words {
		input = append(input, common.LeftPadBytes(w, 32)...)
	}
	before := p.state.Snapshot()
	answer, _, err := p.fast.StaticCall(common.Address{}, contract, input, vm.NewGasBudget(callGas, 0))
	if p.fast.Entered() {
		p.state.RevertToSnapshot(before)
		if p.evm == nil {
			p.evm = p.full()
			p.evm.SetTxContext(vm.TxContext{GasPrice: new(uint256.Int)})
		}
		answer, _, err = p.evm.StaticCall(common.Address{}, contract, input, vm.NewGasBudget(callGas, 0))
	}
	if err != nil {
		return nil
	}
	return answer
}

// number decodes a result of one word, without leading zeros.
func (p *ContractReader) number(contract common.Address, method []byte, words ...[]byte) ([]byte, bool) {
	answer := p.call(contract, method, words...)
	if len(answer) < 32 {
		return nil, false
	}
	return common.TrimLeftZeroes(answer[:32]), true
}

// text decodes a result that is a string.
func (p *ContractReader) text(contract common.Address, method []byte, words ...[]byte) (string, bool) {
	return ParseText(p.call(contract, method, words...))
}

// URICall returns the call that asks a contract for the URI of an item's metadata.
func URICall(s store.Standard, item []byte) []byte {
	method := methodTokenURI
	if s == store.ERC1155 {
		method = methodURI
	}
	return append(bytes.Clone(method), common.LeftPadBytes(item, 32)...)
}

// ParseText decodes a result that is a string, or a bytes32 as early tokens return.
func ParseText(answer []byte) (string, bool) {
	switch {
	case len(answer) < 32:
		return "", false
	case len(answer) == 32:
		answer = bytes.TrimRight(answer, "\x00")
	default:
		var ok bool
		if answer, ok = dynamicValue(answer, 0, 1); !ok {
			return "", false
		}
	}
	return strings.ToValidUTF8(string(answer), "\uFFFD"), true
}

func (p *ContractReader) supports(contract common.Address, id []byte) bool {
	answer := p.call(contract, methodSupportsInterface, common.RightPadBytes(id, 32))
	return len(answer) == 32 && new(big.Int).SetBytes(answer).IsUint64() && answer[31] == 1
}

// standard finds the token standard of a contract. ERC-721 and ERC-1155 contracts declare it (ERC-165); a contract that answers decimals,
// totalSupply and balanceOf counts as ERC-20.
func (p *ContractReader) standard(contract common.Address) (store.Standard, bool) {
	if p.supports(contract, interfaceERC165) && !p.supports(contract, interfaceInvalid) {
		if p.supports(contract, interfaceERC721) {
			return store.ERC721, true
		}
		if p.supports(contract, interfaceERC1155) {
			return store.ERC1155, true
		}
	}
	decimals, ok := p.number(contract, methodDecimals)
	if !ok || len(decimals) > 1 {
		return 0, false
	}
	_, supply := p.number(contract, methodTotalSupply)
	_, balance := p.number(contract, methodBalanceOf, nil)
	return store.ERC20, supply && balance
}

// token reads the name, symbol and decimals of a token. Fields that the contract does not answer stay empty.
func (p *ContractReader) token(contract common.Address, s store.Standard) store.Token {
	t := store.Token{Address: bytes.Clone(contract[:])}
	t.Name, _ = p.text(contract, methodName)
	t.Symbol, _ = p.text(contract, methodSymbol)
	if s == store.ERC20 {
		decimals, _ := p.number(contract, methodDecimals)
		t.Decimals = int(new(big.Int).SetBytes(decimals).Int64())
	}
	return t
}

// dynamicValue reads the dynamic value whose offset is the word at index head; its elements have size bytes each.
func dynamicValue(data []byte, head, size int) ([]byte, bool) {
	offset, ok := offsetAt(data, 32*head)
	if !ok {
		return nil, false
	}
	count, ok := offsetAt(data, offset)
	if !ok || count > (len(data)-offset-32)/size {
		return nil, false
	}
	return data[offset+32:][:count*size], true
}

// offsetAt reads the word at an offset as a number no larger than the length of the data.
func offsetAt(data []byte, at int) (int, bool) {
	if at < 0 || at > len(data)-32 {
		return 0, false
	}
	n := new(uint256.Int).SetBytes(data[at : at+32])
	if !n.IsUint64() || n.Uint64() > uint64(len(data)) {
		return 0, false
	}
	return int(n.Uint64()), true
}
