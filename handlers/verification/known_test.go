package verification

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/artifacts"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// TestOwnContracts compares what is known of the world's contracts with their artifacts, and the arguments with the transactions that deployed them.
func TestOwnContracts(t *testing.T) {
	s := writing(t)
	ctx, db := t.Context(), s.world.DB
	for _, c := range s.world.Chains {
		head, err := c.Head(ctx)
		s.check(err)
		data := map[common.Address][]byte{} // of the transactions that created contracts
		for n := range head.Number + 1 {
			b, err := c.Block(ctx, n)
			s.check(err)
			txs, err := c.Transactions(ctx, b)
			s.check(err)
			for _, tx := range txs {
				if tx.Row.Created != nil && tx.Row.Status == 1 {
					data[common.BytesToAddress(tx.Row.Created)] = tx.Data()
				}
			}
		}
		all, err := db.Contracts(ctx, c.Row.ID)
		s.check(err)
		created, arguments := 0, 0
		for _, row := range all {
			address := common.BytesToAddress(row.Address)
			known, err := s.Find(ctx, db, c, address)
			s.check(err)
			if known == nil || row.Artifact == "" {
				if row.Artifact != "" && !s.isProxy(c, address) {
					t.Errorf("%s is not known", row.Artifact)
				}
				continue
			}
			artifact, err := contracts.Load(row.Artifact)
			s.check(err)
			abi, err := contracts.ABI(row.Artifact)
			s.check(err)
			text := contracts.Source(row.Artifact)
			if known.Name != row.Artifact || !bytes.Equal(known.ABI, abi) || known.Language != "Solidity" || !known.Exact || known.Time != 0 || known.Settings != nil || known.Sources[known.Source] != text ||
				(known.Source != row.Artifact+".sol") != (text == "") || !strings.HasPrefix(known.Compiler, "0.") {
				t.Errorf("%s is %+v", row.Artifact, known)
			}
			input := data[address]
			if known.Created != (input != nil) || known.Created && !bytes.Equal(append(slices.Clone(artifact.Bytecode), known.Arguments...), input) || !known.Created && known.Arguments != nil {
				t.Errorf("%s was created: %t, with %x", row.Artifact, known.Created, known.Arguments)
			}
			if known.Created {
				created++
			}
			if len(known.Arguments) > 0 {
				arguments++
			}
		}
		if created < 10 || arguments < 5 || created == len(all) {
			t.Errorf("%s: transactions created %d contracts of %d, %d with arguments", c.Row.Name, created, len(all), arguments)
		}
	}
	for _, nothing := range []common.Address{alice, {1, 2, 3}} {
		if _, _, err := Code(ctx, db, s.chain, nothing); !errors.Is(err, ErrNoCode) || s.find(nothing) != nil {
			t.Errorf("%s: %v, %+v", nothing, err, s.find(nothing))
		}
	}
	s.check(s.miner.SetCode(ctx, common.Address{1, 2, 3}, []byte{0}))
	if code, _, err := Code(ctx, db, s.chain, common.Address{1, 2, 3}); err != nil || !bytes.Equal(code, []byte{0}) || s.find(common.Address{1, 2, 3}) != nil {
		t.Errorf("a contract that nobody knows: %x %v", code, err)
	}
}

func (s *service) isProxy(c *reader.Chain, address common.Address) bool {
	s.Helper()
	_, proxy, err := Implementation(s.Context(), s.world.DB, c, address)
	s.check(err)
	return proxy
}

// TestCodeThatCannotBeRead fails the request.
func TestCodeThatCannotBeRead(t *testing.T) {
	s := writing(t)
	all, err := s.world.DB.Contracts(t.Context(), s.chain.Row.ID)
	s.check(err)
	i := slices.IndexFunc(all, func(c store.Contract) bool { return c.Role == "greeter" })
	address := common.BytesToAddress(all[i].Address)
	for _, statement := range []string{"FROM account", "FROM code", "FROM deployment", "FROM tx", "FROM verified"} {
		s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, statement) })
		if c, err := s.Find(t.Context(), s.world.DB, s.chain, address); err == nil {
			t.Errorf("%s fails: %+v", statement, c)
		}
		s.world.DB.FailStatements(nil)
	}
	for _, statement := range []string{"FROM account", "FROM slot"} {
		s.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, statement) })
		if _, _, err := Implementation(t.Context(), s.world.DB, s.chain, address); err == nil {
			t.Errorf("%s fails, the implementation does not", statement)
		}
		s.world.DB.FailStatements(nil)
	}
}

