package explain

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/handlers/artifacts"
)

// Failure explains a failed execution.
type Failure struct {
	Reason string        `json:"reason" doc:"Why it failed, as text: a require's message, a custom error with its values, a panic, or the EVM's error."`
	Error  *CustomError  `json:"error,omitempty" doc:"The custom error, if there was one."`
	Stack  []SourceFrame `json:"stack,omitempty" doc:"The functions that were running, innermost first."`
}

// CustomError is a custom error with its values.
type CustomError struct {
	Signature string     `json:"signature"`
	Arguments []Argument `json:"arguments,omitempty"`
}

// Argument is a named value, written as Solidity would.
type Argument struct {
	Name  string `json:"name,omitempty"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// SourceFrame is a function that had begun.
type SourceFrame struct {
	Contract  string     `json:"contract,omitempty" doc:"Absent if no artifact matches the code at the address."`
	Function  string     `json:"function,omitempty"`
	Arguments []Argument `json:"arguments,omitempty" doc:"Only for a call from outside the contract."`
	Address   string     `json:"address"`
	Source    string     `json:"source,omitempty"`
	Line      int        `json:"line,omitempty"`
	Column    int        `json:"column,omitempty"`
	Code      string     `json:"code,omitempty" doc:"The line of source code."`
	Note      string     `json:"note,omitempty" doc:"Why there is no line."`
}

// mostShown bounds the functions of a stack: a recursion may be a thousand deep.
const mostShown = 64

// String writes the reason with the stack below it, as stack traces usually are.
func (f *Failure) String() string {
	return strings.Join(append([]string{f.Reason}, f.Lines()...), "\n    at ")
}

// Lines writes the functions, innermost first.
func (f *Failure) Lines() []string {
	all := make([]string, len(f.Stack))
	for i := range f.Stack {
		all[i] = f.Stack[i].String()
	}
	return all
}

// String names the function and its place: Vault.withText(amount: 11) (src/Vault.sol:53:9).
func (s *SourceFrame) String() string {
	name := cmp.Or(s.Contract, "unknown contract "+s.Address)
	if s.Function != "" {
		name += "." + s.Function
		if len(s.Arguments) > 0 {
			all := make([]string, len(s.Arguments))
			for i, a := range s.Arguments {
				all[i] = a.String()
			}
			name += "(" + strings.Join(all, ", ") + ")"
		}
	}
	switch {
	case s.Line > 0 && s.Note != "":
		return fmt.Sprintf("%s (%s:%d, %s)", name, s.Source, s.Line, s.Note)
	case s.Line > 0:
		return fmt.Sprintf("%s (%s:%d:%d)", name, s.Source, s.Line, s.Column)
	case s.Note != "":
		return fmt.Sprintf("%s (%s)", name, s.Note)
	}
	return name
}

func (a Argument) String() string {
	if a.Name == "" {
		return a.Value
	}
	return a.Name + ": " + a.Value
}

func argumentsOf(values []artifacts.Value) []Argument {
	var all []Argument
	for _, v := range values {
		all = append(all, Argument{v.Name, v.Type, artifacts.Text(v.Value)})
	}
	return all
}

// failing follows a failure to where it came from: from a call whose data the caller reverts with, as compilers do, to the call.
func failing(f *frame) (path []*frame) {
	for {
		path = append(path, f)
		if len(f.calls) == 0 {
			return path
		}
		last := f.calls[len(f.calls)-1]
		if last.err == nil || !bytes.Equal(last.output, f.output) || !errors.Is(f.err, vm.ErrExecutionReverted) {
			return path
		}
		if len(f.output) == 0 && f.program != nil && f.steps-f.returned > soon {
			return path
		}
		f = last
	}
}

// soon is the number of instructions in which a contract passes the failure of a call on, or finds its result too short.
const soon = 120

// explain explains why the outermost call failed, or returns nil if it did not.
func (r *recorder) explain() *Failure {
	if r.root == nil || r.root.err == nil {
		return nil
	}
	path := failing(r.root)
	innermost := path[len(path)-1]
	failure := &Failure{}
	failure.Reason, failure.Error = r.reason(innermost)
	innermost.cause = r.cause(innermost)
	for i := len(path) - 1; i >= 0; i-- {
		failure.Stack = append(failure.Stack, r.functions(path[i])...)
	}
	if more := len(failure.Stack) - mostShown; more > 0 {
		half := mostShown / 2
		kept := append(failure.Stack[:half:half], SourceFrame{Address: failure.Stack[half].Address, Contract: "…", Note: fmt.Sprintf("%d more", more)})
		failure.Stack = append(kept, failure.Stack[half+more:]...)
	}
	return failure
}

// known reports whether some contract of the execution's failure has an artifact.
func (f *Failure) known() bool {
	return slices.ContainsFunc(f.Stack, func(s SourceFrame) bool { return s.Contract != "" })
}

func (r *recorder) creation(f *frame) bool { return f.kind == vm.CREATE || f.kind == vm.CREATE2 }

// functions lists the functions of a frame that had begun, innermost first.
func (r *recorder) functions(f *frame) []SourceFrame {
	if f.contract == nil {
		s := SourceFrame{Address: f.to.Hex()}
		if r.creation(f) {
			s.Function = "constructor"
		} else if d := r.registry.Call(nil, f.input); d != nil {
			s.Function, s.Arguments = d.Name, argumentsOf(d.Values)
		}
		return []SourceFrame{s}
	}
	outer := SourceFrame{Contract: f.contract.Name, Address: f.to.Hex()}
	outer.Function, outer.Arguments = r.entry(f)
	if f.program == nil || f.program.Gap() != "" {
		outer.Note = r.gap(f)
		return []SourceFrame{outer}
	}
	var inner []SourceFrame // outermost first
	add := func(of, at *artifacts.Place, note string) {
		s := SourceFrame{Contract: of.Contract, Function: of.Function, Address: f.to.Hex(), Source: at.Source, Line: at.Line, Column: at.Column, Code: at.Text, Note: note}
		if of.Contract == "" || of.Contract != f.contract.Name && !isLibrary(f.contract, of.Contract) { // a function of a base runs as the contract's own
			s.Contract = f.contract.Name
		}
		inner = append(inner, s)
	}
	name, _ := r.entry(f)
	f.levels[0].function, f.levels[0].called = f.program.Number(name), name
	for i := range f.levels {
		l := &f.levels[i]
		if i > 0 && l.function == 0 {
			continue
		}
		for _, p := range f.places(i) {
			add(p.of, p.at, p.note)
		}
	}
	if len(inner) == 0 {
		outer.Source, outer.Line = r.declaration(f)
		outer.Note = "before the function's own code"
		if outer.Line == 0 || len(f.output) > 0 {
			outer.Note = noLine
		}
		return []SourceFrame{outer}
	}
	if inner[0].Function == outer.Function {
		inner[0].Arguments = outer.Arguments
	} else if outer.Function != "" { // the compiler made code for the function that is of no place in it
		outer.Source, outer.Line = r.declaration(f)
		outer.Note = noLine
		inner = append([]SourceFrame{outer}, inner...)
	}
	slices.Reverse(inner)
	return inner
}

// reached is a function with the place that it has reached.
type reached struct {
	of, at *artifacts.Place
	note   string
}

// Notes of places that the map does not tell.
const (
	noLine = "the compiler's map gives no line"
	shared = "the compiler shares the code that failed, so this is the condition tested last"

	noPlace = "the compiler's map does not place the code that failed, so this is what ran before it"
)

// places returns where the functions of a level are, outermost first: the function that begins there and, where the compiler put another one into it, that
// one.
func (f *frame) places(i int) (all []reached) {
	l := &f.levels[i]
	own := l.trailOf(l.function)
	next := -1 // the level that this one has called
	for n := i + 1; n < len(f.levels); n++ {
		if f.levels[n].function != 0 {
			next = n
			break
		}
	}
	var function *artifacts.Place
	if i > 0 {
		function = f.program.Place(l.entry)
	} else if own != nil {
		function = f.program.Place(own.last)
	} else if l.called != "" && next < 0 {
		function = f.contract.Declaration(l.called)
	}
	last, latest := f.latest(l)
	if next > 0 && f.program.Inside(f.levels[next].site) != 0 {
		latest = f.program.Place(f.levels[next].site)
		if last = nil; function == nil || !within(latest, function) && f.program.Inside(f.levels[next].site) != l.function {
			last = &trail{}
		}
	}
	if function == nil { // the map does not tell what was called
		if latest == nil {
			return nil
		}
		at, note := f.settle(last, latest, next < 0)
		return []reached{{at, at, note}}
	}
	if last != nil && next < 0 && last.tested && l.tested != last.function { // the code that failed is that of another test
		if tested := l.trailOf(l.tested); tested != nil {
			last, latest = tested, f.program.Place(tested.last)
		}
	}
	foreign := latest != nil && f.numberOf(last, next) != l.function && (f.mentioned(l, function, latest) || next > 0)
	switch {
	case foreign:
		where, note := function, noLine
		if own != nil {
			where, note = f.program.Place(own.last), ""
		}
		at, inNote := f.settle(last, latest, next < 0)
		return []reached{{function, where, note}, {at, at, inNote}}
	case next > 0 && latest != nil:
		return []reached{{function, latest, ""}}
	case own == nil:
		return []reached{{function, function, noLine}}
	}
	at, note := f.settle(own, f.program.Place(own.last), next < 0)
	return []reached{{function, at, note}}
}

// numberOf returns the function around the place that a level has reached.
func (f *frame) numberOf(last *trail, next int) int32 {
	switch {
	case next > 0 && f.program.Inside(f.levels[next].site) != 0:
		return f.program.Inside(f.levels[next].site)
	case last != nil:
		return last.function
	}
	return f.program.Inside(f.inside)
}

// latest returns the trail and the place of a level's latest instruction.
func (f *frame) latest(l *level) (*trail, *artifacts.Place) {
	if !f.placed {
		return nil, nil
	}
	for i := range l.trails {
		if l.trails[i].last == f.inside {
			return &l.trails[i], f.program.Place(f.inside)
		}
	}
	return nil, nil
}

// mentioned reports whether a level's function, or one that it mentions and that has run, mentions the function around a place.
func (f *frame) mentioned(l *level, function, at *artifacts.Place) bool {
	if f.program.Mentions(function, at) {
		return true
	}
	for i := range l.trails {
		if other := f.program.Place(l.trails[i].last); other != nil && f.program.Mentions(function, other) && f.program.Mentions(other, at) {
			return true
		}
	}
	return false
}

// settle returns the place where a function failed. An optimizer keeps one of several equal pieces of code, whose place may be an earlier one: then the
// latest place after the condition that was tested last is right or, if there is none, that condition.
func (f *frame) settle(t *trail, at *artifacts.Place, failed bool) (*artifacts.Place, string) {
	if !failed || !errors.Is(f.err, vm.ErrExecutionReverted) { // what the EVM refuses, it refuses where it happens
		return at, ""
	}
	at, note := f.progress(t, at)
	silent := len(f.output) == 0 && (f.returned == 0 || f.steps-f.returned > soon)
	if silent && note == "" && f.program.Inside(f.last) == 0 { // nothing else confirms the place
		note = noPlace
	}
	if f.cause == "" || strings.Contains(at.Code, f.cause) {
		return at, note
	}
	if exact := f.program.Only(at, f.cause); exact != nil { // what the contract said is in one line of the function only
		return exact, ""
	}
	return at, note
}

// isCondition reports whether source begins with an if, and not with a name such as iffy.
func isCondition(source string) bool {
	rest, found := strings.CutPrefix(source, "if")
	return found && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "(")
}

func (f *frame) progress(t *trail, at *artifacts.Place) (*artifacts.Place, string) {
	if t == nil || !t.tested || f.returned > 0 && f.steps-f.returned <= soon {
		return at, ""
	}
	var after *artifacts.Place
	if t.advanced && t.after != t.test {
		after = f.program.Place(t.after)
	}
	return failedAt(at, f.program.Place(t.test), after)
}

// failedAt chooses between the place of the code that failed, the condition that was tested last, and what ran after it; the last two may be nil.
func failedAt(at, test, after *artifacts.Place) (*artifacts.Place, string) {
	switch {
	case test == nil:
		return at, ""
	case at.Start == test.Start && isCondition(at.Code):
		return at, shared
	case at.Line > test.Line && isCondition(at.Text): // the condition on that line was not tested
		return test, shared
	case at.Start >= test.Start:
		return at, doubt(test, at)
	case after != nil && (after.Start != test.Start || after.End != test.End):
		return after, ""
	case isGuard(test):
		return test, ""
	}
	return test, shared
}

// doubt tells of a guard that failed although another one was tested last: the code is shared.
func doubt(test, at *artifacts.Place) string {
	if test.Start <= at.Start && at.End <= test.End || at.Start <= test.Start && test.End <= at.End {
		return ""
	}
	if isGuard(at) {
		return "the compiler shares the code that failed with other lines"
	}
	return ""
}

func isGuard(at *artifacts.Place) bool {
	return strings.HasPrefix(at.Code, "require") || strings.HasPrefix(at.Code, "assert")
}

// isLibrary reports whether a name is that of a library.
func isLibrary(c *artifacts.Contract, name string) bool {
	b, err := c.Build()
	return err == nil && b.Library(name)
}

// declaration returns where the function that the frame called is declared.
func (r *recorder) declaration(f *frame) (source string, line int) {
	name, _ := r.entry(f)
	place := f.contract.Declaration(name)
	if place == nil {
		return "", 0
	}
	return place.Source, place.Line
}

// gap explains why there are no lines.
func (r *recorder) gap(f *frame) string {
	p, err := f.contract.Program(r.creation(f))
	if err != nil {
		return err.Error()
	}
	return p.Gap()
}

func within(at, function *artifacts.Place) bool {
	return at.Source == function.Source && function.Start <= at.Start && at.End <= function.End
}

// entry names the function that was called.
func (r *recorder) entry(f *frame) (name string, arguments []Argument) {
	i := f.contract.Interface()
	switch {
	case r.creation(f):
		if args := len(f.contract.Creation.Bytes); len(f.input) >= args {
			if values, err := i.Constructor.Inputs.Unpack(f.input[args:]); err == nil {
				arguments = argumentsOf(artifacts.Values(i.Constructor.Inputs, values))
			}
		}
		return "constructor", arguments
	case len(f.input) == 0 && i.HasReceive():
		return "receive", nil
	case len(f.input) >= 4:
		if m, err := i.MethodById(f.input[:4]); err == nil {
			if values, err := m.Inputs.Unpack(f.input[4:]); err == nil {
				arguments = argumentsOf(artifacts.Values(m.Inputs, values))
			}
			return m.RawName, arguments
		}
		if d := r.registry.Call(f.contract, f.input); d != nil && !i.HasFallback() {
			return "", nil
		}
	}
	if i.HasFallback() {
		return "fallback", nil
	}
	return "", nil
}

// reason says why a frame failed, apart from where.
func (r *recorder) reason(f *frame) (string, *CustomError) {
	if !errors.Is(f.err, vm.ErrExecutionReverted) {
		return r.refusal(f), nil
	}
	if len(f.output) == 0 {
		return r.silent(f), nil
	}
	return r.reverted(f.contract, f.output)
}

// reverted reads the data of a contract's revert.
func (r *recorder) reverted(c *artifacts.Contract, data []byte) (string, *CustomError) {
	if panicked, ok := panicCode(data); ok {
		return panicked, nil
	}
	if text, err := abi.UnpackRevert(data); err == nil {
		return fmt.Sprintf("reverted with %q", text), nil
	}
	if d := r.registry.Error(c, data); d != nil {
		return "reverted with " + d.String(), &CustomError{d.Signature, argumentsOf(d.Values)}
	}
	return "reverted with data that no known error has: " + shortHex(data), nil
}

// cause returns what the source must have where a frame failed: the text of a require or the name of an error; empty if that is not known.
func (r *recorder) cause(f *frame) string {
	if _, panicked := panicCode(f.output); panicked || len(f.output) == 0 {
		return ""
	}
	if text, err := abi.UnpackRevert(f.output); err == nil {
		return strconv.Quote(text)
	}
	if d := r.registry.Error(f.contract, f.output); d != nil {
		return d.Name + "("
	}
	return ""
}

// refusal says why the EVM ended a frame.
func (r *recorder) refusal(f *frame) string {
	switch {
	case errors.Is(f.err, vm.ErrWriteProtection), strings.HasSuffix(f.err.Error(), vm.ErrWriteProtection.Error()): // within ErrOutOfGas if the gas depends on the state
		return "changes state in a static call"
	case errors.Is(f.err, vm.ErrOutOfGas), errors.Is(f.err, vm.ErrCodeStoreOutOfGas), errors.Is(f.err, vm.ErrGasUintOverflow):
		return fmt.Sprintf("out of gas: %d was not enough", f.gas)
	case errors.Is(f.err, vm.ErrInsufficientBalance):
		return fmt.Sprintf("%s has less than the %s wei that the call sends", f.from.Hex(), f.value)
	case errors.Is(f.err, vm.ErrDepth):
		return "calls are nested more than 1,024 deep"
	}
	var invalid *vm.ErrInvalidOpCode
	if errors.As(f.err, &invalid) && f.contract != nil {
		return "invalid instruction, as an assert before Solidity 0.8 uses"
	}
	return f.err.Error()
}

// silent says why a frame reverted without data.
func (r *recorder) silent(f *frame) string {
	const plain = "reverted without a reason"
	if f.contract == nil {
		return plain
	}
	i := f.contract.Interface()
	if f.placed {
		switch {
		case f.sized > 0 && f.steps-f.sized <= soon:
			return fmt.Sprintf("called %s, which has no code", f.empty.Hex())
		case f.returned > 0 && f.steps-f.returned <= soon && len(f.calls) > 0 && f.calls[len(f.calls)-1].err == nil:
			last := f.calls[len(f.calls)-1]
			if !last.entered && len(last.output) == 0 {
				return fmt.Sprintf("called %s, which has no code", last.to.Hex())
			}
			return fmt.Sprintf("%s returned %d bytes, which are not what the caller expects", last.to.Hex(), len(last.output))
		}
		return plain
	}
	paid := f.value != nil && f.value.Sign() > 0 && f.kind != vm.DELEGATECALL
	switch {
	case r.creation(f):
		if paid && !i.Constructor.IsPayable() {
			return "the constructor is not payable"
		}
		return "the constructor's arguments are not as declared"
	case len(f.input) == 0:
		switch {
		case !i.HasReceive() && !i.HasFallback():
			return "there is no receive or fallback function"
		case paid && !i.HasReceive() && !i.Fallback.IsPayable():
			return "there is no receive function, and the fallback is not payable"
		}
		return plain
	case len(f.input) >= 4:
		m, err := i.MethodById(f.input[:4])
		if err != nil {
			break
		}
		if paid && !m.IsPayable() {
			return fmt.Sprintf("function %s is not payable", m.RawName)
		}
		if _, err := m.Inputs.Unpack(f.input[4:]); err != nil || len(f.input) < 4+32*len(m.Inputs) {
			return fmt.Sprintf("the arguments of %s are not as declared", m.RawName)
		}
		return plain
	}
	switch {
	case !i.HasFallback():
		return fmt.Sprintf("function %s does not exist and there is no fallback", r.selector(f))
	case paid && !i.Fallback.IsPayable():
		return fmt.Sprintf("function %s does not exist, and the fallback is not payable", r.selector(f))
	}
	return plain
}

// selector names the function that a frame called, by a standard or another contract if possible.
func (r *recorder) selector(f *frame) string {
	text := hexutil.Encode(f.input[:min(len(f.input), 4)])
	if d := r.registry.Call(f.contract, f.input); d != nil {
		return d.Signature + " (" + text + ")"
	}
	return text
}

// panics are Solidity's panics by their code (https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require).
var panics = map[uint64]string{
	0x00: "a panic that the compiler inserted",
	0x01: "assert failed",
	0x11: "arithmetic overflow or underflow",
	0x12: "division or modulo by zero",
	0x21: "conversion of a number that the enum does not have",
	0x22: "a storage byte array that is encoded wrongly",
	0x31: "pop of an empty array",
	0x32: "array index out of bounds",
	0x41: "too much memory, or an array that is too large",
	0x51: "call of an internal function that is not set",
}

// panicSelector begins the data of Panic(uint256).
var panicSelector = []byte{0x4e, 0x48, 0x7b, 0x71}

func panicCode(data []byte) (string, bool) {
	if len(data) != 4+common.HashLength || !bytes.HasPrefix(data, panicSelector) {
		return "", false
	}
	code := common.BytesToHash(data[4:]).Big()
	text := ""
	if code.IsUint64() {
		text = panics[code.Uint64()]
	}
	return fmt.Sprintf("panic %#x: %s", code, cmp.Or(text, "of an unknown kind")), true
}

func shortHex(b []byte) string {
	if text := hexutil.Encode(b); len(text) <= 2+2*100 {
		return text
	}
	return hexutil.Encode(b[:100]) + "…"
}
