package handlers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/fixtures"
	"snowglobe/fixtures/userfile"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/control"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/search"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/surface"
	"snowglobe/handlers/webhook"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// Values of the flag that limits what validators sign.
const (
	signAny   = "any"
	signKnown = "known"
)

// Flags holds the command line's flags for serving.
type Flags struct {
	L1 L1Flags // of the verb import

	Addresses Addresses
	Quiet     bool
	WithStdin bool // stop when stdin ends
	Search    SearchFlags

	readyFile                                                            string
	network, dialect, logFormat, keys, hosts, profiles, warpSign, faults string
	requireKey, admin, public, control, index, noIndex                   bool
	asNetwork, sealed                                                    bool
	hostNames                                                            intercept.Options // of --as-network
	origins                                                              []string          // in the form of permit.Rule
	rateLimit                                                            int
	exportWorkers, exportQueue, exportKeep                               int
	exportMaxRows                                                        int64
	exportRetention                                                      time.Duration
	mining                                                               Mining
	noMining, mixedMining, relayer, noRelayer                            bool
	clockRate                                                            float64
	strict                                                               strictness
	journal                                                              int
	live                                                                 bool
	webhookHosts                                                         string
	worlds                                                               int
	worldSize, undoBlocks                                                int64
	solc                                                                 []string
	artifacts                                                            []string
	gasReport                                                            bool
	record, against, junit                                               string
}

