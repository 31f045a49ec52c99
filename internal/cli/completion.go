package cli

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// shells maps a shell to what writes its script.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
}

const completionLong = `Prints a script for tab completion of commands, flags and their values, run directories,
and config keys and their values. SHELL is bash, zsh, fish or powershell.

In bash, the package bash-completion must be installed and loaded (Debian, Ubuntu:
apt install bash-completion; macOS: brew install bash-completion@2). Without it,
each Tab prints "_get_comp_words_by_ref: command not found".`

var shellNames = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(s *base.Streams) *cobra.Command {
	var cmd *cobra.Command
	cmd = base.Command{
		Use:       "completion SHELL",
		Short:     "Write a shell completion script",
		Long:      completionLong,
		Args:      cobra.ExactArgs(1),
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "for this bash session: source <(tercet completion bash)", Line: "tercet completion bash"},
			{Why: "permanently, in fish", Line: "tercet completion fish > tercet.fish"},
		},
		Run: func(_ context.Context, args []string) error { return runCompletion(s, cmd.Root(), args[0]) },
	}.Build()
	cmd.ValidArgs = shellNames
	return cmd
}

func runCompletion(s *base.Streams, root *cobra.Command, shell string) error {
	write, ok := shells[shell]
	if !ok {
		return base.Usagef("unknown shell %q; %svalid: bash, zsh, fish, powershell", shell, base.DidYouMean(shell, shellNames))
	}
	var script bytes.Buffer
	if err := write(root, &script); err != nil {
		return err
	}
	return s.Result(printed.Completion{Schema: record.CompletionSchema, Shell: shell, Script: script.String()}, func(w io.Writer) error {
		_, err := script.WriteTo(w)
		return err
	})
}
