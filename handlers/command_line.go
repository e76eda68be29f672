package handlers

import (
	"slices"

	"github.com/spf13/pflag"

	"snowglobe/handlers/cli"
	"snowglobe/handlers/control"
)

// Flags that several verbs share.
var (
	worldFlags   = []string{"db", "seed", "profile", "until", "upgrade"}
	addressFlags = []string{"addr"}
	noteFlags    = []string{"log-format", "quiet"}
	searchFlags  = []string{"runs", "budget", "workers", "reorg", "report"}
)

// l1Flags lists the flags of import.
var l1Flags = []string{"l1-name", "l1-network", "l1-upgrade", "l1-airdrop"}

// Flags that only verbs other than serve have.
const (
	forceFlag   = "force"
	jsonFlag    = "json"
	againstFlag = "against"
	junitFlag   = "junit"
)

// withStdinFlag is a flag of serve alone: exec passes its stdin to the command.
const withStdinFlag = "with-stdin"

// groups orders the flags of serve in help.
var groups = []cli.Group{
	{Title: "The world", Flags: []string{"db", "seed", "profile", "until", "upgrade", "read-only", "regenerate", "worlds", "world-size"}},
	{Title: "Addresses and interfaces", Flags: []string{"addr", "fuji-addr", "network", "dialect", "public", "strict", "no-index", "index-enabled", "api-admin-enabled", "profile-dir", "warp-sign", "rate-limit"}},
	{Title: "The network's own host names", Flags: []string{"as-network", "sealed", "allow-host", "as-host"}},
	{Title: "Permissions", Flags: []string{"allow-control", "allow-origin", "http-allowed-hosts", "webhook-hosts", "api-keys", "require-api-key"}},
	{Title: "Time and blocks", Flags: []string{"live", "clock-rate", "block-time", "mixed-mining", "no-mining", "no-relayer", "relayer", "undo-blocks"}},
	{Title: "Your contracts", Flags: []string{"solc"}},
	{Title: "Exports", Flags: []string{"export-workers", "export-queue", "export-keep", "export-max-rows", "export-retention"}},
	{Title: "Faults, logs and the program itself", Flags: []string{"artifacts", "gas-report", "record", "faults", "schedule", "corpus", "journal", "log-format", "quiet", "ready-file", withStdinFlag, againstFlag, junitFlag, forceFlag, jsonFlag, "config"}},
	{Title: "Names as source code", Flags: typesFlags},
	{Title: "An L1 to import", Flags: l1Flags},
	{Title: "A search", Flags: searchFlags},
}

