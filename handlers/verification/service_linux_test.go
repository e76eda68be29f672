package verification

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/solc/solctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// counter is a service with a counter and another contract on chain, and a compiler that knows their source.
type counter struct {
	*service
	build          *solctest.Build
	address, maker common.Address
}

func newCounter(t *testing.T, w *sim.World) *counter {
	t.Helper()
	b := solctest.Read(t, "../artifacts")
	s := newService(t, w, b.Compilers(t))
	return &counter{s, b, solctest.Deploy(t, s.miner, alice, b.Creation("Counter")+solctest.Argument), solctest.Deploy(t, s.miner, alice, b.Creation("Maker"))}
}

// request asks to verify a contract of the source.
func (c *counter) request(address common.Address, name string) *Request {
	c.Helper()
	in, err := solc.ParseInput(c.build.Input)
	c.check(err)
	return &Request{Chain: c.chain, Address: address, Input: in, Compiler: "v" + solctest.Version, Source: solctest.Source, Name: name}
}

// job waits for a verification, which begins.
func (c *counter) job(r *Request) *Job {
	c.Helper()
	before := time.Now()
	j, err := c.Submit(c.Context(), r)
	c.check(err)
	if c.Job(j.ID) != j || !j.Wait(c.Context()) || !j.Ended() || j.Started.Before(before) || j.Finished.Before(j.Started) || j.Compiled <= 0 || j.Compiled > time.Since(before) || j.Request.Input != nil {
		c.Errorf("the job is %+v", j)
	}
	if c.mu.Lock(); c.waiting != 0 {
		c.Errorf("%d jobs wait", c.waiting)
	}
	c.mu.Unlock()
	return j
}