// NewFlags declares the flags for serving.
func NewFlags(f *pflag.FlagSet) *Flags {
	s := &Flags{}
	s.L1.declare(f)
	f.StringVar(&s.Addresses.Main, "addr", "127.0.0.1:9650", "`HOST:PORT` to listen on, or of the running server that a verb talks to")
	f.StringVar(&s.Addresses.Fuji, "fuji-addr", "", "`HOST:PORT` that serves fuji under /ext, for clients that keep only a URL's origin, or off (default: two ports above --addr's)")
	f.BoolVar(&s.asNetwork, "as-network", false, "answer for the real network's own host names too, as a proxy: exec sets up its command, serve shows how to set up a browser")
	f.BoolVar(&s.sealed, "sealed", false, "with --as-network, refuse every other host but this machine; exec lists the refused hosts and fails")
	f.Var(&parsed{read: s.allowHosts}, "allow-host", "`HOSTS`, separated by commas, that --sealed lets pass; *.example.com for all names below one; repeatable")
	f.Var(&parsed{read: s.addHosts}, "as-host", "`HOST=SERVICE` for another host to answer for: data, metrics, node, etherscan, compilers or chain:ID; repeatable")
	f.StringVar(&s.network, "network", fixtures.MainnetName, "`NAME` of the network for /ext paths without one: mainnet or fuji")
	f.StringVar(&s.dialect, "dialect", "auto", "`NAME` of the dialect of the Data and Metrics API: auto, spec or upstream")
	f.IntVar(&s.rateLimit, "rate-limit", 0, "`N` requests a minute for each client, twice as many with a key of --api-keys; requests beyond that get a 429. 0 for no limit")
	f.StringVar(&s.keys, "api-keys", "", "YAML `FILE` of API keys: key, limit, interfaces (data, metrics, sim), networks. The Metrics API and /sim work without a key and ignore a key's networks")
	f.BoolVar(&s.requireKey, "require-api-key", false, "reject Data API requests without a key of --api-keys; web pages ask for one too, or take it from ?rltoken=")
	f.BoolVar(&s.admin, "api-admin-enabled", false, "serve the node's admin API at /ext/admin. Aliases and log levels set there last until the program ends")
	f.BoolVar(&s.noIndex, "no-index", false, "do not serve the node's index of accepted containers at /ext/index; same as a node's --index-enabled=false")
	f.BoolVar(&s.index, "index-enabled", true, "serve the node's index; --no-index is the opposite")
	f.StringVar(&s.profiles, "profile-dir", "", "`FOLDER` for the admin API's cpu.profile, mem.profile, lock.profile and stacktrace.txt (default: a new temporary folder, shown by admin.getConfig)")
	f.StringVar(&s.hosts, "http-allowed-hosts", "localhost", "host `NAMES`, separated by commas, that /ext answers to; IP addresses always work, * allows any name")
	f.Var(&parsed{read: s.allowOrigins}, "allow-origin", "`ORIGINS`, separated by commas, such as https://app.example, whose pages may change the world, as localhost's may; * for all; repeatable")
	f.BoolVar(&s.control, "allow-control", false, "when listening beyond loopback, allow every change of the world, not only signed transactions")
	f.StringVar(&s.webhookHosts, "webhook-hosts", "", "`NAMES` or addresses of hosts, separated by commas, that webhooks may call besides this machine; * for any")
	f.BoolVar(&s.public, "public", false, "answer as a public API server: without info.getNodeID, getNodeIP, getVMs and the admin API")
	f.Var(&s.strict, "strict", "answer only the methods that a node of the network has on the world's date: no anvil_ methods, no unlocked accounts and, after Helicon, no eth_coinbase on the C-Chain. --strict=all adds the APIs that a node has off by default, such as debug_")
	f.Lookup("strict").NoOptDefVal = "true"
	f.Var(&parsed{read: s.mining.setInterval}, "block-time", "`TIME`, such as 2s or 2, of real time between each EVM chain's blocks, instead of one block for each transaction")
	f.BoolVar(&s.mixedMining, "mixed-mining", false, "with --block-time, also make a block for each transaction at once")
	f.BoolVar(&s.noMining, "no-mining", false, "make blocks of EVM chains only when a client asks for them (evm_mine)")
	f.BoolVar(&s.noRelayer, "no-relayer", false, "leave Teleporter messages that clients send to a relayer of your own")
	f.BoolVar(&s.relayer, "relayer", true, "deliver messages; --no-relayer is the opposite")
	for _, older := range []string{"index-enabled", "relayer"} { // "off" is the one documented form; these remain for users of the older one
		f.Lookup(older).Hidden = true
	}
	f.Float64Var(&s.clockRate, "clock-rate", 0, "run the world's clock `N` times as fast as real time; at 0 it stands still until something moves it")
	f.BoolVar(&s.live, "live", false, "let time pass and people act, in real time unless --clock-rate says otherwise")
	f.StringVar(&s.warpSign, "warp-sign", signAny, "`WHICH` messages validators sign for the aggregator: any well-formed one, or only known ones, which the world sent or can justify")
	f.StringArrayVar(&s.solc, "solc", nil, "`FILE` of a Solidity compiler, or of solc's soljson.js for Node, to compile the contracts that clients verify, besides the compilers that Foundry and Hardhat keep; repeatable")
	f.IntVar(&s.exportWorkers, "export-workers", 2, "`N` transaction exports that run at once; others wait")
	f.IntVar(&s.exportQueue, "export-queue", 256, "`N` unfinished transaction exports at most, including waiting ones; 0 for no limit")
	f.IntVar(&s.exportKeep, "export-keep", 1000, "`N` latest finished exports to keep; 0 for all")
	f.Int64Var(&s.exportMaxRows, "export-max-rows", 1_000_000, "`N` rows at most in an export, except that a larger first day is written in full; 0 for no limit")
	f.DurationVar(&s.exportRetention, "export-retention", 0, "`TIME` to keep a finished export, by the world's clock, such as 24h; 0 for ever")
	f.Var(&parsed{read: s.addArtifacts}, "artifacts", "`FOLDERS`, separated by commas, of compiled contracts: Foundry's out or Hardhat's artifacts. Calls, events and failures of these contracts get names, lines and reasons; the server notices a new build; repeatable")
	f.BoolVar(&s.gasReport, "gas-report", false, "with exec, print the gas of each function of each contract once the command has ended")
	f.StringVar(&s.record, "record", "", "`FILE` to which exec writes what the command did to the world, once the command has ended; play repeats it")
	f.StringVar(&s.against, "against", "", "`CHANGE` that makes the second world of rehearse: seed=N, dialect=NAME or strict; or use --upgrade NAME")
	f.StringVar(&s.junit, "junit", "", "`FILE` to which rehearse writes its report in JUnit's format")
	f.IntVar(&s.Search.Runs, "runs", 200, "`N` runs of the command, each with different faults")
	f.DurationVar(&s.Search.Budget, "budget", 0, "`TIME` for the whole search, such as 5m; 0 for no limit")
	f.IntVar(&s.Search.Workers, "workers", runtime.NumCPU(), "`N` runs at a time, each in a world of its own")
	f.StringVar(&s.Search.Corpus, "corpus", search.DefaultCorpus, "`FILE` of schedules: search tries them first and adds what it finds, exec looks up ids in it")
	f.BoolVar(&s.Search.Reorg, "reorg", false, "also replace the newest block now and then, which the real network never does")
	f.StringVar(&s.Search.Report, "report", "", "`FILE` for an HTML page with every run and its faults")
	f.StringVar(&s.Search.Schedule, "schedule", "", "`ID` of a schedule of faults that search saved in --corpus, or a file with one")
	f.StringVar(&s.faults, "faults", "", "YAML `FILE` with a list of faults, as POST /sim/faults takes them")
	f.IntVar(&s.journal, "journal", journal.DefaultSize, "`N` latest requests and responses to remember for /sim/requests, fewer if responses are long; 0 for none")
	f.IntVar(&s.worlds, "worlds", 200, "`N` worlds that clients may make with POST /sim/worlds, besides the main one; 0 for none")
	f.Int64Var(&s.worldSize, "world-size", 1024, "`N` MiB at most for each of the --worlds")
	f.Int64Var(&s.undoBlocks, "undo-blocks", store.DefaultUndoBlocks, "`N` newest blocks, and other changes, that anvil_reorg and anvil_rollback can undo; only snapshots and a reset go further back")
	f.StringVar(&s.logFormat, "log-format", "text", "`NAME` of the log's format: text, a readable line for each request, in colour on a terminal unless NO_COLOR is set, or json")
	f.BoolVar(&s.WithStdin, withStdinFlag, false, "stop when stdin ends, which happens when the program that writes to it exits or is killed")
	f.StringVar(&s.readyFile, "ready-file", "", "`FILE` to write once the server answers: a JSON object with url, pid and digest, like the first line of stdout")
	f.BoolVar(&s.Quiet, "quiet", false, "no banner, no progress, only errors in the log")
	return s
}

