package cli

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/attack"
	"tercet/internal/cli/base"
	"tercet/internal/cli/bench"
	"tercet/internal/cli/bound"
	"tercet/internal/cli/certify"
	"tercet/internal/cli/cluster"
	"tercet/internal/cli/compare"
	configcmd "tercet/internal/cli/config"
	datacmd "tercet/internal/cli/data"
	devicecmd "tercet/internal/cli/device"
	"tercet/internal/cli/doctor"
	"tercet/internal/cli/embed"
	"tercet/internal/cli/eval"
	"tercet/internal/cli/export"
	"tercet/internal/cli/generalize"
	noisecmd "tercet/internal/cli/noise"
	"tercet/internal/cli/report"
	"tercet/internal/cli/runs"
	"tercet/internal/cli/search"
	studycmd "tercet/internal/cli/study"
	"tercet/internal/cli/sweep"
	"tercet/internal/cli/train"
	"tercet/internal/cli/tune"
	"tercet/internal/cli/watch"
	"tercet/internal/config"
	"tercet/internal/data/file"
	"tercet/internal/engine/kernel"
	"tercet/internal/names"
	"tercet/internal/par"
	"tercet/internal/text"
)

const (
	groupWork = "work"
	groupHelp = "help"
)

// commands lists every command once, in the order of the help.
var commands = []struct {
	group string
	make  func(s *base.Streams) *cobra.Command
}{
	{groupWork, train.New},
	{groupWork, sweep.New},
	{groupWork, tune.New},
	{groupWork, eval.New},
	{groupWork, embed.New},
	{groupWork, search.New},
	{groupWork, generalize.NewGap},
	{groupWork, generalize.NewStability},
	{groupWork, generalize.NewInfluence},
	{groupWork, noisecmd.New},
	{groupWork, attack.New},
	{groupWork, certify.New},
	{groupWork, cluster.New},
	{groupWork, runs.New},
	{groupWork, watch.New},
	{groupWork, report.New},
	{groupWork, compare.New},
	{groupWork, studycmd.New},
	{groupWork, bound.New},
	{groupWork, export.New},
	{groupHelp, bench.New},
	{groupHelp, datacmd.New},
	{groupHelp, configcmd.New},
	{groupHelp, devicecmd.New},
	{groupHelp, doctor.New},
	{groupHelp, newVersion},
	{groupHelp, newCompletion},
	{groupHelp, newMan},
	{"", newExitCodes},
	{"", newEnvironment},
	{"", newTerminal},
}

const rootLong = `Tercet learns embeddings from triplets and pairs, and measures how far they can be
trusted: on unseen classes, under attack, under label noise, and when clustered.

Results go to stdout, everything else to stderr. With --json the result is one
JSON document with a field "schema", and an error is a JSON document on the last
line of stderr.`

// newRoot makes the command tree; the flags of all commands end in s and prof.
func newRoot(s *base.Streams, prof *profiles) *cobra.Command {
	var threads int
	var quiet, verbose times
	var noPager bool
	var color, logFormat string
	root := &cobra.Command{
		Use:           "tercet",
		Short:         "Learn embeddings from triplets and find out how far they can be trusted",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		Annotations:   map[string]string{base.ExitsKey: base.ExitStatus([]int{base.ExitData, base.ExitGate, base.ExitDiverged, base.ExitInterrupted}, base.GateFlags)},
		// The checks that every command begins with.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if quiet > 0 && verbose > 0 {
				return base.Usagef("--quiet and --verbose cannot be combined; give one of them")
			}
			s.SetVolume(int(verbose - quiet))
			s.SetPager(!noPager && cmd.Annotations[base.PagedKey] != "", os.LookupEnv)
			if err := errors.Join(s.SetColor(color, os.Getenv), s.SetLogFormat(logFormat)); err != nil {
				return err
			}
			if err := base.CheckLimits(strings.TrimPrefix(cmd.CommandPath(), "tercet "), cmd.Flags()); err != nil {
				return err
			}
			base.NoteOldNames(s, cmd)
			if threads < 0 {
				return base.Usagef("--threads is %d; give a number of threads, or 0 for one per processor", threads)
			}
			par.SetThreads(threads)
			if m := doctor.Memory(); m != nil {
				file.LimitMemory(int64(m.Total))
			}
			if err := kernel.StartError(); err != nil && cmd.Annotations[base.AnyKernelKey] == "" {
				return &base.ExitError{Code: base.ExitUsage, Err: err}
			}
			s.Detail("tercet %s, kernels %s, %s", base.BuildInfo().Version, kernel.Setting(), text.Count(par.Threads(), "thread"))
			return prof.start()
		},
	}
	showVersion := addVersionFlag(root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return base.MissingSub(cmd, args)
		}
		if *showVersion {
			return runVersion(s)
		}
		return showHelp(s, cmd)
	}
	root.CompletionOptions.DisableDefaultCmd = true
	setHelp(s, root)
	root.SetUsageTemplate(base.UsageTemplate)
	root.SetFlagErrorFunc(flagError)
	fs := root.PersistentFlags()
	fs.BoolVar(&s.JSON, "json", false, "print the result as one JSON document")
	fs.VarPF(&quiet, "quiet", "q", "print only errors on stderr").NoOptDefVal = "true"
	fs.IntVar(&threads, "threads", 0, "number of threads, 0 for one per processor; results do not depend on it")
	fs.VarPF(&verbose, "verbose", "v", "more notes on stderr: each logged step, and what the program runs on").NoOptDefVal = "true"
	fs.BoolVar(&noPager, "no-pager", false, "show long results on a terminal without a pager")
	fs.StringVar(&color, "color", "auto", "color words of results: auto, always or never")
	fs.StringVar(&logFormat, "log-format", "text", "notes and errors on stderr: text, or json, an object a line")
	fs.StringVar(&s.OnEnd, "on-end", "", "run a shell `COMMAND` at the end")
	for _, name := range []string{"verbose", "no-pager", "color", "log-format", "on-end"} { // tercet help terminal has them
		fs.MarkHidden(name)
	}
	prof.addFlags(root)

	used := map[string]bool{}
	for _, c := range commands {
		used[c.group] = true
	}
	for _, g := range []cobra.Group{{ID: groupWork, Title: "Commands:"}, {ID: groupHelp, Title: "Utilities:"}} {
		if used[g.ID] {
			root.AddGroup(&g)
		}
	}
	for _, c := range commands {
		cmd := c.make(s)
		cmd.GroupID = c.group
		root.AddCommand(cmd)
	}
	root.SetHelpCommand(newHelp(s, root))
	return root
}

