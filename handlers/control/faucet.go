package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/parse"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Faucet pays any account by ordinary transactions of personas.
type Faucet interface {
	// PayEVM pays wei on an EVM chain, or the smallest unit of the ERC-20 at an address. It returns the payer and the transaction's hash.
	PayEVM(ctx context.Context, c *reader.Chain, token *common.Address, to common.Address, amount *big.Int) (from common.Address, hash common.Hash, err error)
	// PayPrimary pays an asset on the P- or X-Chain, in its smallest unit, or exports AVAX from the X-Chain to an owner on the C-Chain.
	PayPrimary(ctx context.Context, n *sim.Network, chain txs.Chain, asset ids.ID, to ids.ShortID, amount uint64) (from ids.ShortID, tx ids.ID, err error)
}

// dry is a faucet's error when no payer has enough.
type dry interface {
	error
	Most() *big.Int // the balance of the richest payer
}

// FaucetRequest is the body of POST /sim/faucet.
type FaucetRequest struct {
	Address string       `json:"address" doc:"0x and 40 hexadecimal digits for an EVM chain, or bech32 such as P-avax1… or X-fuji1…."`
	Chain   string       `json:"chain,omitempty" doc:"C, P or X, or with a network as in fuji/P; or an L1's name, EVM chain id or blockchain id. Default: the chain of the address; mainnet's C-Chain for 0x."`
	Token   string       `json:"token,omitempty" doc:"Role, symbol or address of an ERC-20; on P and X, id, symbol or name of an asset of the X-Chain. Default: the chain's own coin, AVAX on C, P and X."`
	Amount  FaucetAmount `json:"amount,omitempty" doc:"In whole coins or tokens, such as 2.5. Default: 1."`
}

// FaucetAmount is a decimal number, as a text or as a number.
type FaucetAmount string

// UnmarshalJSON reads both forms.
func (a *FaucetAmount) UnmarshalJSON(raw []byte) error {
	*a = FaucetAmount(strings.Trim(string(raw), `"`))
	return nil
}

// Schema describes both forms. The operation checks the digits, because the bounds depend on the token.
func (FaucetAmount) Schema(*schema.Schemas) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{{Type: "string"}, {Type: "number"}}}
}

// FaucetPayment is the answer of POST /sim/faucet.
type FaucetPayment struct {
	Network  string `json:"network"`
	Chain    string `json:"chain" doc:"P, X, C or an L1's name."`
	ChainID  string `json:"chainId,omitempty" doc:"EVM chain id."`
	From     string `json:"from" doc:"Address of the persona that paid."`
	To       string `json:"to"`
	Amount   string `json:"amount" doc:"In the smallest unit: wei, nAVAX or the token's."`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
	Token    string `json:"token,omitempty" doc:"Address of the ERC-20, or id of the X-Chain's asset."`
	TxHash   string `json:"txHash" doc:"Hash on an EVM chain, id on P and X."`
	Status   string `json:"status" enum:"accepted,pending" doc:"pending if the chain does not mine by itself now: call evm_mine to make the block."`
	Block    string `json:"block,omitempty" doc:"Number of the block that contains the transaction."`
	Page     string `json:"explorerUrl,omitempty" doc:"Page about the transaction, once it is in a block."`
	Note     string `json:"note,omitempty" doc:"What the recipient must still do to own the payment."`
}

// Limits of a faucet that anyone may reach.
const (
	mostPublic   = 10 // coins or tokens per payment
	publicTimes  = 10 // payments per client and period
	publicPeriod = time.Hour
)

// faucetAPI implements the faucet.
type faucetAPI struct {
	world  *sim.World
	faucet Faucet
	permit *permit.Rule
	public *rest.Allowance
}

