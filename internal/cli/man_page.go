package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	configcmd "tercet/internal/cli/config"
	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/record/printed"
)

// manPage is a page under construction, in the language of man(7).
type manPage struct{ strings.Builder }

func newManPage(name, section, short string, date time.Time) *manPage {
	p := new(manPage)
	fmt.Fprintf(p, ".TH %q %q %q %q %q\n", strings.ToUpper(name), section, date.Format("Jan 2006"), "tercet "+base.BuildInfo().Version, "Tercet Manual")
	p.heading("NAME")
	p.text(name + " - " + lowerFirst(short))
	return p
}

// lowerFirst begins a summary in lower case, as the line of NAME does.
func lowerFirst(s string) string { return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):] }

func (p *manPage) heading(title string) { p.WriteString(".SH " + title + "\n") }

// roff escapes text: hyphens that can be copied, and no line that is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func (p *manPage) text(line string) { p.WriteString(roff(line) + "\n") }

// prose writes paragraphs; lines that are indented stay as they are.
func (p *manPage) prose(text string) {
	verbatim := false
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		indented := strings.HasPrefix(line, " ")
		if indented != verbatim && line != "" {
			if verbatim = indented; verbatim {
				p.WriteString(".PP\n.nf\n")
			} else {
				p.WriteString(".fi\n.PP\n")
			}
		}
		if line == "" && !verbatim {
			p.WriteString(".PP\n")
			continue
		}
		p.text(line)
	}
	if verbatim {
		p.WriteString(".fi\n")
	}
}

// literal writes lines as they are.
func (p *manPage) literal(text string) {
	p.WriteString(".nf\n")
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		p.text(line)
	}
	p.WriteString(".fi\n")
}

// item is a tagged paragraph.
func (p *manPage) item(tag, text string) {
	p.WriteString(".TP\n" + tag + "\n")
	p.text(text)
}

// commandPage is the page of a command.
func commandPage(cmd *cobra.Command, date time.Time) string {
	cmd.InitDefaultHelpFlag()
	p := newManPage(manName(cmd), "1", cmd.Short, date)
	p.heading("SYNOPSIS")
	p.literal(strings.Join(synopsis(cmd), "\n"))
	p.heading("DESCRIPTION")
	p.prose(cmd.Long)
	if subs := availableCommands(cmd); len(subs) > 0 {
		p.heading("COMMANDS")
		for _, c := range subs {
			p.item(`\fB`+roff(c.Name())+`\fR`, c.Short)
		}
	}
	p.heading("OPTIONS")
	groups := base.FlagGroups(cmd)
	for _, g := range groups {
		if len(groups) > 1 && g.Title != "Flags" {
			p.WriteString(".SS " + roff(g.Title) + "\n")
		}
		p.flags(g.Flags)
	}
	if cmd.HasExample() {
		p.heading("EXAMPLES")
		p.literal(cmd.Example)
	}
	p.heading("EXIT STATUS")
	p.literal(cmd.Annotations[base.ExitsKey])
	p.heading("SEE ALSO")
	p.text(strings.Join(related(cmd), ", "))
	return p.String()
}

// synopsis lists the forms of a command line, as its help does.
func synopsis(cmd *cobra.Command) []string {
	_, rest, _ := strings.Cut(cmd.UsageString(), "Usage:\n")
	forms, _, _ := strings.Cut(rest, "\n\n")
	return lists.Map(strings.Split(forms, "\n"), strings.TrimSpace)
}

func availableCommands(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() || c.Name() == "help" })
}

// flags lists flags with their defaults, where these are not empty.
func (p *manPage) flags(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		tag := `\fB\-\-` + roff(f.Name) + `\fR`
		if f.Shorthand != "" {
			tag = `\fB\-` + f.Shorthand + `\fR, ` + tag
		}
		if value != "" {
			tag += ` \fI` + roff(value) + `\fR`
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			usage += " (default " + strings.Trim(f.DefValue, "[]") + ")"
		}
		p.item(tag, usage)
	})
}

// related lists the pages of a command's parent and commands, and that of config keys
// where it reads a config.
func related(cmd *cobra.Command) []string {
	var out []string
	if cmd.HasParent() {
		out = append(out, manName(cmd.Parent())+"(1)")
	}
	for _, c := range availableCommands(cmd) {
		out = append(out, manName(c)+"(1)")
	}
	return append(out, "tercet-config(5)")
}

// configPage is the page of config files: how they are read, and every key.
func configPage(date time.Time) string {
	p := newManPage("tercet-config", "5", "config files of Tercet experiments", date)
	p.heading("DESCRIPTION")
	p.prose(configcmd.Long)
	p.heading("KEYS")
	p.prose("A key is followed by its default. Keys that only some components have name them.")
	section := ""
	for _, k := range config.Keys() {
		head, _, inside := strings.Cut(k.Key, ".")
		if !inside {
			head = "top level"
		}
		if head != section {
			section = head
			p.WriteString(".SS " + roff(section) + "\n")
		}
		p.key(k)
	}
	p.heading("SEE ALSO")
	p.text("tercet-config(1), tercet-train(1)")
	return p.String()
}

func (p *manPage) key(k printed.ConfigKey) {
	tag := `\fB` + roff(k.Key) + `\fR: ` + roff(k.Default)
	if len(k.With) > 0 {
		tag += `  (with ` + roff(strings.Join(k.With, ", ")) + `)`
	}
	documented := len(k.Values) > 0 && k.Values[0].Doc != ""
	doc := k.Doc
	if k.Valid != "" && !documented {
		doc += " (" + strings.ReplaceAll(k.Valid, "|", ", ") + ")"
	}
	p.item(tag, doc)
	if !documented {
		return
	}
	p.WriteString(".RS\n")
	for _, v := range k.Values {
		p.item(roff(v.Value), v.Doc)
	}
	p.WriteString(".RE\n")
}