// Options converts the flags to options; the log goes to w.
func (s *Flags) Options(w io.Writer) (o Options, err error) {
	o = Options{Record: s.record, Version: control.Version(), RateLimit: s.rateLimit, RequireKey: s.requireKey, ReadyFile: s.readyFile, Solc: solc.New(s.solc)}
	for _, file := range s.solc {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return o, fmt.Errorf("--solc: %s is not a file", file)
		}
	}
	if err = checkAddress(s.Addresses.Main); err != nil {
		return o, fmt.Errorf("--addr: %w", err)
	}
	if fuji := s.Addresses.Fuji; fuji != "" && fuji != Off {
		if err = checkAddress(fuji); err != nil {
			return o, fmt.Errorf("--fuji-addr: %w, or off", err)
		}
	}
	if err = s.readAsNetwork(); err != nil {
		return o, err
	}
	network, err := fixtures.NetworkNamed(s.network)
	if err != nil {
		return o, fmt.Errorf("--network: %w", err)
	}
	if o.Network = network.Name; o.Network == fixtures.FujiName && s.Addresses.Fuji == "" {
		s.Addresses.Fuji = Off // the main address serves it
	}
	if o.Dialect, err = rest.ParseDialectMode(s.dialect); err != nil {
		return o, fmt.Errorf("--dialect: %w", err)
	}
	if o.Log, err = rest.NewLogger(w, s.logFormat, s.Quiet); err != nil {
		return o, fmt.Errorf("--log-format: %w", err)
	}
	if s.Addresses.AsNetwork != nil {
		s.Addresses.AsNetwork.Log = o.Log
	}
	o.Node = NodeOptions{Hosts: splitNames(s.hosts), Public: s.public, Admin: s.admin, NoIndex: s.noIndex || !s.index, Profiles: s.profiles, Strict: surface.State(s.strict)}
	if s.warpSign != signAny && s.warpSign != signKnown {
		return o, fmt.Errorf("--warp-sign: %q is not one of %s, %s", s.warpSign, signAny, signKnown)
	}
	o.Relayer = s.relayer && !s.noRelayer
	o.Webhooks = webhook.Targets{Hosts: splitNames(s.webhookHosts)}
	o.Permit = permit.Rule{Origins: s.origins, Control: s.control}
	o.Data.KnownOnly = s.warpSign == signKnown
	if s.public && s.admin {
		return o, errors.New("--public hides the admin API and cannot be combined with --api-admin-enabled")
	}
	if s.rateLimit < 0 {
		return o, fmt.Errorf("--rate-limit: %d is less than 0", s.rateLimit)
	}
	if err = s.readExports(&o.Exports); err != nil {
		return o, err
	}
	if o.Mining, err = s.readMining(); err != nil {
		return o, err
	}
	if o.Live = s.live; o.Live && s.clockRate == 0 {
		s.clockRate = 1
	}
	if o.ClockRate = s.clockRate; !(s.clockRate >= 0 && s.clockRate <= control.MaxRate) {
		return o, fmt.Errorf("--clock-rate: %v is not from 0 to %d", s.clockRate, control.MaxRate)
	}
	if o.JournalSize = s.journal; s.journal < 0 {
		return o, fmt.Errorf("--journal: %d is less than 0", s.journal)
	}
	if s.worlds < 0 {
		return o, fmt.Errorf("--worlds: %d is less than 0", s.worlds)
	}
	if s.worldSize < 1 || s.worldSize > mostWorldSize {
		return o, fmt.Errorf("--world-size: %d is not from 1 to %d", s.worldSize, mostWorldSize)
	}
	if o.UndoBlocks = s.undoBlocks; o.UndoBlocks < 1 {
		return o, fmt.Errorf("--undo-blocks: %d is less than 1", o.UndoBlocks)
	}
	o.Many.Most, o.Many.MostBytes = s.worlds, s.worldSize<<20
	if err = o.AddArtifacts(s.artifacts); err != nil {
		return o, err
	}
	if s.gasReport {
		o.GasReport = w
	}
	if o.Faults, err = readFaults(s.faults); err != nil {
		return o, err
	}
	if s.Search.Schedule != "" {
		list, err := search.Named(s.Search.Schedule, s.Search.Corpus)
		if err != nil {
			return o, fmt.Errorf("--schedule: %w", err)
		}
		o.Schedule = fault.Repeat(list)
	}
	if s.Search.Runs < 1 || s.Search.Workers < 1 {
		return o, errors.New("--runs and --workers must be at least 1")
	}
	return o, s.readKeys(&o)
}