// TestVerification writes what matches into the file, from which a service knows it again, and not what does not.
func TestVerification(t *testing.T) {
	c := newCounter(t, seedtest.Copy(t, 1))
	ctx := t.Context()
	argument := common.FromHex(solctest.Argument)
	mismatch := new(MismatchError)
	for _, wrong := range []struct {
		address   common.Address
		name      string
		source    string
		arguments []byte
		text      string
	}{
		{c.maker, "Counter", solctest.Source, nil, "Counter compiles to "},
		{c.address, "Nothing", solctest.Source, nil, "the sources have no contract Nothing in contracts/Counter.sol"},
		{c.address, "Counter", "src/Counter.sol", nil, "the sources have no contract Counter in src/Counter.sol"},
		{c.address, "Nothing", "*", nil, "the sources have no contract Nothing in *"},
		{c.address, "Counter", "*", argument[1:], "these are not the correct constructor arguments: the transaction that created the contract has 0x" + solctest.Argument},
	} {
		r := c.request(wrong.address, wrong.name)
		r.Source, r.Arguments = wrong.source, wrong.arguments
		if j := c.job(r); j.Contract != nil || j.Err == nil || !strings.HasPrefix(j.Err.Error(), wrong.text) || errors.As(j.Err, &mismatch) == errors.Is(j.Err, ErrArguments) {
			t.Errorf("%v: %+v %v", wrong, j.Contract, j.Err)
		}
	}
	if n, err := c.world.DB.CountVerified(ctx); n != 0 || err != nil || c.find(c.address) != nil || strings.Count(c.logs.String(), `level=WARN msg="a contract was not verified" chain=43114 address=`) != 5 {
		t.Errorf("%d contracts are verified, %v: %s", n, err, c.logs)
	}
	r := c.request(c.address, "Counter")
	r.Arguments = argument
	j := c.job(r)
	known := c.find(c.address)
	if j.Err != nil || j.Contract == nil || fmt.Sprintf("%+v", known) != fmt.Sprintf("%+v", j.Contract) {
		t.Fatalf("the contract is %+v, after %v it is %+v", j.Contract, j.Err, known)
	}
	var input struct {
		Sources  map[string]struct{ Content string }
		Settings json.RawMessage
	}
	var output struct {
		Contracts map[string]map[string]struct{ ABI json.RawMessage }
	}
	c.check(errors.Join(json.Unmarshal(c.build.Input, &input), json.Unmarshal(c.build.Output, &output)))
	compact := new(bytes.Buffer)
	c.check(json.Compact(compact, output.Contracts[solctest.Source]["Counter"].ABI))
	if known.Name != "Counter" || known.Source != solctest.Source || string(known.ABI) != compact.String() || known.Compiler != solctest.Version || known.Language != "Solidity" ||
		!bytes.Contains(known.Settings, []byte("optimizer")) || len(known.Sources) != 1 || known.Sources[solctest.Source] != input.Sources[solctest.Source].Content || !known.Exact || !known.Created ||
		!bytes.Equal(known.Arguments, argument) || known.Time != c.world.Clock.Unix() {
		t.Errorf("the contract is %+v", known)
	}
	if !strings.Contains(c.logs.String(), `level=INFO msg="a contract was verified" chain=43114 address=`+strings.ToLower(c.address.String())+" contract=Counter") {
		t.Errorf("the log has %s", c.logs)
	}
	if _, err := c.Submit(ctx, c.request(c.address, "Counter")); !errors.Is(err, ErrVerified) {
		t.Errorf("again: %v", err)
	}
	again := newService(t, c.world, solc.New(nil))
	if k := again.find(c.address); fmt.Sprintf("%+v", k) != fmt.Sprintf("%+v", known) {
		t.Errorf("another service knows %+v", k)
	}
	if j := c.job(c.request(c.maker, "Maker")); j.Err != nil || !j.Contract.Exact || !j.Contract.Created || len(j.Contract.Arguments) != 0 {
		t.Errorf("a contract with a library: %+v %v", j.Contract, j.Err)
	}
	rows, err := c.world.DB.AllVerified(ctx, 10)
	if err != nil || len(rows) != 2 {
		t.Fatalf("the file has %d verified contracts, %v", len(rows), err)
	}
	_, hash, err := Code(ctx, c.world.DB, c.chain, c.address)
	i := slices.IndexFunc(rows, func(v store.Verified) bool { return bytes.Equal(v.CodeHash, hash) })
	if err != nil || i < 0 || rows[i].Name != "Counter" || rows[i].Source != solctest.Source || rows[i].Compiler != solctest.Version || rows[i].Time != known.Time || !bytes.Contains(rows[i].Input, []byte("outputSelection")) {
		t.Fatalf("the file has %+v, %v", rows, err)
	}
	rows[i].Output = []byte("{")
	c.check(c.world.Write(ctx, func(b *store.Batch) error { return b.AddVerified(&rows[i]) }))
	if _, err := New(c.world, artifacts.New(), solc.New(nil), nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("verified contract %x: the compiler's output", hash)) {
		t.Errorf("of a damaged row: %v", err)
	}
}

// TestMetadataAlone differs after a change of comments: the contract is verified, and again once it is exact.
func TestMetadataAlone(t *testing.T) {
	c := newCounter(t, seedtest.Copy(t, 1))
	code, _, err := Code(t.Context(), c.world.DB, c.chain, c.maker)
	c.check(err)
	exact, other := slices.Clone(code), common.Address{1, 2, 3}
	code[len(code)-20]++
	c.check(c.miner.SetCode(t.Context(), other, code))
	for range 2 {
		if j := c.job(c.request(other, "Maker")); j.Err != nil || j.Contract.Exact || j.Contract.Created {
			t.Errorf("with other metadata: %+v %v", j.Contract, j.Err)
		}
	}
	c.check(c.miner.SetCode(t.Context(), other, exact))
	if _, err := c.Submit(t.Context(), c.request(other, "Maker")); !errors.Is(err, ErrVerified) {
		t.Errorf("the exact code: %v", err)
	}
}

