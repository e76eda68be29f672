// Mutants puts small mistakes into packages, one at a time, and looks whether a package's own tests notice, and others that are named. All
// mistakes of a package are compiled at once, each behind its number in an environment variable, so that a mistake costs no compiling and
// linking of its own, only the tests that come past it. Mistakes that no test notices must stand in accepted.txt, each with its reason, and
// all that stands there must go unnoticed.
package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	sample := flag.Int("sample", 0, "try about this many mistakes of each package, the same ones each time; 0 tries all")
	seed := flag.Uint("seed", 0, "draw another sample")
	only := flag.String("only", "", "try only mistakes whose description contains this")
	others := flag.String("tests", "", "try what a package's own tests do not notice with the tests of these packages, too (divided by commas)")
	patience := flag.Duration("patience", time.Minute, "how long those may take for each mistake, slow tests last")
	verbose := flag.Bool("v", false, "name every mistake that was noticed, too")
	flag.Parse()
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var runs []*run
	for _, p := range expand(flag.Args()) {
		runs = append(runs, &run{pkg: p, dir: filepath.Join(dir, p.name()), sample: *sample, seed: *seed, only: *only, verbose: *verbose, others: *others})
	}
	ok := true
	try := func(what string, do func() error) {
		if err := do(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
			ok = false
		}
	}
	for _, r := range runs {
		try(r.pkg.name(), r.own)
		if *others == "" {
			ok = r.report(os.Stdout) && ok
		}
	}
	if *others != "" {
		for _, p := range expand(strings.Split(*others, ",")) {
			try(p.name(), func() error { return across(dir, p, runs, *patience) })
		}
		for _, r := range runs {
			ok = r.report(os.Stdout) && ok
		}
	}
	os.RemoveAll(dir)
	if !ok {
		os.Exit(1)
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Module                             struct{ Path string }
}

func (l *listed) name() string {
	return "." + strings.TrimPrefix(l.ImportPath, l.Module.Path)
}

