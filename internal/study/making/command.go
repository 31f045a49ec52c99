package making

import (
	"path/filepath"
	"slices"
	"strings"
	"tercet/internal/names"
	"tercet/internal/study"
	"tercet/internal/study/observe"
)

// Command is a command with its arguments.
type Command struct {
	Args  []string
	Makes string   // "" where the command decides itself
	After []string // files that what it makes must be newer than
	May   []int
	Train bool // it trains the run
}

// result is the file that a command makes, "" where that is not known.
func (c Command) result(dir string) string {
	flag := func(name string) string {
		if i := slices.Index(c.Args, name); i >= 0 && i+1 < len(c.Args) {
			return c.Args[i+1]
		}
		return ""
	}
	if c.Makes != "" || flag("--run") != dir || flag("--out") != "" {
		return c.Makes
	}
	return filepath.Join(dir, names.Result(c.Args[0], flag("--split"), flag("--checkpoint"))+".json")
}

// planned are a command of a step for a run, or for each value of For.
func planned(c *study.Command, text func(string) string, after []string) []Command {
	if !c.Where.Fits(text) {
		return nil
	}
	values, name := []string{""}, ""
	for k, v := range c.For {
		name, values = k, v
	}
	var out []Command
	for _, value := range values {
		with := func(source string) string {
			switch source {
			case name:
				return value
			case "flags":
				for _, f := range c.Flags {
					if f.Where.Fits(text) {
						return f.As
					}
				}
				return ""
			}
			return text(source)
		}
		out = append(out, Command{Args: args(c.Line, with), Makes: observe.Fill(c.Makes, with), After: after, May: c.May})
	}
	return out
}

// args are the words of a command line, each filled by itself, so that a path with blanks
// is one argument; {flags} are words of their own.
func args(line string, text func(string) string) []string {
	var out []string
	for _, word := range strings.Fields(line) {
		if word == "{flags}" {
			out = append(out, strings.Fields(text("flags"))...)
			continue
		}
		out = append(out, observe.Fill(word, text))
	}
	return out
}