// RegisterFaucet registers the faucet.
func RegisterFaucet(s *rest.Server, w *sim.World, f Faucet, rule *permit.Rule) error {
	a := &faucetAPI{w, f, rule, rest.NewAllowance(publicTimes, publicPeriod, "payments per hour")}
	return s.Register(rest.Sim, rest.Operation{ID: "requestFunds", Method: http.MethodPost, Path: "/sim/faucet", Summary: "Pay any account on any chain from the faucet",
		Doc: "Pays with an ordinary transaction of the persona ewoq, whale or deployer, or of any persona for an asset of the X-Chain other than AVAX: the first that has enough or may mint it. Example: {\"address\":\"P-avax1…\",\"amount\":\"25\"}. " +
			fmt.Sprintf("A server beyond loopback without --allow-control pays at most %d coins or tokens at a time, %d times an hour to each client. ", mostPublic, publicTimes) +
			"An address C-avax1… gets an export from the X-Chain, which avax.import completes.",
		Body: reflect.TypeFor[FaucetRequest](), Strict: true, Class: permit.Payment, Answer: reflect.TypeFor[FaucetPayment](), Handle: a.pay})
}

// payee is the recipient of a payment, and its chain.
type payee struct {
	network *sim.Network
	evm     *reader.Chain // nil on P, X, and for an export to the C-Chain
	primary txs.Chain
	account common.Address
	owner   ids.ShortID
}

func (a *faucetAPI) pay(r *rest.Request) (any, error) {
	body := rest.Body[FaucetRequest](r)
	to, err := a.payee(body.Address, body.Chain)
	if err != nil {
		return nil, err
	}
	if a.world.DB.ReadOnly() {
		return nil, store.ErrReadOnly
	}
	paid := &FaucetPayment{Network: to.network.Name, Symbol: "AVAX", Decimals: 9}
	var token *common.Address
	var asset ids.ID
	if to.evm != nil {
		token, err = a.describe(r.Context(), to.evm, body.Token, paid)
	} else {
		asset, err = a.asset(r.Context(), to, body.Token, paid)
	}
	if err != nil {
		return nil, err
	}
	amount, err := amountOf(string(body.Amount), paid.Decimals)
	if err != nil {
		return nil, rest.BadRequest("amount: " + err.Error())
	}
	paid.Amount = amount.String()
	if a.permit.Public() {
		if most := inUnits(mostPublic, paid.Decimals); amount.Cmp(most) > 0 {
			return nil, rest.BadRequest(fmt.Sprintf("amount: this server is public and pays at most %d %s at a time; start it with --allow-control to pay more", mostPublic, paid.Symbol))
		}
		if err := a.public.Spend(r); err != nil {
			return nil, err
		}
	}
	if to.evm != nil {
		return paid, a.payEVM(r, to, token, amount, paid)
	}
	return paid, a.payPrimary(r, to, asset, amount, paid)
}

func (a *faucetAPI) payEVM(r *rest.Request, to *payee, token *common.Address, amount *big.Int, paid *FaucetPayment) error {
	from, hash, err := a.faucet.PayEVM(r.Context(), to.evm, token, to.account, amount)
	if err != nil {
		return a.refused(r.Context(), err, paid)
	}
	paid.From, paid.To, paid.TxHash, paid.Status = from.Hex(), to.account.Hex(), hash.Hex(), "pending"
	t, err := to.evm.Transaction(r.Context(), hash)
	if errors.Is(err, store.ErrNotFound) {
		paid.Note = "It waits in the pool, because the chain mines no blocks by itself now: evm_mine makes the block."
		return nil
	}
	if err != nil {
		return err
	}
	if t.Row.Status == 0 {
		return rest.Conflict(fmt.Sprintf("transaction %s of the faucet failed in block %d", hash.Hex(), t.Block.Number))
	}
	paid.Status, paid.Block, paid.Page = "accepted", decimal(t.Block.Number), r.BaseURL()+"/sim/explorer/"+paid.ChainID+"/tx/"+hash.Hex()
	return nil
}

