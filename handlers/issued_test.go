// Transactions of P and X from a client to every interface of a server, and to verify.

package handlers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/sim/signing"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
	"snowglobe/sim/warp"
)

var firstOwner = &txs.Input{SigIndices: []uint32{0}}

// TestIssuedTransactionsOfTheChains sends every type of transaction that the P-Chain accepts, and X-Chain transfers, to both networks. Every
// interface shows each at once, and the world verifies.
func TestIssuedTransactionsOfTheChains(t *testing.T) {
	t.Parallel()
	world := tinyWorld(t)
	h, err := handlers.New(world, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range world.Networks {
		if testing.Short() && i > 0 {
			t.Log("left out of a short run: the other worlds")
			break
		}
		w := (&views{t, world, h, n}).wallet("whale")
		w.transfers()
		w.atomics()
		w.staking()
		subnet := w.subnets()
		w.conversion(subnet)
		w.managers()
		w.compareStakers()
		w.compareL1Validators()
		w.compareNetwork()
		if testing.Short() {
			w.Log("left out of a short run: the comparison of blocks and histories")
		} else {
			w.compareBlocks()
			w.compareHistory()
			w.compareOwners()
		}
	}
	session := ask(h, http.MethodGet, "/sim/session", "")
	for _, want := range []string{"sends 3 AVAX to bob\\n", "exports 5 AVAX to whale on X", "imports 5 AVAX from P", "exports 2 AVAX to whale on P", "exports 1 AVAX to whale on C", "imports 1 AVAX from P", "stakes [0-9.]+ AVAX with NodeID-[A-Za-z0-9]+ until 20[0-9T:-]+Z", "delegates 25 AVAX to NodeID-", "issues CreateSubnetTx"} {
		if !regexp.MustCompile(`\nissue 0x[0-9a-f]+ on [PXC] # whale ` + want).MatchString(session) {
			t.Errorf("the session has no %s", want)
		}
	}
	verifytest.Sound(t, world)
}

func (w *wallet) balance(c txs.Chain) uint64 {
	_, total := w.spendable(c, "")
	return total
}

// transfers moves value within the P-Chain, to the X-Chain and back.
func (w *wallet) transfers() {
	w.Helper()
	base := w.spend(txs.PChain, 0, txs.NewTransferableOutput(w.l.Rules.AVAXAssetID, 3*nAVAX, *w.wallet("bob").owner()))
	paid := w.issue(txs.PChain, &base)
	if said := w.say(txs.PChain, paid); said != fmt.Sprintf("couldn't issue tx: failed verification: failed execution: standard tx %s failed execution: failed to read consumed UTXO %s:%d due to: not found",
		paid.ID(), base.Ins[0].TxID, base.Ins[0].OutputIndex) {
		w.Errorf("the second time: %s", said)
	}
	before := w.balance(txs.XChain)
	out := &txs.ExportTx{BaseTx: w.spend(txs.PChain, 5*nAVAX), DestinationChain: w.l.Rules.XChainID, ExportedOutputs: []*txs.TransferableOutput{w.output(5 * nAVAX)}}
	w.issue(txs.PChain, out)
	w.issue(txs.XChain, w.importTx(txs.XChain, "P", ids.Empty))
	if after := w.balance(txs.XChain); after != before+5*nAVAX-nAVAX/100 {
		w.Errorf("X has %d after %d", after, before)
	}
	back := &txs.ExportTx{BaseTx: w.spend(txs.XChain, 2*nAVAX), DestinationChain: ids.Empty, ExportedOutputs: []*txs.TransferableOutput{w.output(2 * nAVAX)}}
	w.issue(txs.XChain, back)
	w.issue(txs.PChain, w.importTx(txs.PChain, "X", w.l.Rules.XChainID))
	w.issue(txs.PChain, &txs.ExportTx{BaseTx: w.spend(txs.PChain, nAVAX), DestinationChain: w.l.Rules.CChainID, ExportedOutputs: []*txs.TransferableOutput{w.output(nAVAX)}})
	if _, total := w.spendable(txs.CChain, "P"); total < nAVAX {
		w.Errorf("%d is on its way to C", total)
	}
	gone := w.importedTwice(back)
	w.refused("{tx}failed to get shared memory: not found", gone)
}

// importedTwice imports the same export a second time.
func (w *wallet) importedTwice(exported *txs.ExportTx) *txs.ImportTx {
	w.Helper()
	tx := &txs.Tx{Unsigned: exported}
	if err := tx.Sign(txs.XChain, nil); err != nil {
		w.Fatal(err)
	}
	in := &txs.TransferableInput{UTXOID: txs.UTXOID{TxID: tx.ID(), OutputIndex: 1}, AssetID: w.l.Rules.AVAXAssetID,
		In: &txs.TransferInput{Amount: 2 * nAVAX, Input: *firstOwner}}
	again := &txs.ImportTx{BaseTx: w.empty(txs.PChain), SourceChain: w.l.Rules.XChainID, ImportedInputs: []*txs.TransferableInput{in}}
	again.Outs = append(again.Outs, w.output(nAVAX))
	return again
}

// cChain reads a number from the C-Chain.
func (w *wallet) cChain(method string, params ...any) *big.Int {
	w.Helper()
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings
	answer := w.decode(method, ask(w.h, http.MethodPost, "/"+w.l.Name+"/ext/bc/C/rpc", string(body)))
	n, ok := new(big.Int).SetString(fmt.Sprint(answer["result"]), 0)
	if !ok {
		w.Fatalf("%s answers %v", method, answer)
	}
	return n
}

// atomics imports exported funds to the C-Chain, and exports from there to the X-Chain and the P-Chain.
func (w *wallet) atomics() {
	w.Helper()
	account := w.key.EVMAddress()
	ins, total := w.spendable(txs.CChain, "P")
	in := &txs.AtomicImportTx{NetworkID: w.l.Rules.NetworkID, BlockchainID: w.l.Rules.CChainID, SourceChain: ids.Empty, ImportedInputs: ins,
		Outs: []txs.EVMOutput{{Address: account, Amount: total - nAVAX/100, AssetID: w.l.Rules.AVAXAssetID}}}
	before := w.cChain("eth_getBalance", account, "latest")
	w.atomic(in)
	gained := new(big.Int).Sub(w.cChain("eth_getBalance", account, "latest"), before)
	if want := new(big.Int).Mul(new(big.Int).SetUint64(total-nAVAX/100), big.NewInt(1e9)); gained.Cmp(want) != 0 {
		w.Errorf("the account has %d more, want %d", gained, want)
	}
	w.refusedAtomic(fmt.Sprintf("failed to fetch import UTXOs from %s due to: not found", ids.Empty), in)
	out := func(to ids.ID, nonce uint64, fee uint64) *txs.AtomicExportTx {
		return &txs.AtomicExportTx{NetworkID: w.l.Rules.NetworkID, BlockchainID: w.l.Rules.CChainID, DestinationChain: to,
			Ins: []txs.EVMInput{{Address: account, Amount: nAVAX + fee, AssetID: w.l.Rules.AVAXAssetID, Nonce: nonce}}, ExportedOutputs: []*txs.TransferableOutput{w.output(nAVAX)}}
	}
	for chain, to := range []ids.ID{ids.Empty, w.l.Rules.XChainID} {
		nonce := w.cChain("eth_getTransactionCount", account, "latest").Uint64()
		w.refusedAtomic("invalid nonce", out(to, nonce+1, nAVAX/100))
		w.refusedAtomic("export tx flow check failed due to: insufficient funds", out(to, nonce, 0))
		w.refusedAtomic("tx has wrong chain ID", out(w.l.Rules.CChainID, nonce, nAVAX/100))
		w.atomic(out(to, nonce, nAVAX/100))
		if next := w.cChain("eth_getTransactionCount", account, "latest").Uint64(); next != nonce+1 {
			w.Errorf("the nonce is %d after %d", next, nonce)
		}
		had := w.balance(txs.Chain(chain))
		w.comes(txs.Chain(chain), nAVAX)
		w.issue(txs.Chain(chain), w.importTx(txs.Chain(chain), "C", w.l.Rules.CChainID))
		w.comes(txs.Chain(chain), 0)
		if have := w.balance(txs.Chain(chain)); have != had+nAVAX-nAVAX/100 {
			w.Errorf("%s has %d after %d", txs.Chain(chain), have, had)
		}
	}
	bob := w.wallet("bob")
	stolen := out(ids.Empty, 0, nAVAX/100)
	if said := bob.say(txs.CChain, bob.signAtomic(stolen)); said != "signature doesn't match public key" {
		w.Errorf("another's account: %s", said)
	}
	stolen.Ins[0] = txs.EVMInput{Address: bob.key.EVMAddress(), Amount: math.MaxUint64, AssetID: w.l.Rules.AVAXAssetID}
	bob.refusedAtomic("insufficient funds", stolen)
	w.same("status", w.rpc("bc/C/avax", "avax.getAtomicTxStatus", map[string]any{"txID": ids.ID{1}})["status"], "Unknown")
}

// comes checks that a chain can import funds from the C-Chain, by the balances of both.
func (w *wallet) comes(to txs.Chain, amount int) {
	w.Helper()
	for _, on := range []txs.Chain{to, txs.CChain} {
		other, status := w.l.Rules.CChainID, any("pendingImport")
		if on == txs.CChain {
			other = w.l.Rules.BlockchainID(to)
		}
		if on != txs.PChain {
			status = nil
		}
		sum, path := int64(0), fmt.Sprintf("/blockchains/%s-chain/balances?addresses=%s", strings.ToLower(on.String()), w.l.Rules.Bech32(w.key.Address()))
		for _, b := range objects(w.get(path)["balances"].(object)["atomicMemoryUnlocked"]) {
			if b["sharedWithChainId"] == other.String() && b["status"] == status {
				sum += integer(b["amount"])
			}
		}
		w.same(fmt.Sprintf("on its way to %s, by %s", to, on), sum, amount)
	}
}

func (w *wallet) signAtomic(unsigned txs.Unsigned) *txs.Tx {
	w.Helper()
	inputs := 1
	if u, ok := unsigned.(*txs.AtomicImportTx); ok {
		inputs = len(u.ImportedInputs)
	}
	tx := &txs.Tx{Unsigned: unsigned}
	if err := tx.Sign(txs.CChain, slices.Repeat([][]*txs.Key{{w.key}}, inputs)); err != nil {
		w.Fatal(err)
	}
	return tx
}

// atomic sends an atomic transaction of the C-Chain and finds it in every interface.
func (w *wallet) atomic(unsigned txs.Unsigned) {
	w.Helper()
	tx := w.signAtomic(unsigned)
	if said := w.say(txs.CChain, tx); said != "" {
		w.Fatalf("%s: %s", tx.TypeName(), said)
	}
	height := w.cChain("eth_blockNumber")
	status := w.rpc("bc/C/avax", "avax.getAtomicTxStatus", map[string]any{"txID": tx.ID()})
	shown := w.rpc("bc/C/avax", "avax.getAtomicTx", map[string]any{"txID": tx.ID()})
	w.same("atomic transaction", status["status"], "Accepted", status["blockHeight"], height, shown["blockHeight"], height,
		w.get("/blockchains/c-chain/transactions/" + tx.ID().String())["txType"], tx.TypeName(), w.get("/blockchains/c-chain/blocks/" + height.String())["blockNumber"], height)
}

func (w *wallet) refusedAtomic(reason string, unsigned txs.Unsigned) {
	w.Helper()
	if said := w.say(txs.CChain, w.signAtomic(unsigned)); said != reason {
		w.Errorf("%T is refused with %s, want %s", unsigned, said, reason)
	}
}

// proof returns the key of the test's own node, with its proof of possession.
func (w *wallet) proof(name string) (ids.NodeID, *txs.ProofOfPossession) {
	w.Helper()
	secret := sha256.Sum256([]byte(w.l.Name + name))
	proof, err := txs.NewProofOfPossession(warp.NewSecretKey(secret))
	if err != nil {
		w.Fatal(err)
	}
	return ids.NodeID(secret[:20]), proof
}

func (w *wallet) validator(node ids.NodeID, proof txs.Signer, days uint64, stake ...*txs.TransferableOutput) *txs.AddPermissionlessValidatorTx {
	w.Helper()
	var weight uint64
	for _, out := range stake {
		weight += txs.AmountOf(out.Out)
	}
	return &txs.AddPermissionlessValidatorTx{
		BaseTx: w.spend(txs.PChain, weight), Validator: txs.Validator{NodeID: node, End: uint64(w.world.Clock.Unix()) + days*24*3600, Weight: weight},
		Signer: proof, StakeOuts: stake, ValidationOwner: w.owner(), DelegationOwner: w.owner(), DelegationShares: 20_000,
	}
}

func (w *wallet) delegator(node ids.NodeID, days uint64, stake ...*txs.TransferableOutput) *txs.AddPermissionlessDelegatorTx {
	v := w.validator(node, nil, days, stake...)
	return &txs.AddPermissionlessDelegatorTx{BaseTx: v.BaseTx, Validator: v.Validator, StakeOuts: stake, RewardsOwner: w.owner()}
}

// staking adds a validator and a delegator to the primary network.
func (w *wallet) staking() {
	w.Helper()
	minimum := w.l.Rules.BaseStaking.MinValidatorStake
	node, proof := w.proof("a validator")
	count, weight := len(w.pages("/validators?validationStatus=active&subnetId="+ids.Empty.String(), "validators")), integer(w.rpc("bc/P", "platform.getTotalStake", nil)["weight"])
	weighed, delegators := w.newest("validatorWeight"), w.newest("delegatorCount")
	minimum = max(minimum, 100*nAVAX) // Fuji's minimum leaves no room for a delegator

	added := w.issue(txs.PChain, w.validator(node, proof, 30, w.output(minimum)))
	w.refused(fmt.Sprintf("{tx}duplicate validator: %s on %s", node, ids.Empty), w.validator(node, proof, 30, w.output(minimum)))
	delegated := w.issue(txs.PChain, w.delegator(node, 20, w.output(25*nAVAX)))

	one := objects(w.rpc("bc/P", "platform.getCurrentValidators", map[string]any{"nodeIDs": []any{node}})["validators"])
	if len(one) != 1 || one[0]["txID"] != added.ID().String() || len(objects(one[0]["delegators"])) != 1 {
		w.Errorf("getCurrentValidators: %v", one)
	}
	if shown := w.pages("/validators/"+node.String(), "validators"); len(shown) != 1 || shown[0]["validationStatus"] != "active" || shown[0]["txHash"] != added.ID().String() {
		w.Errorf("validators: %v", shown)
	}
	w.same("stake", len(w.pages("/validators?validationStatus=active&subnetId="+ids.Empty.String(), "validators")), count+1,
		w.rpc("bc/P", "platform.getTotalStake", nil)["weight"], weight+int64(minimum)+25*nAVAX)
	w.same("metrics", w.newest("validatorCount"), count+1, w.newest("validatorWeight"), weighed+int64(minimum), w.newest("delegatorCount"), delegators+1)
	w.comesBack(minimum)
	var rewards []string
	for _, r := range w.pages("/rewards:listPending?addresses="+w.l.Rules.Bech32(w.key.Address()), "pendingRewards") {
		rewards = append(rewards, fmt.Sprint(r["txHash"]))
	}
	if !slices.Contains(rewards, added.ID().String()) || !slices.Contains(rewards, delegated.ID().String()) {
		w.Errorf("pending rewards of %v", rewards)
	}
	if staked := integer(w.rpc("bc/P", "platform.getStake", map[string]any{"addresses": []string{w.address(txs.PChain)}})["staked"]); staked < int64(minimum)+25*nAVAX {
		w.Errorf("staked %d", staked)
	}
}

// newest returns the newest value of a metric of the network.
func (w *wallet) newest(metric string) int64 {
	w.Helper()
	path := "/v2/networks/" + w.l.Name + "/metrics/" + metric + "?timeInterval=day&pageSize=1"
	return integer(objects(w.decode(path, ask(w.h, http.MethodGet, path, ""))["results"])[0]["value"])
}

// comesBack lets a former validator's node validate again with another key.
func (w *wallet) comesBack(minimum uint64) {
	w.Helper()
	list := "/validators?subnetId=" + ids.Empty.String() + "&validationStatus="
	active := by(slices.Concat(w.pages(list+"active", "validators"), w.pages(list+"pending", "validators")), "nodeId")
	for _, v := range w.pages(list+"completed", "validators") {
		node, err := ids.NodeIDFromString(fmt.Sprint(v["nodeId"]))
		if err != nil {
			w.Fatal(err)
		}
		if active[node.String()] == nil {
			_, proof := w.proof("another key")
			w.issue(txs.PChain, w.validator(node, proof, 30, w.output(minimum)))
			return
		}
	}
	w.Error("no node validated before")
}

// subnets creates a subnet with a temporary validator, a change of owner and a chain.
func (w *wallet) subnets() ids.ID {
	w.Helper()
	bob := w.wallet("bob").key
	subnet := w.issue(txs.PChain, &txs.CreateSubnetTx{BaseTx: w.spend(txs.PChain, 0), Owner: w.owner()}).ID()
	node, _ := w.proof("a validator")
	add := func(node ids.NodeID, days uint64) *txs.AddSubnetValidatorTx {
		v := txs.Validator{NodeID: node, End: uint64(w.world.Clock.Unix()) + days*24*3600, Weight: 7}
		return &txs.AddSubnetValidatorTx{BaseTx: w.spend(txs.PChain, 0), Validator: txs.SubnetValidator{Validator: v, SubnetID: subnet}, SubnetAuth: firstOwner}
	}
	days := w.l.Rules.BaseStaking.MinValidationDuration/86400 + 1
	w.issue(txs.PChain, add(node, days), w.key)
	w.refused(fmt.Sprintf("{tx}attempted to issue duplicate validator for %s on subnet %s", node, subnet), add(node, days), w.key)
	validators := func() int {
		listed := objects(w.rpc("bc/P", "platform.getCurrentValidators", map[string]any{"subnetID": subnet})["validators"])
		w.same("validators of the new subnet", len(w.pages("/validators?validationStatus=active&subnetId="+subnet.String(), "validators")), len(listed))
		return len(listed)
	}
	if n := validators(); n != 1 {
		w.Errorf("%d validators of the new subnet", n)
	}
	remove := func() *txs.RemoveSubnetValidatorTx {
		return &txs.RemoveSubnetValidatorTx{BaseTx: w.spend(txs.PChain, 0), NodeID: node, SubnetID: subnet, SubnetAuth: firstOwner}
	}
	w.issue(txs.PChain, remove(), w.key)
	w.refused(fmt.Sprintf("{tx}%s isn't a current or pending validator of %s: not found", node, subnet), remove(), w.key)
	if n := validators(); n != 0 {
		w.Errorf("%d validators of the new subnet", n)
	}
	transfer := func(to *txs.Key) *txs.TransferSubnetOwnershipTx {
		owner := txs.NewOwner(to.Address())
		return &txs.TransferSubnetOwnershipTx{BaseTx: w.spend(txs.PChain, 0), SubnetID: subnet, SubnetAuth: firstOwner, Owner: &owner}
	}
	w.issue(txs.PChain, transfer(bob), w.key)
	w.same("owner", dig(w.get("/subnets/"+subnet.String()), "subnetOwnershipInfo", "addresses").([]any)[0], w.l.Rules.Bech32(bob.Address()),
		w.rpc("bc/P", "platform.getSubnet", map[string]any{"subnetID": subnet})["controlKeys"].([]any)[0], w.l.Rules.Address(txs.PChain, bob.Address()))
	w.issue(txs.PChain, transfer(w.key), bob)

	chain := w.issue(txs.PChain, &txs.CreateChainTx{BaseTx: w.spend(txs.PChain, 0), SubnetID: subnet, ChainName: "chain of a client", VMID: txs.IDOfName("a vm"),
		FxIDs: []ids.ID{}, GenesisData: []byte(`{"made":"by a client"}`), SubnetAuth: firstOwner}, w.key).ID()
	shown := w.get("/blockchains/" + chain.String())
	w.same("chain", shown["blockchainName"], "chain of a client", shown["subnetId"], subnet,
		w.rpc("bc/P", "platform.validatedBy", map[string]any{"blockchainID": chain})["subnetID"], subnet)
	return subnet
}

// conversion converts a subnet to an L1 managed by the key's C-Chain account, and changes its validators.
func (w *wallet) conversion(subnet ids.ID) {
	w.Helper()
	owner := warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{w.key.Address()}}
	node, proof := w.l.LocalNode.ID(), &txs.ProofOfPossession{PublicKey: [48]byte(w.l.LocalNode.PublicKey), ProofOfPossession: [96]byte(w.l.LocalNode.Proof)}
	convert := func(balance uint64, validators ...*txs.ConversionValidator) *txs.ConvertSubnetToL1Tx {
		return &txs.ConvertSubnetToL1Tx{BaseTx: w.spend(txs.PChain, balance), SubnetID: subnet, ChainID: w.l.Rules.CChainID,
			Address: w.key.EVMAddress().Bytes(), Validators: append([]*txs.ConversionValidator{}, validators...), SubnetAuth: firstOwner}
	}
	first := &txs.ConversionValidator{NodeID: node[:], Weight: 100, Balance: nAVAX, Signer: *proof, RemainingBalanceOwner: owner, DeactivationOwner: owner}
	conversion := w.issue(txs.PChain, convert(nAVAX, first), w.key)
	path := fmt.Sprintf("/v1/signatureAggregator/%s/aggregateSignatures/%s", w.l.Name, conversion.ID())
	if signed := w.decode(path, ask(w.h, http.MethodGet, path, "")); len(fmt.Sprint(signed["signedMessage"])) < 200 {
		w.Errorf("the conversion is signed as %v", signed)
	}
	w.refused(fmt.Sprintf("{tx}%q is immutable", subnet), convert(nAVAX, first), w.key)

	second, secondProof := w.proof("a second L1 validator")
	now := uint64(w.world.Clock.Unix())
	request := &warp.RegisterL1Validator{SubnetID: subnet, NodeID: second[:], PublicKey: secondProof.PublicKey, Expiry: now + 3600, RemainingBalanceOwner: owner, DisableOwner: owner, Weight: 10}
	register := func(message txs.HexBytes) *txs.RegisterL1ValidatorTx {
		return &txs.RegisterL1ValidatorTx{BaseTx: w.spend(txs.PChain, nAVAX), Balance: nAVAX, ProofOfPossession: secondProof.ProofOfPossession, Message: message}
	}
	registered := register(w.message(request))
	broken := slices.Clone(registered.Message)
	broken[60] ^= 1 // of the payload
	w.refused("failed verifying warp messages: signature is invalid", register(broken))
	w.issue(txs.PChain, registered)
	validation, err := request.ValidationID()
	if err != nil {
		w.Fatal(err)
	}
	w.refused(fmt.Sprintf("{tx}warp message already issued for validationID %s", validation), register(registered.Message))
	if w.validationWeight(validation) != "10" || w.validationWeight(subnet.Append(0)) != "100" {
		w.Errorf("weights %s and %s", w.validationWeight(validation), w.validationWeight(subnet.Append(0)))
	}
	weigh := func(nonce, weight uint64) *txs.SetL1ValidatorWeightTx {
		return &txs.SetL1ValidatorWeightTx{BaseTx: w.spend(txs.PChain, 0), Message: w.message(&warp.L1ValidatorWeight{ValidationID: validation, Nonce: nonce, Weight: weight})}
	}
	w.issue(txs.PChain, weigh(0, 20))
	w.refused("{tx}warp message contains stale nonce 0 must be at least 1", weigh(0, 30))
	if w.validationWeight(validation) != "20" {
		w.Errorf("weight %s", w.validationWeight(validation))
	}
	w.issue(txs.PChain, &txs.IncreaseL1ValidatorBalanceTx{BaseTx: w.spend(txs.PChain, nAVAX), ValidationID: validation, Balance: nAVAX})
	if balance := integer(w.rpc("bc/P", "platform.getL1Validator", map[string]any{"validationID": validation})["balance"]); balance < 2*nAVAX-nAVAX/10 {
		w.Errorf("balance %d", balance)
	}
	before := w.balance(txs.PChain)
	w.issue(txs.PChain, &txs.DisableL1ValidatorTx{BaseTx: w.spend(txs.PChain, 0), ValidationID: validation, DisableAuth: firstOwner}, w.key)
	if after := w.balance(txs.PChain); after < before+nAVAX {
		w.Errorf("the balance did not come home: %d after %d", after, before)
	}
	w.issue(txs.PChain, weigh(1, 0))
	w.refused("{tx}could not load L1 validator: not found", weigh(2, 5))
	last := &txs.SetL1ValidatorWeightTx{BaseTx: w.spend(txs.PChain, 0), Message: w.message(&warp.L1ValidatorWeight{ValidationID: subnet.Append(0), Nonce: 0, Weight: 0})}
	w.refused("{tx}attempting to remove the last L1 validator from a converted subnet", last)
}

