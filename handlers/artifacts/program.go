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
	numbers  map[function]int32
	Missing  string // why nothing can be placed, as a sentence; empty if something can
}

// function identifies a function by its source and where it begins there.
type function struct{ source, start int32 }

// entry is one instruction's entry of a source map.
type entry struct {
	start, length, source int32
	jump                  byte  // i into a function, o out of one, - otherwise
	inside                int32 // the function around a place that is only a part of one, by number; 0 for none
	whole                 int32 // the function whose whole the place is; 0 for none
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
	p.numbers = map[function]int32{}
	known := map[entry]entry{}
	for i := range p.entries {
		e := &p.entries[i]
		key := entry{start: e.start, length: e.length, source: e.source}
		found, ok := known[key]
		if place, in := p.locate(&key); !ok && place != nil && place.Function != "" {
			of := function{e.source, int32(in.Start)}
			if p.numbers[of] == 0 {
				p.numbers[of] = int32(len(p.numbers) + 1)
			}
			if place.Whole {
				found.whole = p.numbers[of]
			} else {
				found.inside = p.numbers[of]
			}
		}
		known[key] = found
		e.inside, e.whole = found.inside, found.whole
	}
	return p, nil
}

// parseSourceMap reads a source map of so many instructions at most. What it cannot read stays as in the entry before.
func parseSourceMap(text string, most int) (all []entry) {
	last := entry{-1, -1, -1, '-', 0, 0}
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
	Line     int    // from 1
	Column   int    // in bytes, from 1
	Text     string // of the line
	Code     string // at the place, or its beginning

	Start, End int  // of the place in the source, in bytes
	Whole      bool // the place is a whole function or contract, so the compiler does not tell a line
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

// Inside returns a number of the function around an instruction whose place is a part of it, 0 if it is not.
func (p *Program) Inside(pc uint64) int32 {
	if e := p.entry(pc); e != nil {
		return e.inside
	}
	return 0
}

// Whole returns the number, as of Inside, of the function whose whole is the place of an instruction, as where it begins; 0 for none.
func (p *Program) Whole(pc uint64) int32 {
	if e := p.entry(pc); e != nil {
		return e.whole
	}
	return 0
}

// Number returns the number, as of Inside, of a function of the contract, 0 if no instruction is of it.
func (p *Program) Number(name string) int32 {
	for i := range p.build.Sources {
		if s := &p.build.Sources[i]; s.Name == p.contract.Source {
			for _, in := range s.scopes() {
				if in.Contract == p.contract.Name && in.Function == name && p.numbers[function{int32(i), int32(in.Start)}] != 0 {
					return p.numbers[function{int32(i), int32(in.Start)}]
				}
			}
		}
	}
	return 0
}

// Start returns where the place of an instruction begins in its source.
func (p *Program) Start(pc uint64) int32 {
	if e := p.entry(pc); e != nil {
		return e.start
	}
	return -1
}

// Mentions reports whether the text of the function around one place has the name of the function around another one, or whether both are
// constructors: the compiler runs that of a base with the contract's own.
func (p *Program) Mentions(by, of *Place) bool {
	if by.Function == "constructor" && of.Function == "constructor" {
		return true
	}
	for i := range p.build.Sources {
		s := &p.build.Sources[i]
		if s.Name != by.Source {
			continue
		}
		in := s.enclosing(by.Start, by.End)
		if in == nil {
			return false
		}
		t := tokens{text: s.Content[in.Start:in.End]}
		for word, _ := t.next(); word != ""; word, _ = t.next() {
			if word == of.Function {
				return true
			}
		}
	}
	return false
}

// Only returns the place of a text within the function around a place, or nil if it is not there exactly once.
func (p *Program) Only(at *Place, text string) *Place {
	for i := range p.build.Sources {
		s := &p.build.Sources[i]
		if s.Name != at.Source {
			continue
		}
		in := s.enclosing(at.Start, at.End)
		if in == nil || in.Function == "" || strings.Count(s.Content[in.Start:in.End], text) != 1 {
			return nil
		}
		start := in.Start + strings.Index(s.Content[in.Start:in.End], text)
		place := &Place{Contract: in.Contract, Function: in.Function, Source: s.Name, Start: start, End: start + len(text), Code: text}
		place.Line, place.Column = s.position(start)
		place.Text = s.line(place.Line)
		return place
	}
	return nil
}

// Place returns the place of an instruction, or nil if the map has none for it: the compiler made the instruction itself, or the source is not
// known.
func (p *Program) Place(pc uint64) *Place {
	place, _ := p.locate(p.entry(pc))
	return place
}

func (p *Program) locate(e *entry) (*Place, *scope) {
	if e == nil || e.start < 0 || e.length < 0 || e.source < 0 || int(e.source) >= len(p.build.Sources) {
		return nil, nil
	}
	s := &p.build.Sources[e.source]
	start, end := int(e.start), int(e.start)+int(e.length)
	if s.Missing != "" || end < start || end > len(s.Content) { // a sum of 32 bits may overflow
		return nil, nil
	}
	place := &Place{Source: s.Name, Start: start, End: end, Whole: true}
	place.Line, place.Column = s.position(start)
	place.Text = s.line(place.Line)
	place.Code = s.Content[start:min(end, start+mostQuoted)]
	in := s.enclosing(start, end)
	if in != nil {
		place.Contract, place.Function = in.Contract, in.Function
		place.Whole = in.Function == "" || start == in.Start && end == in.End
	}
	return place, in
}

// mostQuoted bounds the code that a place quotes.
const mostQuoted = 200

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