func (a *faucetAPI) payPrimary(r *rest.Request, to *payee, asset ids.ID, amount *big.Int, paid *FaucetPayment) error {
	if !amount.IsUint64() {
		return rest.BadRequest(fmt.Sprintf("amount: no output holds that much %s", paid.Symbol))
	}
	from, id, err := a.faucet.PayPrimary(r.Context(), to.network, to.primary, asset, to.owner, amount.Uint64())
	if err != nil {
		return a.refused(r.Context(), err, paid)
	}
	in, rules := to.primary, to.network.Rules
	if to.primary == txs.CChain {
		in, paid.Note = txs.XChain, "The X-Chain exported it to this address: its owner imports it with avax.import or a signed ImportTx."
	}
	row, err := a.world.DB.PrimaryTxByHash(r.Context(), to.network.Chain(in), id[:])
	if err != nil {
		return err
	}
	paid.From, paid.To, paid.TxHash, paid.Status = rules.Address(in, from), rules.Address(to.primary, to.owner), id.String(), "accepted"
	paid.Block, paid.Page = decimal(row.ID.Number()), r.BaseURL()+"/"+strings.ToLower(in.String())+"/"+to.network.Name+"/tx/"+id.String()
	return nil
}

// refused tells the client why a payment was not made.
func (a *faucetAPI) refused(ctx context.Context, err error, paid *FaucetPayment) error {
	if store.Internal(err) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrDisk) || ctx.Err() != nil {
		return err
	}
	if empty, ok := errors.AsType[dry](err); ok {
		left := new(big.Rat).SetFrac(empty.Most(), inUnits(1, paid.Decimals)).FloatString(paid.Decimals)
		if strings.Contains(left, ".") {
			left = strings.TrimRight(strings.TrimRight(left, "0"), ".")
		}
		return rest.Conflict(fmt.Sprintf("the faucet does not have enough %s here for this amount and the fee: its richest payer has %s", paid.Symbol, left))
	}
	return rest.Conflict("the chain refuses the faucet's transaction: " + err.Error())
}

// payee reads the address and the chain.
func (a *faucetAPI) payee(text, chain string) (*payee, error) {
	if account, isHex := strings.CutPrefix(text, "0x"); isHex {
		if !common.IsHexAddress(account) {
			return nil, rest.BadRequest(fmt.Sprintf("address: %.80q does not have 40 hexadecimal digits", text))
		}
		return a.onEVM(common.HexToAddress(account), chain)
	}
	alias, hrp, raw, err := parse.Address(text)
	if err != nil && !strings.Contains(text, "-") {
		alias = ""
		hrp, raw, err = parse.Bech32(text)
	}
	var owner ids.ShortID
	if err == nil {
		owner, err = ids.ToShortID(raw)
	}
	if err != nil {
		return nil, rest.BadRequest(fmt.Sprintf("address: %.80q is neither 0x and 40 hexadecimal digits nor bech32 such as P-avax1…: %v", text, err))
	}
	i := slices.IndexFunc(a.world.Networks, func(n *sim.Network) bool { return n.Rules.HRP == hrp })
	if i < 0 {
		return nil, rest.BadRequest(fmt.Sprintf("address: no network here has addresses that begin with %.40s1: mainnet has avax1, fuji has fuji1", hrp))
	}
	to := &payee{network: a.world.Networks[i], owner: owner}
	if chain == "" {
		if alias == "" {
			return nil, rest.BadRequest(fmt.Sprintf("chain: give P or X, with the network in front as in fuji/P, because %.80q names none", text))
		}
		chain = to.network.Name + "/" + alias
	}
	network, named, err := a.onPrimary(chain)
	switch {
	case err != nil:
		return nil, err
	case alias != "" && alias != named.String():
		return nil, rest.BadRequest(fmt.Sprintf("address: %.80q is not an address of the %s-Chain", text, named))
	case network != to.network:
		return nil, rest.BadRequest(fmt.Sprintf("address: %.80q is an address on %s, but the chain is on %s", text, to.network.Name, network.Name))
	}
	to.primary = named
	return to, nil
}

