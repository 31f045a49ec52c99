package study

import "strings"

// planned are the command for a run, or for each value of For.
func (c *Command) planned(text func(string) string, after []string) []Planned {
	if !c.Where.fits(text) {
		return nil
	}
	values, name := []string{""}, ""
	for k, v := range c.For {
		name, values = k, v
	}
	var out []Planned
	for _, value := range values {
		with := func(source string) string {
			switch source {
			case name:
				return value
			case "flags":
				for _, f := range c.Flags {
					if f.Where.fits(text) {
						return f.As
					}
				}
				return ""
			}
			return text(source)
		}
		out = append(out, Planned{Args: args(c.Line, with), Makes: fill(c.Makes, with), After: after, May: c.May})
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
		out = append(out, fill(word, text))
	}
	return out
}
