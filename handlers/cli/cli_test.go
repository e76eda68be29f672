package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"snowglobe/handlers/cli"
)

// program returns a small vocabulary, and the values that its flags get.
func program() (*cli.Program, map[string]pflag.Value) {
	f := pflag.NewFlagSet("snowglobe", pflag.ContinueOnError)
	f.Int("seed", 1, "`N` is the seed")
	f.String("addr", "127.0.0.1:9650", "`HOST:PORT` to listen on")
	f.StringSlice("hosts", nil, "`NAMES` of hosts")
	f.Bool("relayer", true, "deliver")
	values := map[string]pflag.Value{}
	f.VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value })
	return &cli.Program{
		Flags: f, Version: "1.2", Given: func(name string) bool { return name == "SNOWGLOBE_URL" },
		Verbs: []cli.Verb{
			{Name: "serve", Summary: "answer", Flags: []string{"seed", "addr", "hosts", "relayer"}, Examples: "  snowglobe serve --seed 2"},
			{Name: "digest", Summary: "print", Flags: []string{"seed"}},
			{Name: "exec", Program: true, Summary: "run", Flags: []string{"seed", "addr"}, Defaults: map[string]string{"addr": "127.0.0.1:0"}},
		},
	}, values
}

// TestWhatTakesPrecedence: a flag wins over a variable, a variable over the file, and the file over the verb's default.
func TestWhatTakesPrecedence(t *testing.T) {
	t.Chdir(t.TempDir())
	named := filepath.Join(t.TempDir(), "other.yaml")
	for path, text := range map[string]string{cli.ConfigFile: "seed: 7\naddr: :7\nhosts: [a, b]\n", named: "seed: 9\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, env, seed, addr, hosts string }{
		{"", "", "7", ":7", "[a,b]"},
		{"serve -seed 3", "", "3", ":7", "[a,b]"},
		{"", "SNOWGLOBE_SEED=5 SNOWGLOBE_URL=x", "5", ":7", "[a,b]"},
		{"--seed=3", "SNOWGLOBE_SEED=5", "3", ":7", "[a,b]"},
		{"--config " + named, "", "9", "127.0.0.1:9650", "[]"},
		{"", "SNOWGLOBE_CONFIG=" + named, "9", "127.0.0.1:9650", "[]"},
		{"digest", "SNOWGLOBE_ADDR=:8", "7", "127.0.0.1:9650", "[]"}, // others share the environment and the file
		{"exec --config " + named + " -- sh", "", "9", "127.0.0.1:0", "[]"},
		{"exec -- sh -seed", "", "7", ":7", "[]"},
	} {
		p, values := program()
		line, err := p.Parse(strings.Fields(c.args), strings.Fields(c.env), os.Stderr)
		if err != nil || line == nil {
			t.Fatal(c, err)
		}
		if values["seed"].String() != c.seed || values["addr"].String() != c.addr || values["hosts"].String() != c.hosts || !line.Chosen["seed"] {
			t.Errorf("%v: seed %s, addr %s, hosts %s", c, values["seed"], values["addr"], values["hosts"])
		}
	}
}

// TestWhatIsAnsweredAtOnce: help, the version, manual pages and completion are on stdout.
func TestWhatIsAnsweredAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"help", "  digest "}, {"--help", "personas"}, {"-help", "personas"}, {"-h", "Verbs:"}, {"help serve", "SNOWGLOBE_SEED"}, {"serve --help", "  snowglobe serve --seed 2\n"},
		{"help personas", "alice"}, {"help command line", "--seed N"}, {"--version", "snowglobe 1.2\n"}, {"man", `.TH "SNOWGLOBE"`}, {"man digest", "snowglobe-digest"},
		{"completion bash", "__snowglobe"}, {"completion zsh", "#compdef"}, {"completion fish", "fish completion"}, {"completion powershell", "Register-ArgumentCompleter"}, {"help help", "snowglobe help personas"}, {"help completion", "~/.bashrc"}, {"completion fish --help", "completions/snowglobe.fish"},
		{"__complete s", "serve"}, {"__complete serve --re", "--relayer"},
	} {
		p, _ := program()
		var b strings.Builder
		if line, err := p.Parse(strings.Fields(c.args), nil, &b); line != nil || err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: %v %v %.200q", c.args, line, err, b.String())
		}
		for _, foreign := range []string{"autocompletion", "To load completions", "--no-descriptions"} {
			if strings.HasPrefix(c.args, "help") && strings.Contains(b.String(), foreign) {
				t.Errorf("%s has %q", c.args, foreign)
			}
		}
		if strings.HasSuffix(strings.TrimSpace(b.String()), "by their names:") {
			t.Errorf("%s: no flags in the list of flags", c.args)
		}
	}
}

// TestWhatWasMeant: an almost correct name gets the correct one as a suggestion, in every place.
func TestWhatWasMeant(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("wrong.yaml", []byte("prot: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, env, want string }{
		{"--prot 1", "", "did you mean --addr?"}, {"--port 1", "", "did you mean --addr?"}, {"--sede 1", "", "did you mean --seed?"}, {"--rel", "", "did you mean --relayer?"},
		{"-adr :1", "", "did you mean --addr?"}, {"digest --sede 1", "", "did you mean --seed?"}, {"digest --prot 1", "", "did you mean --addr?"}, {"--colour", "", "snowglobe help serve lists"},
		{"", "SNOWGLOBE_PROT=1", "did you mean SNOWGLOBE_ADDR?"}, {"", "SNOWGLOBE_SEDE=1", "did you mean SNOWGLOBE_SEED?"}, {"--config wrong.yaml", "", "did you mean addr?"},
		{"digset", "", "did you mean digest?"}, {"help persnas", "", "did you mean personas?"}, {"help digset", "", "did you mean digest?"},
	} {
		p, _ := program()
		if _, err := p.Parse(strings.Fields(c.args), strings.Fields(c.env), os.Stderr); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestHelpHasOnlyGroupsWithFlags: a verb's help names a group of flags only if the verb has a flag in it.
func TestHelpHasOnlyGroupsWithFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	f := pflag.NewFlagSet("snowglobe", pflag.ContinueOnError)
	var many []string
	for letter := 'a'; letter < 'q'; letter++ {
		many = append(many, "flag-"+string(letter))
		f.Int(many[len(many)-1], 0, "number")
	}
	f.Int("other", 0, "number")
	p := &cli.Program{Flags: f, Version: "1.2", Groups: []cli.Group{{Title: "First", Flags: many[:2]}, {Title: "None", Flags: []string{"other"}}, {Title: "Rest", Flags: many[2:]}},
		Verbs: []cli.Verb{{Name: "serve", Summary: "answer", Flags: many}}}
	var help strings.Builder
	if _, err := p.Parse([]string{"serve", "--help"}, nil, &help); err != nil {
		t.Fatal(err)
	}
	if text := help.String(); !strings.Contains(text, "\nFirst:\n  --flag-a ") || !strings.Contains(text, "\n\nRest:\n  --flag-c ") || strings.Contains(text, "None") || strings.Count(text, "First:") != 1 {
		t.Error(text)
	}
}
