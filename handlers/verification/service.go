package verification

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/solc"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Bounds of a world's verifications.
const (
	maxVerified = 500      // contracts in the file
	maxOutput   = 16 << 20 // bytes of a compiler's output about one contract
	maxWaiting  = 16       // jobs that have not ended
	maxJobs     = 256      // jobs that are remembered
)

// Service verifies the contracts of a world.
type Service struct {
	world     *sim.World
	registry  *artifacts.Registry
	compilers *solc.Compilers
	log       *slog.Logger
	ctx       context.Context // of all jobs
	cancel    context.CancelFunc

	mu      sync.Mutex
	jobs    map[string]*Job
	order   []string // of the ids, the oldest first
	waiting int
	count   uint64
}

// New makes the service and tells the registry of the contracts in the file.
func New(w *sim.World, registry *artifacts.Registry, compilers *solc.Compilers, log *slog.Logger) (*Service, error) {
	s := &Service{world: w, registry: registry, compilers: compilers, log: log, jobs: map[string]*Job{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	rows, err := w.DB.AllVerified(s.ctx, maxVerified)
	if err != nil {
		return nil, err
	}
	var all []*artifacts.Contract
	for i := range rows {
		found, err := artifacts.ParseStandard(rows[i].Input, rows[i].Output, rows[i].Compiler, origin)
		if err != nil {
			return nil, store.Damaged(fmt.Errorf("verified contract %x: %w", rows[i].CodeHash, err))
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		registry.Add(all...)
	}
	return s, nil
}

// origin is where contracts come from that clients verify.
const origin = "verified"

// Close ends the jobs.
func (s *Service) Close() { s.cancel() }

// Request asks to verify the contract at an address.
type Request struct {
	Chain     *reader.Chain
	Address   common.Address
	Input     *solc.Input
	Compiler  string // its version
	Source    string // name of the contract's source, * for any that has it
	Name      string
	Arguments []byte // of the constructor, as the client says; nil if it does not
}

// Job is a verification. Its fields but the request are set when it has ended.
type Job struct {
	ID      string
	Request *Request
	Started time.Time

	Done     chan struct{} // closed when the job has ended
	Finished time.Time
	Compiled time.Duration // how long the compiler took
	Contract *Contract     // nil if it failed
	Err      error         // why it failed
}

// Ended reports whether the job has ended.
func (j *Job) Ended() bool {
	select {
	case <-j.Done:
		return true
	default:
		return false
	}
}

// patience is how long a client waits for a job when it asks about it: clients pause for seconds if it has not ended.
const patience = 4 * time.Second

// Wait waits a moment for the job to end, and reports whether it has.
func (j *Job) Wait(ctx context.Context) bool {
	select {
	case <-j.Done:
	case <-ctx.Done():
	case <-time.After(patience):
	}
	return j.Ended()
}

// Errors of requests and jobs.
var (
	ErrVerified  = errors.New("the contract is verified already")
	ErrBusy      = fmt.Errorf("%d verifications are waiting: try again later", maxWaiting)
	ErrFull      = fmt.Errorf("%d contracts are verified, which is the limit", maxVerified)
	ErrArguments = errors.New("these are not the correct constructor arguments")
)

// MismatchError means that the sources compile to other code than the chain has.
type MismatchError struct{ text string }

func (e *MismatchError) Error() string { return e.text }

// Submit begins a verification. It fails at once if the address has no code, the contract is verified, or the compiler is missing.
func (s *Service) Submit(ctx context.Context, r *Request) (*Job, error) {
	if s.world.DB.ReadOnly() {
		return nil, store.ErrReadOnly
	}
	known, err := s.Find(ctx, s.world.DB, r.Chain, r.Address)
	if err != nil {
		return nil, err
	}
	if known == nil {
		if _, _, err := Code(ctx, s.world.DB, r.Chain, r.Address); err != nil {
			return nil, err
		}
	} else if known.Exact && len(known.Sources) > 0 {
		return nil, ErrVerified
	}
	if n, err := s.world.DB.CountVerified(ctx); err != nil || n >= maxVerified {
		return nil, cmp.Or(err, ErrFull)
	}
	compiler, err := s.compilers.Find(ctx, r.Compiler)
	if err != nil {
		return nil, err
	}
	j, err := s.add(r)
	if err == nil {
		go s.do(j, compiler)
	}
	return j, err
}

// add remembers a new job.
func (s *Service) add(r *Request) (*Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting >= maxWaiting {
		return nil, ErrBusy
	}
	s.waiting++
	s.count++
	id := uuid.NewSHA1(uuid.UUID(s.world.Identity()[:16]), fmt.Append(nil, "verification ", s.count))
	j := &Job{ID: id.String(), Request: r, Started: time.Now(), Done: make(chan struct{})}
	s.jobs[j.ID], s.order = j, append(s.order, j.ID)
	if len(s.order) > maxJobs {
		delete(s.jobs, s.order[0])
		s.order = s.order[1:]
	}
	return j, nil
}

// Job returns a job by its id, nil if it is not remembered.
func (s *Service) Job(id string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[id]
}

// do runs a job.
func (s *Service) do(j *Job, compiler *solc.Compiler) {
	j.Contract, j.Err = s.verify(j, compiler)
	if j.Err != nil {
		s.log.Warn("a contract was not verified", "chain", j.Request.Chain.Row.EVMID, "address", j.Request.Address, "contract", j.Request.Name, "error", j.Err)
	} else {
		s.log.Info("a contract was verified", "chain", j.Request.Chain.Row.EVMID, "address", j.Request.Address, "contract", j.Request.Name)
	}
	j.Request.Input = nil
	j.Finished = time.Now()
	s.mu.Lock()
	s.waiting--
	s.mu.Unlock()
	close(j.Done)
}

func (s *Service) verify(j *Job, compiler *solc.Compiler) (*Contract, error) {
	r := j.Request
	input, err := r.Input.For(r.Source, r.Name)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	output, err := compiler.Compile(s.ctx, input)
	j.Compiled = time.Since(begin)
	if err != nil {
		return nil, err
	}
	if output, err = trimmed(output); err != nil {
		return nil, err
	}
	compiled, err := artifacts.ParseStandard(input, output, compiler.Version, origin)
	if err != nil {
		return nil, err
	}
	code, hash, err := Code(s.ctx, s.world.DB, r.Chain, r.Address)
	if err != nil {
		return nil, err
	}
	match, err := matching(compiled, r, code)
	if err != nil {
		return nil, err
	}
	contract := ofArtifact(match, code)
	if err := contract.deployed(s.ctx, s.world.DB, r.Chain, r.Address, match); err != nil {
		return nil, err
	}
	if len(r.Arguments) > 0 && contract.Created && !bytes.Equal(r.Arguments, contract.Arguments) {
		return nil, fmt.Errorf("%w: the transaction that created the contract has 0x%.200x", ErrArguments, contract.Arguments)
	}
	contract.Time = s.world.Clock.Unix()
	err = s.world.Write(s.ctx, func(b *store.Batch) error {
		return b.AddVerified(&store.Verified{CodeHash: hash, Source: match.Source, Name: match.Name, Compiler: compiler.Version, Input: input, Output: output, Time: contract.Time})
	})
	if err != nil {
		return nil, err
	}
	s.registry.Add(match)
	return contract, nil
}

// trimmed returns the parts of the compiler's output that describe contracts.
func trimmed(output []byte) ([]byte, error) {
	var kept struct {
		Sources   json.RawMessage `json:"sources"`
		Contracts json.RawMessage `json:"contracts"`
	}
	if err := json.Unmarshal(output, &kept); err != nil {
		return nil, err
	}
	if len(kept.Contracts) > maxOutput {
		return nil, fmt.Errorf("the compiler's output about the contract is larger than %d MiB", maxOutput>>20)
	}
	return json.Marshal(kept)
}

// matching returns the compiled contract that the request names, if it has the code on chain.
func matching(compiled []*artifacts.Contract, r *Request, code []byte) (*artifacts.Contract, error) {
	var named *artifacts.Contract
	for _, c := range compiled {
		if c.Name != r.Name || r.Source != "*" && c.Source != r.Source {
			continue
		}
		named = c
		registry := artifacts.New()
		registry.Add(c)
		if registry.Runtime(code) != nil {
			return c, nil
		}
	}
	if named == nil {
		return nil, &MismatchError{fmt.Sprintf("the sources have no contract %.200s in %.200s", r.Name, r.Source)}
	}
	return nil, &MismatchError{fmt.Sprintf("%.200s compiles to %d bytes that are not the %d bytes at the address: the version or the settings of the compiler, or the sources, are others",
		r.Name, len(named.Runtime.Bytes), len(code))}
}
