package evm

import (
	"bytes"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/sim/store"
)

// probeGas is what one question to a contract may cost: plenty for honest ones, little enough that no contract can hold
// up a block.
const probeGas = 2_000_000

// Questions that the index asks contracts.
var (
	askName         = selector("name()")
	askSymbol       = selector("symbol()")
	askDecimals     = selector("decimals()")
	askSupply       = selector("totalSupply()")
	askBalance      = selector("balanceOf(address)")
	askItemBalance  = selector("balanceOf(address,uint256)")
	askOwner        = selector("ownerOf(uint256)")
	askTokenURI     = selector("tokenURI(uint256)")
	askURI          = selector("uri(uint256)")
	askSupports     = selector("supportsInterface(bytes4)")
	interfaceItself = []byte{0x01, 0xff, 0xc9, 0xa7}
	interfaceNone   = []byte{0xff, 0xff, 0xff, 0xff}
	interface721    = []byte{0x80, 0xac, 0x58, 0xcd}
	interface1155   = []byte{0xd9, 0xb6, 0x7a, 0x26}
)

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// probe asks contracts questions on the state after a block, without changing it.
type probe struct {
	evm   *vm.EVM
	state *state.StateDB
}

// NewContractReader reads contracts with an EVM on a state. Nothing of the state is written.
func NewContractReader(evm *vm.EVM, states *state.StateDB) *probe {
	evm.SetTxContext(vm.TxContext{GasPrice: new(uint256.Int)})
	return &probe{evm: evm, state: states}
}

// ask calls a contract; nil means that it did not answer.
func (p *probe) ask(contract common.Address, question []byte, words ...[]byte) []byte {
	input := bytes.Clone(question)
	for _, w := range words {
		input = append(input, common.LeftPadBytes(w, 32)...)
	}
	answer, _, err := p.evm.StaticCall(common.Address{}, contract, input, vm.NewGasBudget(probeGas, 0))
	if err != nil {
		return nil
	}
	return answer
}

// number is an answer of one word, without leading zeros.
func (p *probe) number(contract common.Address, question []byte, words ...[]byte) ([]byte, bool) {
	answer := p.ask(contract, question, words...)
	if len(answer) < 32 {
		return nil, false
	}
	return common.TrimLeftZeroes(answer[:32]), true
}

// text is an answer that is a string, or a bytes32 as early tokens have it.
func (p *probe) text(contract common.Address, question []byte, words ...[]byte) (string, bool) {
	answer := p.ask(contract, question, words...)
	switch {
	case len(answer) < 32:
		return "", false
	case len(answer) == 32:
		answer = bytes.TrimRight(answer, "\x00")
	default:
		var ok bool
		if answer, ok = tail(answer, 0, 1); !ok {
			return "", false
		}
	}
	return strings.ToValidUTF8(string(answer), "\uFFFD"), true
}

func (p *probe) supports(contract common.Address, id []byte) bool {
	answer := p.ask(contract, askSupports, common.RightPadBytes(id, 32))
	return len(answer) == 32 && new(big.Int).SetBytes(answer).IsUint64() && answer[31] == 1
}

// standard tells what kind of token a contract is. ERC-721 and ERC-1155 say so themselves (ERC-165); an ERC-20 is a
// contract that knows its decimals, its supply and a balance.
func (p *probe) standard(contract common.Address) (store.Standard, bool) {
	if p.supports(contract, interfaceItself) && !p.supports(contract, interfaceNone) {
		if p.supports(contract, interface721) {
			return store.ERC721, true
		}
		if p.supports(contract, interface1155) {
			return store.ERC1155, true
		}
	}
	decimals, ok := p.number(contract, askDecimals)
	if !ok || len(decimals) > 1 {
		return 0, false
	}
	_, supply := p.number(contract, askSupply)
	_, balance := p.number(contract, askBalance, nil)
	return store.ERC20, supply && balance
}

// token reads what a token says of itself; what it does not say stays empty.
func (p *probe) token(contract common.Address, s store.Standard) store.Token {
	t := store.Token{Address: bytes.Clone(contract[:])}
	t.Name, _ = p.text(contract, askName)
	t.Symbol, _ = p.text(contract, askSymbol)
	if s == store.ERC20 {
		decimals, _ := p.number(contract, askDecimals)
		t.Decimals = int(new(big.Int).SetBytes(decimals).Int64())
	}
	return t
}

// tail reads the dynamic value whose offset is the word at index head; size is how many bytes one of its elements has.
func tail(data []byte, head, size int) ([]byte, bool) {
	offset, ok := length(data, 32*head)
	if !ok {
		return nil, false
	}
	count, ok := length(data, offset)
	if !ok || count > (len(data)-offset-32)/size {
		return nil, false
	}
	return data[offset+32:][:count*size], true
}

// length reads the word at an offset as a number that is no larger than the data.
func length(data []byte, at int) (int, bool) {
	if at < 0 || at > len(data)-32 {
		return 0, false
	}
	n := new(uint256.Int).SetBytes(data[at : at+32])
	if !n.IsUint64() || n.Uint64() > uint64(len(data)) {
		return 0, false
	}
	return int(n.Uint64()), true
}
