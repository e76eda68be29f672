package etherscan

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestBalances compares balances after some blocks, and now, with the state.
func TestBalances(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		random := rand.New(rand.NewPCG(3, s.chain.Row.EVMID))
		balance := func(a common.Address, block uint64) string {
			state, err := s.chain.State(t.Context(), h.blocks[block])
			s.check(err)
			return state.GetBalance(a).String()
		}
		const query = "module=account&action=balance&address="
		for _, a := range h.addresses {
			block, now := random.Uint64N(h.head()+1), balance(a, h.head())
			for _, at := range []string{"", "&tag=latest", "&tag=pending", fmt.Sprintf("&blockno=%d", h.head()+5)} {
				s.want(query+a.Hex()+at, now)
			}
			then := balance(a, block)
			s.want(fmt.Sprintf("%s%s&tag=%#x", query, a, block), then)
			s.want(fmt.Sprintf("module=account&action=balancehistory&address=%s&blockno=%d&tag=latest", a, block), then)
			s.want(query+a.Hex()+"&tag=earliest", balance(a, 0))
		}
		if len(h.addresses) < 20 {
			t.Fatal("few addresses")
		}
		block := h.head() / 2
		var names []string
		var then, now []row
		for _, a := range h.addresses[:20] {
			names = append(names, a.Hex())
			then = append(then, row{"account": a.Hex(), "balance": balance(a, block)})
			now = append(now, row{"account": a.Hex(), "balance": balance(a, h.head())})
		}
		const multi = "module=account&action=balancemulti&address="
		s.want(multi+strings.Join(names, ",%20"), now)
		s.want(fmt.Sprintf("%s%s&tag=%d", multi, strings.Join(names, ","), block), then)
		s.rejects(multi+strings.Join(append(names, names[0]), ","), "Error! Maximum of 20 addresses in a single batch")
		s.rejects(multi+names[0]+","+names[1][2:], "Error! Invalid multi address format")
		s.rejects(multi, "Error! Invalid multi address format")
		s.rejects(multi+names[0]+"&tag=x", "Error! Invalid block number")
	})
}

// held adds up what everyone has of each token after a block, by its transfers; a wrapped native token has deposits and withdrawals besides.
func (h *history) held(id store.TokenID, block uint64) map[common.Address]*big.Int {
	held := map[common.Address]*big.Int{}
	add := func(owner []byte, n *big.Int) {
		a := common.BytesToAddress(owner)
		if held[a] == nil {
			held[a] = new(big.Int)
		}
		held[a].Add(held[a], n)
	}
	for i := range h.transfers {
		if x := &h.transfers[i]; x.Asset.Token() == id && x.ID.Number() <= block {
			n := new(big.Int).SetBytes(x.Amount)
			add(x.Recipient, n)
			add(x.Sender, n.Neg(n))
		}
	}
	deposit, withdrawal := crypto.Keccak256Hash([]byte("Deposit(address,uint256)")), crypto.Keccak256Hash([]byte("Withdrawal(address,uint256)"))
	for _, tx := range h.txs {
		for _, l := range tx.Logs {
			if l.BlockNumber <= block && bytes.Equal(l.Address[:], h.tokens[id].Address) {
				switch n := new(big.Int).SetBytes(l.Data); l.Topics[0] {
				case deposit:
					add(l.Topics[1][12:], n)
				case withdrawal:
					add(l.Topics[1][12:], n.Neg(n))
				}
			}
		}
	}
	delete(held, common.Address{})
	return held
}

type holding struct {
	owner  common.Address
	amount *big.Int
}

func (h *history) holders(id store.TokenID) (all []holding) {
	for owner, n := range h.held(id, h.head()) {
		if n.Sign() != 0 {
			all = append(all, holding{owner, n})
		}
	}
	slices.SortFunc(all, func(a, b holding) int { return cmp.Or(b.amount.Cmp(a.amount), a.owner.Cmp(b.owner)) })
	return all
}

// sorted lists the tokens of a standard as the index counts them.
func (h *history) sorted(standard store.Standard) (all []*store.Token) {
	for id, token := range h.tokens {
		if id.Standard() == standard {
			all = append(all, token)
		}
	}
	slices.SortFunc(all, func(a, b *store.Token) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// TestTokenBalances compares balances of tokens after some blocks, and now, with sums over the transfers.
func TestTokenBalances(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		random := rand.New(rand.NewPCG(4, s.chain.Row.EVMID))
		unknown := common.Address{1, 2, 3}
		tokens := map[common.Address][]row{}
		for _, token := range slices.Concat(h.sorted(store.ERC20), h.sorted(store.ERC721), h.sorted(store.ERC1155)) {
			query := "module=account&action=tokenbalance&contractaddress=" + lower(token.Address) + "&address="
			block := random.Uint64N(h.head() + 1)
			then := h.held(token.ID, block)
			for owner, n := range h.held(token.ID, h.head()) {
				s.want(query+owner.Hex(), n.String())
				was := cmp.Or(then[owner], new(big.Int)).String()
				s.want(fmt.Sprintf("%s%s&tag=%d", query, owner, block), was)
				s.want(fmt.Sprintf("%s%s&blockno=%d", strings.Replace(query, "tokenbalance", "tokenbalancehistory", 1), owner, block), was)
				if token.ID.Standard() == store.ERC20 && n.Sign() > 0 {
					tokens[owner] = append(tokens[owner], row{
						"TokenAddress": lower(token.Address), "TokenName": token.Name, "TokenSymbol": token.Symbol, "TokenQuantity": n.String(), "TokenDivisor": fmt.Sprint(token.Decimals),
					})
				}
			}
			s.want(query+unknown.Hex(), "0")
		}
		s.want("module=account&action=tokenbalance&contractaddress="+unknown.Hex()+"&address="+unknown.Hex(), "0")
		for owner, want := range tokens {
			query := "module=account&action=addresstokenbalance&address=" + owner.Hex()
			s.want(query, want)
			for i := range want {
				s.want(fmt.Sprintf("%s&page=%d&offset=1", query, i+1), want[i:i+1])
			}
			s.refuses(fmt.Sprintf("%s&page=2&offset=%d", query, len(want)), "No records found", "[]")
		}
		s.refuses("module=account&action=addresstokenbalance&address="+unknown.Hex(), "No records found", "[]")
	})
}