// TestRefusedAtOnce: what cannot be verified begins no job.
func TestRefusedAtOnce(t *testing.T) {
	c := newCounter(t, seedtest.Copy(t, 1))
	missing := new(solc.MissingError)
	refused := func(err error) bool { return errors.As(err, &missing) && missing.Version == "0.8.1" }
	for _, wrong := range []struct {
		change func(r *Request)
		is     func(error) bool
	}{
		{func(r *Request) { r.Address = alice }, func(err error) bool { return errors.Is(err, ErrNoCode) }},
		{func(r *Request) { r.Compiler = "latest" }, func(err error) bool { return errors.Is(err, solc.ErrVersion) }},
		{func(r *Request) { r.Compiler = "0.8.1" }, refused},
	} {
		r := c.request(c.address, "Counter")
		wrong.change(r)
		if j, err := c.Submit(t.Context(), r); j != nil || !wrong.is(err) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	own, err := c.world.DB.Contracts(t.Context(), c.chain.Row.ID)
	c.check(err)
	i := slices.IndexFunc(own, func(c store.Contract) bool { return c.Role == "greeter" })
	if _, err := c.Submit(t.Context(), c.request(common.BytesToAddress(own[i].Address), "Greeter")); !errors.Is(err, ErrVerified) {
		t.Errorf("the program's own contract: %v", err)
	}
	if len(c.order) > 0 {
		t.Errorf("jobs began: %v", c.order)
	}
	i = slices.IndexFunc(own, func(c store.Contract) bool { return c.Role == "permit2" })
	if j := c.job(c.request(common.BytesToAddress(own[i].Address), "Counter")); j.Err == nil {
		t.Error("a contract of the program's without a source has another")
	}
	path := filepath.Join(t.TempDir(), "world.db")
	c.check(c.world.DB.WriteCopy(t.Context(), path))
	w, err := sim.OpenReadOnly(t.Context(), path)
	c.check(err)
	defer w.Close()
	if _, err := newService(t, w, solc.New(nil)).Submit(t.Context(), c.request(c.address, "Counter")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("in a world that is read-only: %v", err)
	}
}

// TestBounds: so many contracts fit the file, so many jobs wait, so many are remembered.
func TestBounds(t *testing.T) {
	c := newCounter(t, seedtest.Copy(t, 1))
	fill := func(from, to int) {
		c.check(c.world.Write(t.Context(), func(b *store.Batch) error {
			for i := from; i < to; i++ {
				hash := common.Hash{30: byte(i >> 8), 31: byte(i)}
				if err := b.AddVerified(&store.Verified{CodeHash: hash[:], Name: "A", Input: []byte("{}"), Output: []byte("{}")}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	fill(1, maxVerified)
	if j := c.job(c.request(c.maker, "Counter")); j.Err == nil {
		t.Error("another contract is verified")
	}
	fill(maxVerified, maxVerified+1)
	if _, err := c.Submit(t.Context(), c.request(c.address, "Counter")); !errors.Is(err, ErrFull) || err.Error() != "500 contracts are verified, which is the limit" {
		t.Errorf("with a full file: %v", err)
	}
	s := writing(t)
	same := writing(t)
	var ids []string
	add := func() error {
		j, err := s.add(&Request{})
		if err == nil {
			ids = append(ids, j.ID)
		}
		return err
	}
	for range maxWaiting {
		s.check(add())
	}
	if err := add(); !errors.Is(err, ErrBusy) || err.Error() != "16 verifications are waiting: try again later" {
		t.Errorf("with %d jobs waiting: %v", maxWaiting, err)
	}
	for len(ids) < maxJobs {
		s.waiting = 0
		s.check(add())
	}
	if s.Job(ids[0]) == nil || s.Job(ids[0]).ID != ids[0] || s.Job("") != nil {
		t.Error("the first job is forgotten")
	}
	s.waiting = 0
	s.check(add())
	if s.Job(ids[0]) != nil || s.Job(ids[1]) == nil || s.Job(ids[maxJobs]) == nil || len(s.jobs) != maxJobs || len(s.order) != maxJobs {
		t.Errorf("%d jobs are remembered", len(s.jobs))
	}
	for i, id := range ids {
		if want := uuid.NewSHA1(uuid.UUID(s.world.Identity()[:16]), fmt.Append(nil, "verification ", i+1)).String(); id != want {
			t.Fatalf("job %d has the id %s, want %s", i+1, id, want)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != maxJobs+1 {
		t.Error("ids repeat")
	}
	for i := range 2 {
		j, err := same.add(&Request{})
		if s.check(err); !slices.Contains(ids, j.ID) {
			t.Errorf("the same world has another id for job %d", i)
		}
	}
}

// TestWaiting ends with the job or with the client's request; Close ends the jobs.
func TestWaiting(t *testing.T) {
	c := newCounter(t, seedtest.Copy(t, 1))
	j, err := c.add(c.request(c.address, "Counter"))
	c.check(err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if begin := time.Now(); j.Wait(gone) || j.Ended() || time.Since(begin) > time.Second {
		t.Error("a job that nobody runs has ended")
	}
	c.Close()
	compiler, err := c.compilers.Find(t.Context(), solctest.Version)
	c.check(err)
	go c.do(j, compiler)
	if !j.Wait(t.Context()) || !errors.Is(j.Err, context.Canceled) || j.Contract != nil {
		t.Errorf("after Close: %v", j.Err)
	}
}

// TestCompilersThatFail: the job ends with the compiler's words.
func TestCompilersThatFail(t *testing.T) {
	b := solctest.Read(t, "../artifacts")
	w := seedtest.Copy(t, 1)
	address := solctest.Deploy(t, w.MinerOf(w.Chains[0]), alice, b.Creation("Maker"))
	for output, want := range map[string]string{
		`{"errors":[{"severity":"error","formattedMessage":"wrong"}]}`: "the compiler says: wrong",
		"wrong": "the compiler's output is not JSON",
		`{"contracts":{"` + solctest.Source + `":{"Maker":{"evm":{"bytecode":{"object":"xyz"}}}}}}`: "Maker of " + solctest.Source,
		`{"contracts":{}}`: "the sources have no contract Maker",
	} {
		c := &counter{newService(t, w, solctest.Compilers(t, output)), b, address, address}
		if j := c.job(c.request(address, "Maker")); j.Err == nil || !strings.HasPrefix(j.Err.Error(), want) {
			t.Errorf("%.100s: %v", output, j.Err)
		}
	}
	for output, want := range map[string]string{
		`{"errors":[1],"sources":{"a":1},"contracts":{"b":2}}`:     `{"sources":{"a":1},"contracts":{"b":2}}`,
		`{"contracts":"` + strings.Repeat("a", maxOutput-2) + `"}`: `{"sources":null,"contracts":"` + strings.Repeat("a", maxOutput-2) + `"}`,
	} {
		if have, err := trimmed([]byte(output)); err != nil || string(have) != want {
			t.Errorf("%.100s: %.100s %v", output, have, err)
		}
	}
	if _, err := trimmed([]byte(`{"contracts":"` + strings.Repeat("a", maxOutput-1) + `"}`)); err == nil || err.Error() != "the compiler's output about the contract is larger than 16 MiB" {
		t.Errorf("a large output: %v", err)
	}
	if _, err := trimmed([]byte("[")); err == nil {
		t.Error("an output that is not JSON is trimmed")
	}
	c := newCounter(t, w)
	j, err := c.add(c.request(c.address, "Counter"))
	c.check(err)
	compiler, err := c.compilers.Find(t.Context(), solctest.Version)
	c.check(err)
	for statement, ends := range map[string]bool{"FROM account": true, "FROM deployment": true, "INTO verified": true} {
		c.world.DB.FailStatements(func(text string) bool { return strings.Contains(text, statement) })
		in, err := solc.ParseInput(b.Input)
		c.check(err)
		if j.Request.Input = in; ends {
			if known, err := c.verify(j, compiler); err == nil || known != nil {
				t.Errorf("%s fails: %+v", statement, known)
			}
		}
		c.world.DB.FailStatements(nil)
	}
	if c.find(c.address) != nil {
		t.Error("the contract is verified")
	}
}