func list(args ...string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Module"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		l := new(listed)
		if err := d.Decode(l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

func expand(patterns []string) []*listed {
	all, err := list(patterns...)
	if err != nil || len(patterns) == 0 {
		fmt.Fprintln(os.Stderr, "name packages, as PACKAGES='./sim/utxo ./sim/miner'")
		os.Exit(2)
	}
	return all
}

// run is one package with its mistakes.
type run struct {
	pkg     *listed
	dir     string
	sample  int
	seed    uint
	only    string
	verbose bool
	others  string

	overlay map[string]string
	mutants []*mutant
	tests   int
	took    time.Duration
}

// own tries the mistakes with the package's own tests.
func (r *run) own() error {
	defer func(start time.Time) { r.took = time.Since(start) }(time.Now())
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	source, err := parse(r.pkg)
	if err != nil {
		return err
	}
	if r.mutants, r.overlay, err = source.mutate(r.dir); err != nil {
		return err
	}
	r.choose()
	if len(r.pkg.TestGoFiles)+len(r.pkg.XTestGoFiles) == 0 {
		if r.others == "" {
			return errors.New("the package has no tests")
		}
		return nil
	}
	tests, err := compile(r.dir, r.pkg, r.overlay)
	if err != nil {
		return err
	}
	if err := tests.reach(r.dir); err != nil {
		return err
	}
	r.tests = len(tests.all)
	tests.try(r.mutants, math.MaxInt64, func(m *mutant) { m.noticed = true })
	return nil
}

// across tries with another package's tests what the own tests of all packages did not notice.
func across(dir string, p *listed, runs []*run, patience time.Duration) error {
	overlay := map[string]string{}
	var left []*mutant
	for _, r := range runs {
		maps.Copy(overlay, r.overlay)
		for _, m := range r.mutants {
			if !m.noticed && !m.elsewhere {
				left = append(left, m)
			}
		}
	}
	dir, err := os.MkdirTemp(dir, "across")
	if err != nil {
		return err
	}
	tests, err := compile(dir, p, overlay)
	if err != nil {
		return err
	}
	err = tests.reach(dir)
	tests.try(left, patience, func(m *mutant) { m.elsewhere = true })
	return err
}

// report tells which mistakes were not noticed, and the scores.
func (r *run) report(w io.Writer) (good bool) {
	var tried, noticed, elsewhere, equivalent int
	good = true
	accepted := acceptedOf(r.pkg.name())
	for _, m := range r.mutants {
		reason, listed := accepted[m.key]
		delete(accepted, m.key)
		if !m.chosen {
			continue
		}
		tried++
		switch {
		case (m.noticed || m.elsewhere) && listed:
			good = false
			fmt.Fprintf(w, "noticed, but listed as accepted: %s\n", m.key)
		case m.elsewhere:
			elsewhere++
			if r.verbose {
				fmt.Fprintf(w, "noticed elsewhere: %s\n", m.key)
			}
		case m.noticed:
			noticed++
			if r.verbose {
				fmt.Fprintf(w, "noticed: %s\n", m.key)
			}
		case listed:
			equivalent++
			if r.verbose {
				fmt.Fprintf(w, "accepted: %s (%s)\n", m.key, reason)
			}
		default:
			good = false
			how := "unnoticed"
			if !m.reached {
				how = "no test comes past"
			}
			fmt.Fprintf(w, "%s, line %d: %s\n", how, m.line, m.key)
		}
	}
	for key := range accepted {
		good = false
		fmt.Fprintf(w, "accepted, but gone from the source: %s\n", key)
	}
	score := func(n int) string {
		return fmt.Sprintf("%d of %d noticed (%.1f of 100)", n, tried, 100*float64(n)/float64(max(tried, 1)))
	}
	fmt.Fprintf(w, "%s: %s, %d accepted, %d in all, %d tests, %.0f s\n", r.pkg.name(), score(noticed), equivalent, len(r.mutants), r.tests, r.took.Seconds())
	if r.others != "" {
		fmt.Fprintf(w, "%s with %s: %s\n", r.pkg.name(), r.others, score(noticed+elsewhere))
	}
	return good
}

// suite is the tests of a package, compiled with mistakes.
type suite struct {
	pkg    *listed
	binary string
	all    []test
}

// test is one test, and which mistakes it comes past.
type test struct {
	name    string
	took    time.Duration
	reached map[string]bool
}

func compile(dir string, p *listed, overlay map[string]string) (*suite, error) {
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "test")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", file, "-o", binary, p.ImportPath)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return &suite{pkg: p, binary: binary}, nil
}

// reach runs each test alone and unharmed, and learns which mistakes it comes past.
func (s *suite) reach(dir string) error {
	out, err := s.command("", "-test.list", "^(Test|Example|Fuzz)").Output()
	if err != nil {
		return err
	}
	names := strings.Fields(string(out))
	s.all = make([]test, len(names))
	failed := make([]error, len(names))
	beside(len(names), func(i int) {
		file := filepath.Join(dir, names[i])
		start := time.Now()
		cmd := s.command("", "-test.short", "-test.run", "^"+names[i]+"$")
		cmd.Env = append(cmd.Env, "MUTANTS_REACHED="+file)
		if out, err := cmd.CombinedOutput(); err != nil {
			failed[i] = fmt.Errorf("%s fails without a mistake: %w\n%s", names[i], err, out)
			return
		}
		t := test{names[i], time.Since(start), map[string]bool{}}
		text, _ := os.ReadFile(file) // which is not there when the test comes past none
		for line := range strings.Lines(string(text)) {
			t.reached[strings.TrimSpace(line)] = true
		}
		s.all[i] = t
	})
	return errors.Join(failed...)
}

// command runs the test binary with one mistake, where the package is, with no more memory than tests need.
func (s *suite) command(mistake string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 8000000; exec "$0" "$@"`, s.binary}, args...)...)
	cmd.Dir = s.pkg.Dir
	cmd.Env = append(os.Environ(), "MUTANT="+mistake, "GOMAXPROCS=2")
	return cmd
}

// choose draws the sample by the mistakes' descriptions, so that it stays the same while others come and go.
func (r *run) choose() {
	order := slices.Clone(r.mutants)
	slices.SortStableFunc(order, func(a, b *mutant) int {
		return cmp.Compare(a.hash(r.seed), b.hash(r.seed))
	})
	left := r.sample
	for _, m := range order {
		m.chosen = strings.Contains(m.key, r.only) && (r.sample == 0 || left > 0)
		if m.chosen {
			left--
		}
	}
}

func (m *mutant) hash(seed uint) uint32 {
	h := fnv.New32a()
	if seed > 0 {
		fmt.Fprintln(h, seed)
	}
	io.WriteString(h, m.key)
	return h.Sum32()
}

// try runs, for each mistake, the tests that come past it, fast ones first, while there is patience.
func (s *suite) try(mutants []*mutant, patience time.Duration, noticed func(*mutant)) {
	slices.SortStableFunc(s.all, func(a, b test) int { return int(a.took - b.took) })
	beside(len(mutants), func(i int) {
		m := mutants[i]
		if !m.chosen {
			return
		}
		// Many processes of one fast test each would take longer than one of several; slow tests run alone and only if they must.
		var batch []string
		var took, sum time.Duration
		done := false
		flush := func() {
			if len(batch) > 0 && !done {
				timeout := 10*time.Second + 10*took
				cmd := s.command(m.name, "-test.short", "-test.failfast", "-test.timeout", timeout.String(), "-test.run", "^("+strings.Join(batch, "|")+")$")
				done = cmd.Run() != nil
			}
			batch, took = nil, 0
		}
		for _, t := range s.all {
			if !t.reached[m.name] {
				continue
			}
			m.reached = true
			if sum += t.took; sum > patience {
				continue
			}
			batch, took = append(batch, t.name), took+t.took
			if took > time.Second {
				flush()
			}
		}
		flush()
		if done {
			noticed(m)
		}
	})
}

// beside does n things, as many at once as there are processors.
func beside(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

//go:embed accepted.txt
var acceptedText string

// acceptedOf returns the mistakes of a package that its tests need not notice, with their reasons. In accepted.txt a line that begins with #
// is the reason for the lines after it.
func acceptedOf(pkg string) map[string]string {
	accepted := map[string]string{}
	var reason string
	for line := range strings.Lines(acceptedText) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "# "); ok {
			reason = text
		} else if strings.HasPrefix(line, pkg+"/") && !strings.Contains(strings.TrimPrefix(strings.Fields(line)[0], pkg+"/"), "/") {
			accepted[line] = reason
		}
	}
	return accepted
}
