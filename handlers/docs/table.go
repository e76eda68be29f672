package docs

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/handlers/surface"
	"snowglobe/sim/export"
)

// Command is a verb of the program.
type Command struct {
	Name, Summary string
	Flags         []Flag
}

// Flag is a flag of the program. Default is empty if it tells the reader nothing.
type Flag struct{ Name, Value, Default, Usage, Group string }

// table returns the table that replaces a mark in a page.
func (m *Manual) table(name string) string {
	switch name {
	case "personas":
		return personas()
	case "columns":
		return columns()
	case "coverage":
		return coverage()
	case "profiles":
		return profiles()
	case "hosts":
		return hosts()
	case "roles":
		return roles()
	case "chains":
		return l1s()
	case "known":
		return known()
	case "mistakes":
		return mistakeTables()
	case "budgets":
		return budgets()
	case "keys":
		return keys()
	case "example":
		return "```yaml\n" + worldfile.Example + "```\n"
	case "commands":
		return m.commands()
	case "flags":
		return m.flags()
	}
	return ""
}

func personas() string {
	b := new(strings.Builder)
	b.WriteString("| name | account | situation |\n|---|---|---|\n")
	for i, p := range fixtures.Personas {
		account := "" // of the mnemonic
		if i < fixtures.MnemonicAccounts {
			account = fmt.Sprint(i)
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", p.Name, account, p.Purpose)
	}
	return b.String()
}

// columns describes the columns of exports. Columns that two kinds share appear once.
func columns() string {
	b := new(strings.Builder)
	for _, kind := range []export.Type{export.EVM, export.Primary} {
		fmt.Fprintf(b, "| column of `%s` | what it holds |\n|---|---|\n", kind)
		for _, c := range kind.Columns() {
			fmt.Fprintf(b, "| `%s` | %s |\n", c.Name, c.Doc)
		}
		b.WriteString("\n")
	}
	for _, part := range []struct {
		kind export.Type
		rows string
	}{{export.Simple, "the same rows"}, {export.Staking, "only the rows that start or end staking or pay rewards"}} {
		var names []string
		for _, c := range part.kind.Columns() {
			names = append(names, "`"+c.Name+"`")
		}
		fmt.Fprintf(b, "`%s` has %s, with the columns %s.\n\n", part.kind, part.rows, strings.Join(names, ", "))
	}
	return b.String()
}

func profiles() string {
	b := new(strings.Builder)
	b.WriteString("| profile | EVM chains | EVM transactions | days | validators / delegators / L1 validators | transactions of P and X |\n|---|---|---|---|---|---|\n")
	for _, name := range []string{"tiny", "default", "large"} {
		raw, _ := fixtures.Profiles.ReadFile("profiles/" + name + ".yaml")
		p := map[string]any{}
		if err := yaml.Unmarshal(raw, &p); err != nil {
			continue // a test has read the embedded file
		}
		fmt.Fprintf(b, "| `%s` | %v | %v | %v | %v / %v / %v | %v |\n", name, p["chains"], p["transactions"], p["days"], p["validators"], p["delegators"], p["l1Validators"], p["primaryTransactions"])
	}
	return b.String()
}

// roles lists the roles of nodes.
func roles() string {
	b := new(strings.Builder)
	b.WriteString("| role | node |\n|---|---|\n")
	for _, of := range [][]fixtures.NodeRole{fixtures.NodeRoles, fixtures.L1Roles} {
		for _, r := range of {
			fmt.Fprintf(b, "| `%s` | %s |\n", r.Name, r.Node)
		}
	}
	return b.String()
}

func hosts() string {
	b := new(strings.Builder)
	b.WriteString("| host | what answers |\n|---|---|\n")
	for _, h := range fixtures.Hosts {
		fmt.Fprintf(b, "| `%s` | %s |\n", h.Name, h.Purpose)
	}
	return b.String()
}

func l1s() string {
	b := new(strings.Builder)
	b.WriteString("| chain | token | network | precompiles in its genesis, besides warp | worlds |\n|---|---|---|---|---|\n")
	for i, l := range fixtures.L1s {
		fmt.Fprintf(b, "| %d %s | %s | %s | %s | those with %d or more EVM chains |\n", l.EVMID, l.Name, l.Token, l.Network, l.Precompiles, fixtures.FirstL1+i)
	}
	return b.String()
}

// keys lists the keys of a world file.
func keys() string {
	b := new(strings.Builder)
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	for _, of := range []any{worldfile.Sizes{}, worldfile.File{}} {
		for _, k := range worldfile.Keys(of) {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", k.Path, k.Kind, k.Doc)
		}
	}
	return b.String()
}

func (m *Manual) commands() string {
	b := new(strings.Builder)
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range m.Commands {
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(c.Name, "|", "\\|"), c.Summary)
	}
	return b.String()
}

func (m *Manual) flags() string {
	b := new(strings.Builder)
	var groups []string
	for _, c := range m.Commands {
		for _, f := range c.Flags {
			if !slices.Contains(groups, f.Group) {
				groups = append(groups, f.Group)
			}
		}
	}
	for _, group := range groups {
		if group != "" {
			fmt.Fprintf(b, "### %s\n\n", group)
		}
		m.flagsOf(b, group)
	}
	return b.String()
}

func (m *Manual) flagsOf(b *strings.Builder, group string) {
	b.WriteString("| flag | default | meaning |\n|---|---|---|\n")
	listed := map[string]bool{}
	for _, c := range m.Commands {
		for _, f := range c.Flags {
			if listed[f.Name] || f.Group != group {
				continue
			}
			listed[f.Name] = true
			value := f.Default
			if value != "" {
				value = "`" + value + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+f.Value), value, strings.ReplaceAll(f.Usage, "|", "\\|"))
		}
	}
	b.WriteString("\n")
}

// covered groups operations with the same path and state.
type covered struct {
	service, path, state string
	names                []string // operations with their HTTP methods, or methods of JSON-RPC
}

// coverage lists the operations of the REST services, and then the methods of a node with what nodes do before and since Helicon.
func coverage() string {
	var operations, methods []*covered
	add := func(all *[]*covered, service, path, name, state string) {
		for _, r := range *all {
			if r.service == service && r.path == path && r.state == state {
				r.names = append(r.names, name)
				return
			}
		}
		*all = append(*all, &covered{service, path, state, []string{name}})
	}
	for _, e := range surface.Entries() {
		state := "yes"
		if e.Reason != "" {
			state = "no: " + e.Reason
		}
		if e.REST() {
			i := strings.LastIndexByte(e.Words[1], '/')
			add(&operations, e.Service, e.Words[1][:i], e.Words[0]+" "+e.Words[1][i+1:], state)
			continue
		}
		state = onNodes[e.Eras.At(false)] + " | " + onNodes[e.Eras.At(true)] + " | " + state
		for _, method := range e.Words[1:] {
			add(&methods, "", e.Words[0], method, state)
		}
	}
	b := new(strings.Builder)
	b.WriteString("| service | path | operations | served |\n|---|---|---|---|\n")
	for _, r := range operations {
		fmt.Fprintf(b, "| %s | `%s` | `%s` | %s |\n", r.service, r.path, strings.Join(r.names, "`, `"), r.state)
	}
	b.WriteString("\n| path of a node | methods | a node before Helicon | a node since Helicon | served here |\n|---|---|---|---|---|\n")
	for _, r := range methods {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", r.path, strings.Join(r.names, "`, `"), r.state)
	}
	return b.String()
}

// onNodes words what nodes do with a method.
var onNodes = [...]string{surface.Never: "no", surface.Off: "off by default", surface.On: "yes"}
