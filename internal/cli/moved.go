package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
)

// movedCommands are the commands that older versions had as a flag of eval, by that flag;
// unused are flags that were allowed beside it and did nothing.
var movedCommands = []struct {
	flag, command string
	unused        []string
}{
	{"noise-rate", "noise", []string{"--no-pictures"}},
	{"gap", "gap", nil},
	{"stability", "stability", nil},
	{"influence", "influence", nil},
}

// moved writes a command line of an older version, eval with a flag for what is now a
// command, as today's. The command says so when it runs. Two such flags stay: the command
// of the first refuses the other.
func moved(root *cobra.Command, args []string) []string {
	return movedClaim(root, movedEval(root, args))
}

// movedClaim writes stability --claim CLAIM --circle as stability claim CLAIM --data circle.
func movedClaim(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.CommandPath() != "tercet stability" {
		return args
	}
	at := slices.IndexFunc(rest, func(w string) bool { return w == "--claim" || strings.HasPrefix(w, "--claim=") })
	if at < 0 {
		return args
	}
	end := at + 1
	_, claim, inOne := strings.Cut(rest[at], "=")
	if !inOne {
		if end == len(rest) {
			return args
		}
		claim, end = rest[end], end+1
	}
	rest = slices.Delete(slices.Clone(rest), at, end)
	if i := slices.Index(rest, "--circle"); i >= 0 {
		rest = slices.Insert(slices.Delete(rest, i, i+1), i, "--data", "circle")
	}
	now, _, err := root.Find([]string{"stability", "claim"})
	if err != nil {
		return args
	}
	now.Annotations[base.OldNameKey] = "--claim is now a command: tercet stability claim " + claim + " --run RUN"
	return append([]string{"stability", "claim", claim}, rest...)
}

// movedEval writes eval with a flag for what is now a command as that command.
func movedEval(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "eval" || cmd.Parent() != root {
		return args
	}
	for _, m := range movedCommands {
		at := slices.IndexFunc(rest, func(w string) bool { return w == "--"+m.flag || w == "--"+m.flag+"=true" })
		if at < 0 {
			continue
		}
		now, _, err := root.Find([]string{m.command})
		if err != nil {
			return args
		}
		now.Annotations[base.OldNameKey] = "--" + m.flag + " is now a command: tercet " + m.command + " --run RUN"
		rest = slices.Delete(slices.Clone(rest), at, at+1)
		rest = slices.DeleteFunc(rest, func(w string) bool { return slices.Contains(m.unused, w) })
		return append([]string{m.command}, rest...)
	}
	return args
}