// onPrimary finds the chain of an address in bech32.
func (a *faucetAPI) onPrimary(name string) (*sim.Network, txs.Chain, error) {
	network, letter, found := strings.Cut(name, "/")
	if !found {
		network, letter = fixtures.Networks[0].Name, name
	}
	if network == "testnet" {
		network = fixtures.FujiName
	}
	if n := a.world.NetworkNamed(network); n != nil {
		for _, c := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			if c.String() == letter {
				return n, c, nil
			}
		}
	}
	return nil, 0, rest.BadRequest(fmt.Sprintf("chain: %.40q has no addresses in bech32; P, X, fuji/P and fuji/X do", name))
}

// onEVM finds the chain of an account.
func (a *faucetAPI) onEVM(account common.Address, name string) (*payee, error) {
	name = cmp.Or(name, "C")
	c := a.world.ChainNamed(name)
	if c == nil {
		var err error
		if c, err = ChainNamed(a.world, strings.Replace(name, "testnet/", "fuji/", 1)); err != nil {
			if letter := name[len(name)-1:]; letter == "P" || letter == "X" {
				return nil, rest.BadRequest(fmt.Sprintf("address: the %s-Chain has addresses in bech32 such as %[1]s-avax1…, not in hexadecimal", letter))
			}
			return nil, rest.BadRequest("chain: " + err.Error())
		}
	}
	return &payee{network: a.world.NetworkOf(c), evm: c, account: account}, nil
}

// describe finds the coin or token of a payment on an EVM chain, and describes it. It returns no address for the chain's own coin.
func (a *faucetAPI) describe(ctx context.Context, c *reader.Chain, name string, paid *FaucetPayment) (*common.Address, error) {
	paid.ChainID, paid.Chain, paid.Symbol, paid.Decimals = decimal(c.Row.EVMID), c.Row.Name, c.Row.TokenSymbol, 18
	if c.Kind == evm.KindC {
		paid.Chain = "C"
	}
	if name == "" || strings.EqualFold(name, c.Row.TokenSymbol) {
		return nil, nil
	}
	t, err := a.token(ctx, c, name)
	if err != nil {
		return nil, err
	}
	address := common.BytesToAddress(t.Address)
	paid.Symbol, paid.Decimals, paid.Token = t.Symbol, t.Decimals, address.Hex()
	return &address, nil
}

// token finds an ERC-20 by its address, its role or its symbol.
func (a *faucetAPI) token(ctx context.Context, c *reader.Chain, name string) (*store.Token, error) {
	if common.IsHexAddress(name) {
		address := common.HexToAddress(name)
		t, err := a.world.DB.TokenAt(ctx, c.Row.ID, address[:])
		if errors.Is(err, store.ErrNotFound) {
			return nil, rest.BadRequest(fmt.Sprintf("token: %s is not a known token of chain %d", address.Hex(), c.Row.EVMID))
		}
		if err == nil && t.ID.Standard() != store.ERC20 {
			err = rest.BadRequest(fmt.Sprintf("token: %s is an %s; the faucet pays ERC-20s", address.Hex(), t.ID.Standard()))
		}
		return t, err
	}
	contracts, err := a.world.DB.Contracts(ctx, c.Row.ID)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(contracts, func(k store.Contract) bool { return strings.EqualFold(k.Role, name) }); i >= 0 {
		t, err := a.world.DB.TokenAt(ctx, c.Row.ID, contracts[i].Address)
		if err == nil && t.ID.Standard() == store.ERC20 || err != nil && !errors.Is(err, store.ErrNotFound) {
			return t, err
		}
	}
	all, err := listedTokens(ctx, a.world, c)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t store.Token) bool { return !strings.EqualFold(t.Symbol, name) })
	switch len(all) {
	case 0:
		return nil, rest.BadRequest(fmt.Sprintf("token: chain %d has no ERC-20 %.40q; /sim/tokenlist.json lists them", c.Row.EVMID, name))
	case 1:
		return &all[0], nil
	}
	return nil, rest.BadRequest(fmt.Sprintf("token: %d ERC-20s of chain %d are called %.40q; give the address, such as %s", len(all), c.Row.EVMID, name,
		some(all, " or ", func(t store.Token) string { return common.BytesToAddress(t.Address).Hex() })))
}