// managers makes L1s whose managers are not EVM addresses: an empty one, which can never send a message, and the longest that a node accepts. All
// interfaces show their chains and validators.
func (w *wallet) managers() {
	w.Helper()
	owner := warp.PChainOwner{Threshold: 1, Addresses: []ids.ShortID{w.key.Address()}}
	node, proof := w.l.LocalNode.ID(), &txs.ProofOfPossession{PublicKey: [48]byte(w.l.LocalNode.PublicKey), ProofOfPossession: [96]byte(w.l.LocalNode.Proof)}
	for _, manager := range [][]byte{{}, bytes.Repeat([]byte{0xab}, 4096)} {
		subnet := w.issue(txs.PChain, &txs.CreateSubnetTx{BaseTx: w.spend(txs.PChain, 0), Owner: w.owner()}).ID()
		chain := w.issue(txs.PChain, &txs.CreateChainTx{BaseTx: w.spend(txs.PChain, 0), SubnetID: subnet, ChainName: "unmanaged", VMID: txs.IDOfName("a vm"),
			FxIDs: []ids.ID{}, GenesisData: []byte{1}, SubnetAuth: firstOwner}, w.key).ID()
		conversion := w.issue(txs.PChain, &txs.ConvertSubnetToL1Tx{BaseTx: w.spend(txs.PChain, nAVAX), SubnetID: subnet, ChainID: chain, Address: manager, SubnetAuth: firstOwner,
			Validators: []*txs.ConversionValidator{{NodeID: node[:], Weight: 3, Balance: nAVAX, Signer: *proof, RemainingBalanceOwner: owner, DeactivationOwner: owner}}}, w.key).ID()
		last := common.BytesToAddress(manager).Hex()
		shown := w.get("/subnets/" + subnet.String())
		details, _ := shown["l1ValidatorManagerDetails"].(object)
		transaction := w.get("/blockchains/p-chain/transactions/" + conversion.String())
		told, _ := transaction["l1ValidatorManagerDetails"].(object)
		issued, _ := w.rpc("bc/P", "platform.getTx", map[string]any{"txID": conversion, "encoding": "json"})["tx"].(object)
		unsigned, _ := issued["unsignedTx"].(object)
		node := w.rpc("bc/P", "platform.getSubnet", map[string]any{"subnetID": subnet})
		w.same("L1", shown["isL1"], true, details["blockchainId"], chain, details["contractAddress"], last, told["contractAddress"], last,
			node["managerAddress"], "0x"+hex.EncodeToString(manager), node["managerChainID"], chain,
			unsigned["address"], "0x"+hex.EncodeToString(manager))
		if weight := w.validationWeight(subnet.Append(0)); weight != "3" {
			w.Errorf("the validator of the L1 weighs %s", weight)
		}
		if listed := w.pages("/l1Validators?subnetId="+subnet.String(), "validators"); len(listed) != 1 {
			w.Errorf("the L1 has %d validators", len(listed))
		}
		w.same("blockchain", w.get("/blockchains/" + chain.String())["subnetId"], subnet)
	}
}