// TestImplementations: of minimal proxies, of proxies with a slot for the address, and of those that ask a beacon.
func TestImplementations(t *testing.T) {
	s := writing(t)
	ctx, target, none := t.Context(), common.Address{0xaa, 19: 1}, common.Address{}
	slot := func(proxy common.Address, key common.Hash, value common.Address) {
		t.Helper()
		s.check(s.miner.SetStorage(ctx, proxy, key, common.BytesToHash(value[:]), nil))
	}
	is := func(proxy, want common.Address) {
		t.Helper()
		have, found, err := Implementation(ctx, s.world.DB, s.chain, proxy)
		if err != nil || have != want || found != (want != none) {
			t.Errorf("%s delegates to %s, %t, %v, want %s", proxy, have, found, err, want)
		}
	}
	is(alice, none)
	clone := common.Address{1: 1, 19: 1}
	s.check(s.miner.SetCode(ctx, clone, common.FromHex("363d3d373d3d3d363d73"+hex.EncodeToString(target[:])+"5af43d82803e903d91602b57fd5bf3")))
	is(clone, target)
	proxy := common.Address{1: 2, 19: 1}
	s.check(s.miner.SetCode(ctx, proxy, []byte{0}))
	is(proxy, none)
	beacon := common.Address{1: 3, 19: 1}
	slot(proxy, artifacts.BeaconSlot, beacon)
	is(proxy, none) // nothing is at the beacon's address
	answers := func(code string) {
		t.Helper()
		s.check(s.miner.SetCode(ctx, beacon, common.FromHex(code)))
	}
	push := "73" + hex.EncodeToString(target[:])
	answers(push + "5f52" + "60205ff3") // returns the address
	is(proxy, target)
	answers(push + "5f52" + "60405ff3") // more than an address
	is(proxy, none)
	answers(push + "5f52" + "60205ffd") // reverts
	is(proxy, none)
	answers("5f3560e01c635c60da1b14601257" + "60005ffd5b" + push + "5f52" + "60205ff3") // asked for implementation() only
	is(proxy, target)
	slot(proxy, artifacts.ImplementationSlot, common.Address{0xbb})
	is(proxy, common.Address{0xbb})
	slot(proxy, artifacts.ImplementationSlot, none)
	slot(proxy, artifacts.BeaconSlot, none)
	is(proxy, none)
}

// TestMetadata is the end of code, whose last two bytes tell its length, and has the compiler's version.
func TestMetadata(t *testing.T) {
	for _, c := range []struct{ code, metadata, compiler string }{
		{"", "", ""}, {"00", "", ""}, {"0000", "", ""}, {"000001", "", ""}, {"00010001", "", ""}, {"aa00010002", "00010002", ""}, {"00010002", "00010002", ""}, {"00010003", "", ""},
		{"60ff" + "64736f6c6343" + "00081e" + "0009", "64736f6c6343" + "00081e" + "0009", "0.8.30"},
		{"60ff" + "64736f6c6343" + "0008" + "0008", "64736f6c6343" + "0008" + "0008", "0.8.0"},
		{"60ff" + "64736f6c6343" + "00" + "0007", "64736f6c6343" + "00" + "0007", "0.0.7"},
		{"60ff" + "64736f6c6343" + "0006", "64736f6c6343" + "0006", ""},
	} {
		code := common.FromHex(c.code)
		if have, version := hex.EncodeToString(metadata(code)), compilerOf(code); have != c.metadata || version != c.compiler {
			t.Errorf("%s: %q %q, want %q %q", c.code, have, version, c.metadata, c.compiler)
		}
	}
	for settings, want := range map[string]string{
		`{"compilationTarget":{"A.sol":"A"},"optimizer":{"runs":7}}`: `{"optimizer":{"runs":7}}`, `{"optimizer": {}}`: `{"optimizer": {}}`, `[]`: `[]`, ``: ``,
	} {
		if have := inputSettings([]byte(settings)); string(have) != want {
			t.Errorf("the settings %s are %s, want %s", settings, have, want)
		}
	}
}

// TestArtifactsOfTheUser: a contract from a folder is known by its code, with the project's source.
func TestArtifactsOfTheUser(t *testing.T) {
	s := writing(t)
	s.check(s.registry.AddFolder("../artifacts/testdata/foundry/out"))
	all := s.registry.Contracts()
	i := slices.IndexFunc(all, func(c *artifacts.Contract) bool { return c.Name == "Maker" })
	address, code := common.Address{1, 2, 3}, slices.Clone(all[i].Runtime.Bytes)
	s.check(s.miner.SetCode(t.Context(), address, code))
	known := s.find(address)
	if known == nil || known.Name != "Maker" || !known.Exact || known.Created || known.Language != "Solidity" || known.Compiler != "0.8.30+commit.73712a01" || known.Source != "src/Counter.sol" ||
		!strings.Contains(known.Sources["src/Counter.sol"], "contract Maker {") || bytes.Contains(known.Settings, []byte("compilationTarget")) || !bytes.Contains(known.Settings, []byte("optimizer")) {
		t.Errorf("the contract is %+v", known)
	}
	code[len(code)-20]++ // another hash of the source
	s.check(s.miner.SetCode(t.Context(), address, code))
	if known = s.find(address); known == nil || known.Name != "Maker" || known.Exact {
		t.Errorf("with other metadata the contract is %+v", known)
	}
}
