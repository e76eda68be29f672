// Mutants puts small mistakes into packages, one at a time, and looks whether a package's own tests notice. All mistakes of a package are
// compiled at once, each behind its number in an environment variable, so that a mistake costs no compiling and linking of its own, only
// the tests that come past it. Mistakes that no test notices must stand in accepted.txt, each with its reason, and all that stands there
// must go unnoticed.
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
	verbose := flag.Bool("v", false, "name every mistake that was noticed, too")
	flag.Parse()
	ok := true
	for _, p := range expand(flag.Args()) {
		r := &run{pkg: p, sample: *sample, seed: *seed, only: *only, verbose: *verbose}
		good, err := r.report(os.Stdout)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", p.name(), err)
		}
		ok = ok && good && err == nil
	}
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
	sample  int
	seed    uint
	only    string
	verbose bool

	binary  string
	mutants []*mutant
	tests   []test
}

// test is one test of the package, and which mistakes it comes past.
type test struct {
	name    string
	took    time.Duration
	reached map[int]bool
}

func (r *run) report(w io.Writer) (good bool, err error) {
	start := time.Now()
	if len(r.pkg.TestGoFiles)+len(r.pkg.XTestGoFiles) == 0 {
		return false, errors.New("the package has no tests")
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if err := r.compile(dir); err != nil {
		return false, err
	}
	if err := r.reach(dir); err != nil {
		return false, err
	}
	r.choose()
	r.try()
	var noticed, equivalent int
	good = true
	accepted := acceptedOf(r.pkg.name())
	for _, m := range r.mutants {
		reason, listed := accepted[m.key]
		delete(accepted, m.key)
		switch {
		case !m.chosen:
		case m.noticed && listed:
			good = false
			fmt.Fprintf(w, "noticed, but listed as accepted: %s\n", m.key)
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
	var tried int
	for _, m := range r.mutants {
		if m.chosen {
			tried++
		}
	}
	score := 100.0
	if tried > 0 {
		score = 100 * float64(noticed) / float64(tried)
	}
	fmt.Fprintf(w, "%s: %d of %d noticed (%.1f of 100), %d accepted, %d in all, %d tests, %.0f s\n",
		r.pkg.name(), noticed, tried, score, equivalent, len(r.mutants), len(r.tests), time.Since(start).Seconds())
	return good, nil
}

// compile builds the test binary with all mistakes, without those that do not compile.
func (r *run) compile(dir string) error {
	s, err := parse(r.pkg)
	if err != nil {
		return err
	}
	if r.mutants, err = s.mutate(dir); err != nil {
		return err
	}
	r.binary = filepath.Join(dir, "test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", r.binary, r.pkg.ImportPath)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// reach runs each test alone and unharmed, and learns which mistakes it comes past.
func (r *run) reach(dir string) error {
	out, err := r.command("", "-test.list", "^(Test|Example|Fuzz)").Output()
	if err != nil {
		return err
	}
	names := strings.Fields(string(out))
	r.tests = make([]test, len(names))
	failed := make([]error, len(names))
	beside(len(names), func(i int) {
		file := filepath.Join(dir, names[i])
		start := time.Now()
		cmd := r.command("", "-test.short", "-test.run", "^"+names[i]+"$")
		cmd.Env = append(cmd.Env, "MUTANTS_REACHED="+file)
		if out, err := cmd.CombinedOutput(); err != nil {
			failed[i] = fmt.Errorf("%s fails without a mistake: %w\n%s", names[i], err, out)
			return
		}
		t := test{names[i], time.Since(start), map[int]bool{}}
		text, _ := os.ReadFile(file) // which is not there when the test comes past none
		for line := range strings.Lines(string(text)) {
			var id int
			fmt.Sscan(line, &id)
			t.reached[id] = true
		}
		r.tests[i] = t
	})
	return errors.Join(failed...)
}

// command runs the test binary with one mistake, where the package is, with no more memory than tests need.
func (r *run) command(id string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 8000000; exec "$0" "$@"`, r.binary}, args...)...)
	cmd.Dir = r.pkg.Dir
	cmd.Env = append(os.Environ(), "MUTANT="+id, "GOMAXPROCS=2")
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

// try runs, for each mistake, the tests that come past it, fast ones first.
func (r *run) try() {
	slices.SortStableFunc(r.tests, func(a, b test) int { return int(a.took - b.took) })
	beside(len(r.mutants), func(i int) {
		m := r.mutants[i]
		if !m.chosen {
			return
		}
		// Many processes of one fast test each would take longer than one of several; slow tests run alone and only if they must.
		var batch []string
		var took time.Duration
		flush := func() {
			if len(batch) > 0 && !m.noticed {
				timeout := 10*time.Second + 10*took
				cmd := r.command(fmt.Sprint(m.id), "-test.short", "-test.failfast", "-test.timeout", timeout.String(), "-test.run", "^("+strings.Join(batch, "|")+")$")
				m.noticed = cmd.Run() != nil
			}
			batch, took = nil, 0
		}
		for _, t := range r.tests {
			if !t.reached[m.id] {
				continue
			}
			m.reached = true
			batch, took = append(batch, t.name), took+t.took
			if took > time.Second {
				flush()
			}
		}
		flush()
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
