package handlers

import (
	"slices"

	"github.com/spf13/pflag"

	"snowglobe/handlers/cli"
	"snowglobe/handlers/control"
)

// Flags that several verbs share.
var (
	worldFlags   = []string{"db", "seed", "profile", "until"}
	addressFlags = []string{"addr"}
	noteFlags    = []string{"log-format", "quiet"}
)

// Flags that only verbs other than serve have.
const (
	forceFlag = "force"
	jsonFlag  = "json"
)

// groups orders the flags of serve in help.
var groups = []cli.Group{
	{Title: "The world", Flags: []string{"db", "seed", "profile", "until", "read-only", "regenerate", "worlds", "world-size"}},
	{Title: "Addresses, and what is served there", Flags: []string{"addr", "fuji-addr", "network", "dialect", "public", "no-index", "index-enabled", "api-admin-enabled", "profile-dir", "warp-sign", "rate-limit"}},
	{Title: "Who may do what", Flags: []string{"allow-control", "allow-origin", "http-allowed-hosts", "webhook-hosts", "api-keys", "require-api-key"}},
	{Title: "Time and blocks", Flags: []string{"live", "clock-rate", "block-time", "mixed-mining", "no-mining", "no-relayer", "relayer"}},
	{Title: "Exports", Flags: []string{"export-workers", "export-queue", "export-keep", "export-max-rows", "export-retention"}},
	{Title: "Failing, logs and the program itself", Flags: []string{"faults", "journal", "log-format", "quiet", "ready-file", forceFlag, jsonFlag, "config"}},
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
	all = slices.DeleteFunc(all, func(name string) bool { return name == forceFlag || name == jsonFlag })
	return &cli.Program{
		Flags: f, Groups: groups, Version: control.Version(), Given: Given,
		Values: map[string][]string{
			"network": {"mainnet", "fuji"}, "dialect": {"auto", "spec", "upstream"}, "log-format": {"text", "json"},
			"profile": {"tiny", "default", "large"}, "warp-sign": {signAny, signKnown},
		},
		Verbs: []cli.Verb{
			{
				Name: "serve", Summary: "open the world, or make it if there is no file, and answer requests", Flags: all,
				Examples: `  snowglobe
  snowglobe serve --db :memory: --profile tiny --addr 127.0.0.1:0
  snowglobe serve --until now --live --db today.db`,
			},
			{
				Name: "exec", Program: true, Flags: all, Defaults: ExecDefaults, Summary: "make a world, run a command with its URLs and keys in the environment, and stop with it",
				Details:  "The world is in memory, tiny and on a free port, unless flags say otherwise.\nThe exit code is the command's.",
				Examples: "  snowglobe exec -- npm test\n  snowglobe exec --profile default -- go test ./...",
			},
			{
				Name: "env", Summary: "print the environment that exec gives, of the server at --addr, as exports of a shell", Flags: of(addressFlags, noteFlags),
				Examples: `  eval "$(snowglobe env)"`,
			},
			{
				Name: "healthcheck", Summary: "exit with 0 if the server at --addr answers, else with 1", Flags: of(addressFlags, noteFlags),
				Examples: "  snowglobe healthcheck --addr 127.0.0.1:9650",
			},
			{
				Name: "generate", Summary: "make a world file and stop", Flags: of(worldFlags, []string{"regenerate"}, noteFlags),
				Examples: "  snowglobe generate --profile tiny --seed 7 --db seven.db",
			},
			{
				Name: "init", Operands: "[FILE]", Flags: of([]string{forceFlag}, noteFlags),
				Summary:  "write an example of a world of your own, with comments",
				Details:  "It is a profile with accounts, tokens, contracts, L1s and transactions. The file is world.yaml\nunless another is named. What is there is not overwritten without --force.",
				Examples: "  snowglobe init\n  snowglobe --profile world.yaml",
			},
			{
				Name: "verify", Summary: "build the world again from its transactions and compare every row", Flags: of(worldFlags, []string{"read-only", jsonFlag}, noteFlags),
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
				Details: "With --live its people act on the way. A running server moves its clock by POST /sim/clock.",
				Examples: `  snowglobe clock advance 36h
  snowglobe clock set 2026-08-01T00:00:00Z
  snowglobe clock until next-validator-end`,
			},
			{
				Name: "snapshot", Operands: remoteOperands("snapshot"), Flags: of(addressFlags, []string{jsonFlag}, noteFlags),
				Summary:  "take snapshots of the world of the server at --addr, and go back to them",
				Details:  "take prints the id of the snapshot, revert and reset the digest of the world that is back.",
				Examples: "  before=$(snowglobe snapshot take)\n  snowglobe snapshot revert $before",
			},
			{
				Name: "world", Operands: remoteOperands("world"), Flags: of(addressFlags, []string{jsonFlag}, noteFlags),
				Summary:  "make copies of the world of the server at --addr, and delete them",
				Details:  "make prints the URL below which the copy answers as the world does.",
				Examples: "  snowglobe world make mine\n  snowglobe world delete mine",
			},
			{Name: "version", Summary: "print the version", Flags: of([]string{jsonFlag}, noteFlags)},
		},
	}
}