// times counts how often a flag stands on the command line; =false takes all back.
type times int

func (n *times) String() string { return strconv.FormatBool(*n > 0) }
func (*times) Type() string     { return "bool" }

func (n *times) Set(word string) error {
	on, err := strconv.ParseBool(word)
	if *n++; !on {
		*n = 0
	}
	return err
}

// flagGroups says which flags go together and which do not, in place of cobra's messages about
// groups of flags; other messages stay.
func flagGroups(msg string) string {
	if all, missing, found := strings.Cut(strings.TrimPrefix(msg, "if any flags in the group ["), "] are set they must all be set; missing ["); found {
		return "--" + strings.Join(strings.Fields(all), " and --") + " go together; --" + strings.Join(strings.Fields(strings.TrimSuffix(missing, "]")), " and --") + " is missing"
	}
	_, given, found := strings.Cut(msg, "none of the others can be; [")
	given, _, closed := strings.Cut(given, "] were all set")
	if !found || !closed {
		return msg
	}
	return "--" + strings.Join(strings.Fields(given), " and --") + " cannot be combined; give one of them"
}

// flagError adds the closest flag to cobra's message.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if v := base.ValueError(err); v != "" {
		return base.Usagef("%s (flags: %s --help)", v, cmd.CommandPath())
	}
	word, found := strings.CutPrefix(msg, "unknown flag: --")
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 && !base.HoldsRun(words[0]) {
		return base.MissingSub(cmd, words) // the flags are those of a command that there is not
	}
	if !found {
		return base.Usagef("%s (flags: %s --help)", msg, cmd.CommandPath())
	}
	if word == "set" && cmd.Flags().Lookup("run") != nil {
		return base.Usagef("%[1]s has no --set: a run keeps the config that it was trained with; --split chooses its images (flags: %[1]s --help)", cmd.CommandPath())
	}
	if keys := keysNamed(cmd, word); len(keys) > 0 {
		return base.Usagef("%s; it is a config key: --set %s=VALUE (keys: tercet config keys)", msg, strings.Join(keys, "=VALUE or --set "))
	}
	var flags []string
	for _, usage := range strings.Fields(cmd.Flags().FlagUsages()) {
		if name, ok := strings.CutPrefix(usage, "--"); ok {
			flags = append(flags, name)
		}
	}
	name, _, _ := strings.Cut(word, "=")
	if c := names.Closest(word, flags); c != "" {
		msg += "; did you mean --" + c + "?"
	} else if others := commandsWith(cmd.Root(), name); len(others) > 0 {
		msg += "; it is a flag of " + text.List(others, "and")
	}
	return base.Usagef("%s (flags: %s --help)", msg, cmd.CommandPath())
}

// commandsWith are the commands with a flag of that name; none where there are many.
func commandsWith(root *cobra.Command, flag string) []string {
	var out []string
	for _, c := range root.Commands() {
		if f := c.LocalFlags().Lookup(flag); f != nil && f.Name == flag && !f.Hidden {
			out = append(out, c.CommandPath())
		}
	}
	if len(out) > maxKeys {
		return nil
	}
	return out
}

// maxKeys is how many config keys or commands a message about a flag names.
const maxKeys = 3

// keysNamed are the config keys with that name or last part, for commands with --set;
// none where there are many.
func keysNamed(cmd *cobra.Command, word string) []string {
	if cmd.Flags().Lookup("set") == nil {
		return nil
	}
	word, _, _ = strings.Cut(word, "=")
	word = strings.ReplaceAll(word, "-", "_")
	var found []string
	for _, k := range config.Keys() {
		if k.Key == word {
			return []string{word}
		}
		if strings.HasSuffix(k.Key, "."+word) && !slices.Contains(found, k.Key) {
			found = append(found, k.Key)
		}
	}
	if len(found) > maxKeys {
		return nil
	}
	return found
}