// asset finds the asset of the X-Chain that a payment is in by its id, symbol or name, and describes it.
func (a *faucetAPI) asset(ctx context.Context, to *payee, name string, paid *FaucetPayment) (ids.ID, error) {
	paid.Chain = to.primary.String()
	avax := to.network.Rules.AVAXAssetID
	if name == "" || strings.EqualFold(name, paid.Symbol) || name == avax.String() {
		return avax, nil
	}
	if to.primary == txs.CChain {
		return avax, rest.BadRequest("token: the C-Chain imports only AVAX; an address 0x… gets ERC-20s")
	}
	all, err := a.world.DB.Assets(ctx, to.network.Chain(txs.XChain))
	if err != nil {
		return avax, err
	}
	named := slices.DeleteFunc(slices.Clone(all), func(row store.PrimaryAsset) bool {
		return ids.ID(row.Hash).String() != name && !strings.EqualFold(row.Symbol, name) && !strings.EqualFold(row.Name, name)
	})
	switch len(named) {
	case 0:
		return avax, rest.BadRequest(fmt.Sprintf("token: the X-Chain of %s has no asset %.60q; it has %s", to.network.Name, name,
			some(all, ", ", func(row store.PrimaryAsset) string { return row.Symbol })))
	case 1:
	default:
		return avax, rest.BadRequest(fmt.Sprintf("token: %d assets of the X-Chain of %s are called %.60q; give the id, such as %s", len(named), to.network.Name, name,
			some(named, " or ", func(row store.PrimaryAsset) string { return ids.ID(row.Hash).String() })))
	}
	row, id := named[0], ids.ID(named[0].Hash)
	if !row.Fungible() {
		return avax, rest.BadRequest(fmt.Sprintf("token: %s has NFTs and properties only; the faucet pays amounts", row.Name))
	}
	paid.Symbol, paid.Decimals = row.Symbol, int(row.Denomination)
	if id != avax {
		paid.Token = id.String()
	}
	return id, nil
}

var faucetDecimal = schema.Shape(`^[0-9]{1,80}(\.[0-9]{1,80})?$`)

// amountOf converts an amount of whole coins to the smallest unit; an empty text means one coin.
func amountOf(text string, decimals int) (*big.Int, error) {
	text = cmp.Or(text, "1")
	if !faucetDecimal().MatchString(text) {
		return nil, fmt.Errorf("%.80s is not allowed: expected a decimal number above 0, such as 2.5", text)
	}
	whole, part, _ := strings.Cut(text, ".")
	part = strings.TrimRight(part, "0")
	if len(part) > decimals {
		return nil, fmt.Errorf("%.80s has more than %d decimals", text, decimals)
	}
	amount, _ := new(big.Int).SetString(whole+part+strings.Repeat("0", decimals-len(part)), 10)
	switch {
	case amount.Sign() == 0:
		return nil, errors.New("expected more than 0")
	case amount.BitLen() > 256:
		return nil, fmt.Errorf("%.80s is more than any token has", text)
	}
	return amount, nil
}

// some names a few of a list.
func some[T any](all []T, or string, name func(T) string) string {
	var names []string
	for _, one := range all[:min(len(all), 5)] {
		names = append(names, name(one))
	}
	return strings.Join(names, or)
}

// inUnits converts whole coins to the smallest unit.
func inUnits(coins int64, decimals int) *big.Int {
	return new(big.Int).Mul(big.NewInt(coins), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}
