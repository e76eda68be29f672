package artifacts

import (
	"strconv"
	"strings"
)

// Program relates the instructions of a contract's code to its sources by the compiler's source map
// (https://docs.soliditylang.org/en/latest/internals/source_mappings.html).
type Program struct {
	contract *Contract
	build    *Build
	entries  []entry
	index    []int32 // by byte of the code: the number of the instruction that begins there, or -1
	Missing  string  // why nothing can be placed, as a sentence; empty if something can
}

// entry is one instruction's entry of a source map.
type entry struct {
	start, length, source int32
	jump                  byte // i into a function, o out of one, - otherwise
	inside                bool // in a function, and not the whole of it
}

// Program returns the relation for the code that creates the contract, or for the deployed code. It may read files.
func (c *Contract) Program(creation bool) (*Program, error) {
	if creation {
		return c.creations()
	}
	return c.runtimes()
}

func (c *Contract) program(creation bool) (*Program, error) {
	b, err := c.Build()
	if err != nil {
		return nil, err
	}
	creationMap, runtimeMap, err := c.SourceMaps()
	if err != nil {
		return nil, err
	}
	p := &Program{contract: c, build: b}
	code, text := c.Runtime.Bytes, runtimeMap
	if creation {
		code, text = c.Creation.Bytes, creationMap
	}
	if text == "" {
		p.Missing = "the compiler wrote no source map of " + c.Name
		return p, nil
	}
	count := int32(0)
	p.index = make([]int32, len(code))
	for i := range p.index {
		p.index[i] = -1
	}
	for pc := 0; pc < len(code); pc++ {
		p.index[pc] = count
		count++
		if push := int(code[pc]) - 0x5f; 0 < push && push <= 32 {
			pc += push
		}
	}
	p.entries = parseSourceMap(text, int(count))
	known := map[entry]bool{}
	for i := range p.entries {
		e := &p.entries[i]
		key := entry{start: e.start, length: e.length, source: e.source}
		inside, found := known[key]
		if !found {
			place := p.place(e)
			inside = place != nil && !place.Whole
			known[key] = inside
		}
		e.inside = inside
	}
	return p, nil
}

// parseSourceMap reads a source map of so many instructions at most. What it cannot read stays as in the entry before.
func parseSourceMap(text string, most int) (all []entry) {
	last := entry{-1, -1, -1, '-', false}
	for item := range strings.SplitSeq(text, ";") {
		if len(all) == most {
			break
		}
		field := 0
		for value := range strings.SplitSeq(item, ":") {
			if value != "" {
				n, err := strconv.ParseInt(value, 10, 32)
				switch {
				case field == 0 && err == nil:
					last.start = int32(n)
				case field == 1 && err == nil:
					last.length = int32(n)
				case field == 2 && err == nil:
					last.source = int32(n)
				case field == 3:
					last.jump = value[0]
				}
			}
			field++
		}
		all = append(all, last)
	}
	return all
}

// Place is a place in a source.
type Place struct {
	Contract string // that contains the function, which may be a base of the one that runs; empty for a free function
	Function string // or modifier; empty for a place outside of functions
	Source   string
	Line     int // from 1
	Column   int // in bytes, from 1
	Text     string

	Whole bool // the place is a whole function or contract, so the compiler does not tell a line
	start int32
}

func (p *Program) entry(pc uint64) *entry {
	if pc >= uint64(len(p.index)) {
		return nil
	}
	i := p.index[pc]
	if i < 0 || int(i) >= len(p.entries) {
		return nil
	}
	return &p.entries[i]
}

// Jump returns i if the instruction jumps into a function, o if it jumps out of one, and 0 or - otherwise.
func (p *Program) Jump(pc uint64) byte {
	if e := p.entry(pc); e != nil {
		return e.jump
	}
	return 0
}

// Inside reports whether the place of an instruction is a part of a function.
func (p *Program) Inside(pc uint64) bool {
	e := p.entry(pc)
	return e != nil && e.inside
}

// Place returns the place of an instruction, or nil if the map has none for it: the compiler made the instruction itself, or the source is not
// known.
func (p *Program) Place(pc uint64) *Place { return p.place(p.entry(pc)) }

func (p *Program) place(e *entry) *Place {
	if e == nil || e.start < 0 || e.length < 0 || e.source < 0 || int(e.source) >= len(p.build.Sources) {
		return nil
	}
	s := &p.build.Sources[e.source]
	start, end := int(e.start), int(e.start)+int(e.length)
	if s.Missing != "" || end > len(s.Content) {
		return nil
	}
	place := &Place{Source: s.Name, start: e.start, Whole: true}
	place.Line, place.Column = s.position(start)
	place.Text = s.line(place.Line)
	if in := s.enclosing(start, end); in != nil {
		place.Contract, place.Function = in.Contract, in.Function
		place.Whole = in.Function == "" || int(e.start) == in.Start && end == in.End
	}
	return place
}

// Entry returns the function that begins at an instruction, nil if none does.
func (p *Program) Entry(pc uint64) *Place {
	e := p.entry(pc)
	if e == nil || e.start < 0 || e.source < 0 || int(e.source) >= len(p.build.Sources) {
		return nil
	}
	s := &p.build.Sources[e.source]
	in := s.starting(int(e.start))
	if in == nil || in.End != int(e.start)+int(e.length) {
		return nil
	}
	return p.Place(pc)
}

// Gap explains why the source of the contract cannot be shown, or is empty.
func (p *Program) Gap() string {
	if p.Missing != "" {
		return p.Missing
	}
	for i := range p.build.Sources {
		if s := &p.build.Sources[i]; s.Name == p.contract.Source {
			return s.Missing
		}
	}
	return "the compiler's output does not list " + p.contract.Source
}