// CommandLine builds the program's command line from its flags: the world's flags, which are declared elsewhere, and all the others.
func CommandLine(f *pflag.FlagSet) *cli.Program {
	all := slices.Clone(worldFlags)
	f.SortFlags = false
	f.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(all, flag.Name) {
			all = append(all, flag.Name)
		}
	})
	of := func(groups ...[]string) []string { return slices.Concat(groups...) }
	all = slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains([]string{forceFlag, jsonFlag, againstFlag, junitFlag, withStdinFlag}, name) || slices.Contains(typesFlags, name) || slices.Contains(l1Flags, name) || slices.Contains(searchFlags, name)
	})
	return &cli.Program{
		Flags: f, Groups: groups, Version: control.Version(), Given: Given,
		Values: map[string][]string{
			"network": {"mainnet", "fuji"}, "dialect": {"auto", "spec", "upstream"}, "log-format": {"text", "json"},
			"profile": {"tiny", "default", "large"}, "warp-sign": {signAny, signKnown},
		},
		Verbs: []cli.Verb{
			{
				Name: "serve", Summary: "open the world, or generate it if the file does not exist, and serve it", Flags: of(all, []string{withStdinFlag}),
				Examples: `  snowglobe
  snowglobe serve --db :memory: --profile tiny --addr 127.0.0.1:0
  snowglobe serve --until now --live --db today.db`,
			},
			{
				Name: "exec", Program: true, Flags: all, Defaults: ExecDefaults, Summary: "serve a world while a command runs, with URLs and keys in the command's environment",
				Details:  "By default the world is tiny, in memory and on a free port.\nThe exit code is the command's.",
				Examples: "  snowglobe exec -- npm test\n  snowglobe exec --as-network --sealed -- npm test\n  snowglobe exec --profile default -- go test ./...",
			},
			{
				Name: "rehearse", Program: true, Flags: of(all, []string{againstFlag, junitFlag, jsonFlag}), Defaults: ExecDefaults,
				Summary:  "run a command in two worlds that differ in one thing, such as an upgrade, and compare what it got",
				Details:  "It matches the requests of both runs, and lists the fields that differ because of the rules, with the\npage of the manual that explains each. It exits with 1 if the command behaves differently. See the page\nrehearsal.",
				Examples: "  snowglobe rehearse --upgrade helicon -- npm test\n  snowglobe rehearse --against strict -- npm test\n  snowglobe rehearse --against seed=2 --junit rehearsal.xml -- npm test",
			},
			{
				Name: "mcp", Flags: all, Defaults: ExecDefaults, Summary: "serve an agent over the Model Context Protocol, on stdin and stdout",
				Details:  "By default it serves a tiny world of its own, in memory and on a free port; with --addr, a running server's\nworld. A running server serves the same at /mcp.",
				Examples: "  snowglobe mcp\n  snowglobe mcp --profile default --seed 7\n  snowglobe mcp --addr 127.0.0.1:9650",
			},
			{
				Name: "search", Program: true, Flags: of(worldFlags, []string{"read-only", "network", "dialect", "strict", "as-network", "sealed", "allow-host", "as-host", "no-mining", "block-time", "no-relayer", "artifacts", "faults"}, searchFlags, []string{"corpus", jsonFlag}, noteFlags),
				Defaults: ExecDefaults, Summary: "run a command many times with faults, and find the fewest that make it fail",
				Details:  "Each run gets its own world and the environment that exec sets, and its number decides its faults. search\nexits with 1 if the command fails in a run; exec --schedule repeats that run's faults.",
				Examples: "  snowglobe search --runs 200 --budget 5m -- npm test\n  snowglobe exec --schedule 7f3a91c2 -- npm test",
			},
			{
				Name: "env", Summary: "print exec's environment for the server at --addr, as shell exports", Flags: of(addressFlags, noteFlags),
				Examples: `  eval "$(snowglobe env)"`,
			},
			{
				Name: "healthcheck", Summary: "exit with 0 if the server at --addr is healthy, otherwise with 1", Flags: of(addressFlags, noteFlags),
				Examples: "  snowglobe healthcheck --addr 127.0.0.1:9650",
			},
			{
				Name: "generate", Summary: "generate a world file and exit", Flags: of(worldFlags, []string{"regenerate"}, noteFlags),
				Examples: "  snowglobe generate --profile tiny --seed 7 --db seven.db",
			},
			{
				Name: "init", Operands: "[FILE]", Flags: of([]string{forceFlag}, noteFlags),
				Summary:  "write an example of your own world, with comments",
				Details:  "It is a profile with accounts, tokens, contracts, L1s and transactions. The default FILE is\nworld.yaml. Only --force overwrites an existing file.",
				Examples: "  snowglobe init\n  snowglobe --profile world.yaml",
			},
			{
				Name: "verify", Summary: "rebuild the world from its transactions and compare every row", Flags: of(worldFlags, []string{"read-only", jsonFlag}, noteFlags),
				Details:  "It fails on the first mismatch.",
				Examples: "  snowglobe verify --db seven.db",
			},
			{
				Name: "digest", Summary: "print the world's digest, and nothing else", Flags: of(worldFlags, []string{"read-only", jsonFlag}, noteFlags),
				Examples: "  snowglobe digest --db :memory: --profile tiny",
			},
			{
				Name: "clock", Operands: "[advance SPAN | set TIME | until EVENT | show]", Flags: of(worldFlags, []string{"live", "no-relayer", "relayer", jsonFlag}, noteFlags),
				Summary: "move the clock of a world that no server has open, and print the time",
				Details: "With --live, people act along the way. To move a running server's clock, use POST /sim/clock.",
				Examples: `  snowglobe clock advance 36h
  snowglobe clock set 2026-08-01T00:00:00Z
  snowglobe clock until next-validator-end`,
			},
			{
				Name: "play", Operands: playOperands, Flags: of(worldFlags, addressFlags, []string{"network", "strict", "no-mining", "live", "no-relayer", "relayer", jsonFlag}, noteFlags),
				Summary: "play a session on a world, and print the digest",
				Details: "A session is a text file with one action a line; see the page sessions. With --addr, play uses a running\nserver's world, otherwise a world that no server has open.",
				Examples: `  snowglobe exec --record first.session -- npm test
  snowglobe play --db :memory: --profile tiny first.session
  snowglobe play --addr 127.0.0.1:9650 first.session`,
			},
			{
				Name: "import", Operands: importOperands, Flags: of(worldFlags, l1Flags, []string{jsonFlag}, noteFlags),
				Summary: "import another tool's file into a world that no server has open",
				Details: "It reads anvil's state dumps, a genesis' alloc, Foundry's broadcast files, Hardhat Ignition's journals and\ndeployed addresses, and token lists. CHAIN is an EVM chain id, C, fuji/C or the name of an L1. It writes\nto stderr what it leaves out. On a running server, use POST /sim/imports.\nA genesis of subnet-evm starts an L1 of its own: import generates the world again with the L1 in it, and\nkeeps the old file as FILE.old, FILE.old.1 and so on. With a CHAIN, that chain gets its accounts instead.",
				Examples: `  snowglobe import state.json
  snowglobe import broadcast/Deploy.s.sol/43114/run-latest.json
  snowglobe import genesis.json --l1-name Mine --l1-upgrade upgrade.json`,
			},
			{
				Name: "export", Operands: exportOperands, Flags: of(worldFlags, []string{"read-only"}, addressFlags, noteFlags),
				Summary:  "print a world's accounts, tokens or addresses for other tools",
				Details:  "alloc is a chain's newest state in a genesis' format. URLs of logos begin with --addr.",
				Examples: "  snowglobe export alloc 43114 > alloc.json\n  snowglobe export addresses",
			},
			{
				Name: "types", Flags: of(typesFlags, worldFlags, []string{"read-only"}, noteFlags), Defaults: map[string]string{"db": ":memory:", "profile": "tiny"},
				Summary: "print the names of a world as source code",
				Details: "It prints personas, chains, tokens, contracts with ABIs, nodes by role and sample ids as constants, and a\nfunction that fails if a server has a different world. The default is exec's world.",
				Examples: `  snowglobe types --ts > world.ts
  snowglobe types --go --world snowglobe.db > world/world.go
  snowglobe types --py --world world.yaml > world.py`,
			},
			{
				Name: "snapshot", Operands: remoteOperands("snapshot"), Flags: of(addressFlags, []string{jsonFlag}, noteFlags),
				Summary:  "take snapshots of the running server's world at --addr, and revert to them",
				Details:  "take prints the snapshot's id; revert and reset print the world's digest.",
				Examples: "  before=$(snowglobe snapshot take)\n  snowglobe snapshot revert $before",
			},
			{
				Name: "world", Operands: remoteOperands("world"), Flags: of(addressFlags, []string{jsonFlag}, noteFlags),
				Summary:  "make copies of the running server's world at --addr, and delete them",
				Details:  "make prints the URL of the copy.",
				Examples: "  snowglobe world make mine\n  snowglobe world delete mine",
			},
			{Name: "version", Summary: "print the version", Flags: of([]string{jsonFlag}, noteFlags)},
		},
	}
}
