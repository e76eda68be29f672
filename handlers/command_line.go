package handlers

import (
	"slices"

	"github.com/spf13/pflag"

	"snowglobe/handlers/cli"
	"snowglobe/handlers/control"
)

// Which flags verbs have in common.
var (
	worldFlags   = []string{"db", "seed", "profile", "until"}
	addressFlags = []string{"addr"}
	noteFlags    = []string{"log-format", "quiet"}
	forceFlag    = "force"
)

// CommandLine is what can be asked of the program whose flags these are: those about the world, which are declared elsewhere, and all others.
func CommandLine(f *pflag.FlagSet) *cli.Program {
	all := slices.Clone(worldFlags)
	f.SortFlags = false
	f.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(all, flag.Name) {
			all = append(all, flag.Name)
		}
	})
	of := func(groups ...[]string) []string { return slices.Concat(groups...) }
	all = slices.DeleteFunc(all, func(name string) bool { return name == forceFlag })
	return &cli.Program{
		Flags: f, Version: control.Version(), Given: Given,
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
				Name: "verify", Summary: "build the world again from its transactions and compare every row", Flags: of(worldFlags, []string{"read-only"}, noteFlags),
				Details:  "It fails on the first mismatch.",
				Examples: "  snowglobe verify --db seven.db",
			},
			{
				Name: "digest", Summary: "print the world's digest, and nothing else", Flags: of(worldFlags, []string{"read-only"}, noteFlags),
				Examples: "  snowglobe digest --db :memory: --profile tiny",
			},
			{
				Name: "clock", Operands: "[advance SPAN | set TIME | until EVENT | show]", Flags: of(worldFlags, []string{"live", "relayer"}, noteFlags),
				Summary: "move the clock of a world that no server has open, and print the time",
				Details: "With --live its people act on the way. A running server moves its clock by POST /sim/clock.",
				Examples: `  snowglobe clock advance 36h
  snowglobe clock set 2026-08-01T00:00:00Z
  snowglobe clock until next-validator-end`,
			},
			{Name: "version", Summary: "print the version", Flags: noteFlags},
		},
	}
}