func (s *Flags) addArtifacts(list string) error {
	for path := range strings.SplitSeq(list, ",") {
		if path = strings.TrimSpace(path); path == "" {
			return errors.New("a folder's name is empty")
		}
		s.artifacts = append(s.artifacts, path)
	}
	return nil
}

// AddArtifacts reads folders of compiled contracts, and logs what cannot be read.
func (o *Options) AddArtifacts(folders []string) error {
	if o.Artifacts == nil {
		o.Artifacts = artifacts.New()
	}
	for _, path := range folders {
		if err := o.Artifacts.AddFolder(path); err != nil {
			return fmt.Errorf("artifacts: %w", err)
		}
	}
	if o.Log == nil {
		return nil
	}
	for _, f := range o.Artifacts.Folders() {
		for _, problem := range f.Problems {
			o.Log.Warn("artifacts: "+problem, "folder", f.Path)
		}
	}
	return nil
}

// parsed is a flag whose values a function reads. It remembers them as they were given.
type parsed struct {
	read  func(string) error
	given []string
}

func (p *parsed) Set(text string) error {
	p.given = append(p.given, text)
	return p.read(text)
}

func (p *parsed) String() string { return strings.Join(p.given, ",") }

// GetSlice returns the values as those of a repeated flag.
func (p *parsed) GetSlice() []string { return p.given }

// Type is the one that pflag gives such flags.
func (p *parsed) Type() string { return "func" }

func (s *Flags) allowHosts(list string) error {
	for _, text := range splitNames(list) {
		name, err := intercept.ParseAllowed(text)
		if err != nil {
			return err
		}
		s.hostNames.Allow = append(s.hostNames.Allow, name)
	}
	return nil
}

