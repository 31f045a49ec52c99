package base

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/lists"
)

// strayArguments is the error of arguments that a command does not take: it names the
// flag that they were probably meant for.
func strayArguments(cmd *cobra.Command, args []string) error {
	got, takes := strconv.Quote(args[0]), "no arguments"
	switch {
	case strings.Contains(cmd.Use, "[FILE.yaml]"):
		takes = "a config FILE.yaml and no other arguments"
	case strings.HasSuffix(cmd.Use, "[RUN]"):
		takes = "a run and no other arguments"
	}
	if flag := flagFor(cmd, args); flag != "" {
		return Usagef("%s takes %s; got %s: write %s", cmd.CommandPath(), takes, got, flag)
	}
	return Usagef("%s takes %s; got %s (usage: %s)", cmd.CommandPath(), takes, got, cmd.UseLine())
}

// wrongArguments is the error of arguments that are too few or too many, in the words of the
// command's usage.
func wrongArguments(cmd *cobra.Command, args []string) error {
	got := "no arguments"
	if len(args) > 0 {
		got = strings.Join(lists.Map(args, strconv.Quote), " ")
	}
	_, takes, _ := strings.Cut(cmd.Use, " ")
	return Usagef("%s takes %s; got %s (usage: %s)", cmd.CommandPath(), takes, got, cmd.UseLine())
}

// flagFor returns the flag with its value that arguments were probably meant for, or
// "".
func flagFor(cmd *cobra.Command, args []string) string {
	fs := cmd.Flags()
	has := func(flag string) bool { return fs.Lookup(flag) != nil }
	first := args[0]
	switch {
	case has("config") && IsConfigFile(first):
		return "--config " + first
	case has("run") && HoldsRun(first):
		return "--run " + first
	case has("resume") && HoldsRun(first):
		return "--resume " + first
	case has("runs") && HoldsRun(first):
		return "--runs " + strings.Join(args, ",")
	case has("set") && isSetting(first):
		return settings(args)
	case has("job"):
		return "--job " + first
	case has("embeddings") && (strings.EqualFold(filepath.Ext(first), ".npy") || isFile(filepath.Join(first, "embed.json"))):
		return "--embeddings " + first
	case has("config") && IsFolder(first):
		return "--set data.name=folder --set data.root=" + first + ", or begin with tercet config init folder " + first
	}
	return listFlag(fs, args)
}

// isSetting says whether an argument is KEY=VALUE.
func isSetting(arg string) bool {
	key, _, ok := strings.Cut(arg, "=")
	return ok && key != "" && !strings.ContainsAny(key, "/ ")
}

// settings are the arguments that are KEY=VALUE, with --set.
func settings(args []string) string {
	var out []string
	for _, a := range args {
		if isSetting(a) {
			out = append(out, "--set "+a)
		}
	}
	return strings.Join(out, " ")
}

// listFlag returns the list flag that was given one value where its other values were
// left behind as arguments: --k 1 10 100.
func listFlag(fs *pflag.FlagSet, args []string) string {
	var found string
	fs.Visit(func(f *pflag.Flag) {
		list, ok := f.Value.(pflag.SliceValue)
		fits := f.Value.Type() == "stringSlice" || f.Value.Type() == "intSlice" && areNumbers(args)
		if ok && fits && found == "" {
			found = "--" + f.Name + " " + strings.Join(append(list.GetSlice(), args...), ",")
		}
	})
	return found
}

func areNumbers(args []string) bool {
	return !slices.ContainsFunc(args, func(a string) bool { _, err := strconv.Atoi(a); return err != nil })
}

// IsConfigFile says that path looks like a config.
func IsConfigFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return true
	}
	return false
}

// IsFolder says that path is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// HoldsRun says that dir is a run directory.
func HoldsRun(path string) bool {
	return isFile(filepath.Join(path, "config.yaml"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// completeArguments proposes config files or runs as arguments of the commands that take
// them.
func completeArguments(cmd *cobra.Command) {
	switch {
	case strings.Contains(cmd.Use, "FILE") && (cmd.Flags().Lookup("config") != nil || cmd.Flags().Lookup("set") != nil):
		cmd.ValidArgsFunction = Files("yaml", "yml")
	case strings.Contains(cmd.Use, "RUN"), cmd.Name() == "compare": // whose sides are runs, mostly
		cmd.ValidArgsFunction = CompleteRuns
	}
}

// OneRun takes an argument that is a run directory as --run. More than one, or another one
// than --run names, is an error.
func OneRun(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !HoldsRun(args[0]) && (cmd.Flags().Changed("run") || flagFor(cmd, args) != ""):
		return strayArguments(cmd, args)
	case len(args) > 1:
		return Usagef("%s takes one run; got %s: repeat the command for each", cmd.CommandPath(), strings.Join(args, " and "))
	}
	if err := cmd.Flags().Set("run", args[0]); err != nil {
		return Usagef("%s takes one run; got %s and --run %s", cmd.CommandPath(), args[0], cmd.Flags().Lookup("run").Value)
	}
	return nil
}

// OneConfig takes an argument that is a config file as --config. More than one, or one
// beside --config, is an error.
func (c *ConfigFlags) OneConfig(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !IsConfigFile(args[0]):
		return strayArguments(cmd, args)
	case len(args) > 1 && isSetting(args[1]):
		return Usagef("%s takes one config; got also %q: write %s", cmd.CommandPath(), args[1], settings(args[1:]))
	case len(args) > 1:
		return Usagef("%s takes one config; got %s", cmd.CommandPath(), strings.Join(args, " and "))
	case c.Path != "":
		return Usagef("%s takes one config; got --config %s and %s", cmd.CommandPath(), c.Path, args[0])
	}
	c.Path = args[0]
	return nil
}