// TestHolders lists who holds each token, the largest first, and counts them.
func TestHolders(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		for id, token := range h.tokens {
			var want []row
			for _, held := range h.holders(id) {
				want = append(want, row{"TokenHolderAddress": low(held.owner), "TokenHolderQuantity": held.amount.String()})
			}
			of := "&contractaddress=" + lower(token.Address)
			s.want("module=token&action=tokenholdercount"+of, fmt.Sprint(len(want)))
			s.want("module=stats&action=tokenholdercount"+of, fmt.Sprint(len(want)))
			if len(want) == 0 {
				s.refuses("module=token&action=topholders"+of, "No token holder found", "[]")
				continue
			}
			s.want("module=token&action=topholders"+of, want)
			for from := 0; from < len(want); from += 3 {
				s.want(fmt.Sprintf("module=token&action=tokenholderlist&page=%d&offset=3%s", from/3+1, of), want[from:min(from+3, len(want))])
			}
			s.refuses(fmt.Sprintf("module=token&action=tokenholderlist&page=2&offset=%d%s", len(want), of), "No token holder found", "[]")
		}
		for _, action := range []string{"token&action=tokenholdercount", "stats&action=tokenholdercount", "token&action=tokenholderlist", "token&action=topholders", "token&action=tokeninfo"} {
			s.rejects("module="+action+"&contractaddress="+nobody, "Error! There is no token at the contract address")
		}
	})
}

// call asks a contract for a number after a block.
func (s *scanner) call(b *reader.Block, contract []byte, input hexutil.Bytes) *big.Int {
	s.Helper()
	to := common.BytesToAddress(contract)
	result, err := s.chain.Call(s.Context(), b, &reader.Call{To: &to, Input: &input}, reader.Overrides{})
	s.check(err)
	if result.Failed() || len(result.ReturnData) != 32 {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(result.ReturnData)
}

// TestSupplies: an ERC-20's supply is what all have of it, then as now; a contract that tells none has 0. The native supply adds up all accounts.
func TestSupplies(t *testing.T) {
	reading(t).each(func(s *scanner, h *history) {
		random := rand.New(rand.NewPCG(5, s.chain.Row.EVMID))
		input := crypto.Keccak256([]byte("totalSupply()"))[:4]
		told := 0
		for _, token := range h.tokens {
			block := random.Uint64N(h.head() + 1)
			for query, at := range map[string]uint64{
				"tokensupply": h.head(), fmt.Sprintf("tokensupply&tag=%#x", block): block, fmt.Sprintf("tokensupplyhistory&blockno=%d", block): block,
				fmt.Sprintf("tokensupply&tag=%d", h.head()+9): h.head(),
			} {
				want := s.call(h.blocks[at], token.Address, input)
				if token.ID.Standard() == store.ERC20 {
					sum := new(big.Int)
					for _, n := range h.held(token.ID, at) {
						sum.Add(sum, n)
					}
					if told++; want.Cmp(sum) != 0 {
						s.Errorf("%s tells a supply of %s, its holders have %s", token.Symbol, want, sum)
					}
				}
				s.want("module=stats&action="+query+"&contractaddress="+lower(token.Address), want.String())
			}
		}
		if told < 20 {
			s.Errorf("%d supplies", told)
		}
		s.want("module=stats&action=tokensupply&contractaddress="+nobody, "0")
		state, err := s.chain.State(t.Context(), h.blocks[h.head()])
		s.check(err)
		sum := new(big.Int)
		for _, a := range h.addresses {
			sum.Add(sum, state.GetBalance(a).ToBig())
		}
		s.want("module=stats&action=ethsupply", sum.String())
		s.want("module=stats&action=avaxsupply", sum.String())
	})
}

// TestSuppliesThatAreNone: a contract that reverts, or returns something else than one number, has no supply.
func TestSuppliesThatAreNone(t *testing.T) {
	s := writing(t)
	m, contract := s.world.MinerOf(s.chain), common.HexToAddress(nobody)
	for code, want := range map[string]string{
		"60075f5260205ff3": "7", "60075f5260205ffd": "0", "60075f5260405ff3": "0", "60075f52601f5ff3": "0", "fe": "0", "00": "0",
	} {
		s.check(m.SetCode(t.Context(), contract, common.FromHex(code)))
		s.want("module=stats&action=tokensupply&contractaddress="+nobody, want)
	}
}