func (s *Flags) addHosts(list string) error {
	for text := range strings.SplitSeq(list, ",") {
		h, err := intercept.ParseHost(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		s.hostNames.Hosts = append(s.hostNames.Hosts, h)
	}
	return nil
}

func (s *Flags) readAsNetwork() error {
	s.hostNames.Sealed = s.sealed
	switch {
	case s.asNetwork:
		s.Addresses.AsNetwork = &AsNetwork{Options: s.hostNames, Exposed: s.control}
		s.Search.AsNetwork = s.Addresses.AsNetwork
	case s.sealed:
		return errors.New("--sealed needs --as-network")
	case len(s.hostNames.Hosts) > 0:
		return errors.New("--as-host needs --as-network")
	case len(s.hostNames.Allow) > 0:
		return errors.New("--allow-host needs --as-network")
	}
	return nil
}

// strictness is the value of a flag that is false, true or all.
type strictness surface.State

// Set reads a value.
func (s *strictness) Set(text string) error {
	switch text {
	case "false":
		*s = strictness(surface.Never)
	case "true":
		*s = strictness(surface.On)
	case "all":
		*s = strictness(surface.Off)
	default:
		return fmt.Errorf("%q is not true, false or all", text)
	}
	return nil
}

func (s *strictness) String() string {
	return [...]string{surface.Never: "false", surface.Off: "all", surface.On: "true"}[*s]
}

// Type is empty, as help names no value that the flag needs.
func (*strictness) Type() string { return "" }

// mostWorldSize is in MiB.
const mostWorldSize = 1 << 20

// CheckReadOnly rejects options that a read-only world cannot have.
func (o *Options) CheckReadOnly() error {
	if o.Live || o.ClockRate > 0 || o.Mining.Interval > 0 {
		return errors.New("--read-only cannot be combined with --live, --clock-rate or --block-time, which change the world")
	}
	return nil
}

// Mining states when EVM chains make blocks. The zero value is automine: one block for each transaction, at once.
type Mining struct {
	Interval time.Duration // between blocks, 0 for none
	Manual   bool          // transactions do not trigger blocks
}

// setInterval reads a duration, or a number of seconds as anvil does.
func (m *Mining) setInterval(text string) (err error) {
	if m.Interval, err = time.ParseDuration(text); err != nil {
		var seconds uint32
		if _, err := fmt.Sscanf(text+";", "%d;", &seconds); err != nil {
			return errors.New("expected a time such as 2s or 500ms")
		}
		m.Interval = time.Duration(seconds) * time.Second
	}
	if m.Interval <= 0 {
		return errors.New("expected a time above 0")
	}
	return nil
}

func (s *Flags) readMining() (Mining, error) {
	m := s.mining
	switch {
	case s.noMining && (m.Interval > 0 || s.mixedMining):
		return m, errors.New("--no-mining cannot be combined with --block-time or --mixed-mining")
	case s.mixedMining && m.Interval == 0:
		return m, errors.New("--mixed-mining needs --block-time")
	}
	m.Manual = s.noMining || m.Interval > 0 && !s.mixedMining
	return m, nil
}

func (s *Flags) allowOrigins(list string) error {
	for _, name := range splitNames(list) {
		if name != "*" {
			origin, err := permit.ParseOrigin(name)
			if err != nil {
				return err
			}
			name = origin
		}
		s.origins = append(s.origins, name)
	}
	return nil
}

func (s *Flags) readExports(o *export.Options) error {
	switch {
	case s.exportWorkers < 1:
		return fmt.Errorf("--export-workers: %d is less than 1", s.exportWorkers)
	case s.exportQueue < 0:
		return fmt.Errorf("--export-queue: %d is less than 0", s.exportQueue)
	case s.exportKeep < 0:
		return fmt.Errorf("--export-keep: %d is less than 0", s.exportKeep)
	case s.exportMaxRows < 0:
		return fmt.Errorf("--export-max-rows: %d is less than 0", s.exportMaxRows)
	case s.exportRetention < 0 || s.exportRetention%time.Second != 0:
		return fmt.Errorf("--export-retention: %s is not whole seconds", s.exportRetention)
	}
	o.Queue, o.Kept = s.exportQueue, s.exportKeep
	o.Workers, o.MaxRows, o.Retention = s.exportWorkers, s.exportMaxRows, int64(s.exportRetention/time.Second)
	return nil
}

// checkAddress rejects a text that is not HOST:PORT.
func checkAddress(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not of the form HOST:PORT", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("port %q of %q is not a number from 0 to 65535", port, addr)
	}
	return nil
}

func splitNames(list string) []string {
	names := []string{}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (s *Flags) readKeys(o *Options) error {
	if s.keys == "" {
		if s.requireKey {
			return fmt.Errorf("--require-api-key needs --api-keys")
		}
		return nil
	}
	raw, err := userfile.Read(s.keys, userfile.MostYAML)
	if err != nil {
		return fmt.Errorf("--api-keys: %w", err)
	}
	if o.Keys, err = rest.ReadKeys(raw); err != nil {
		return fmt.Errorf("--api-keys: %s: %w", s.keys, err)
	}
	return nil
}