func (w *wallet) validationWeight(validation ids.ID) string {
	w.Helper()
	shown := w.pages("/l1Validators?includeInactiveL1Validators=true&l1ValidationId="+validation.String(), "validators")
	if len(shown) != 1 {
		w.Fatalf("%d L1 validators are called %s", len(shown), validation)
	}
	w.same("weight", shown[0]["weight"], w.rpc("bc/P", "platform.getL1Validator", map[string]any{"validationID": validation})["weight"])
	return fmt.Sprint(shown[0]["weight"])
}

// message returns a message to the P-Chain from the key's account on the C-Chain, signed by the validators of the primary network.
func (w *wallet) message(m warp.L1Message) []byte {
	w.Helper()
	unsigned, err := warp.NewL1Message(w.l.Rules.NetworkID, w.l.Rules.CChainID, w.key.EVMAddress().Bytes(), m)
	if err != nil {
		w.Fatal(err)
	}
	height, err := w.l.PHeight(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	set, err := signing.NewAggregator(w.Context(), w.l, ids.Empty, height)
	if err != nil {
		w.Fatal(err)
	}
	signed, err := set.Sign(unsigned, 67, 0)
	if err != nil {
		w.Fatal(err)
	}
	b, err := signed.Bytes()
	if err != nil {
		w.Fatal(err)
	}
	return b
}
