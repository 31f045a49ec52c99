package cli

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/lists"
	"tercet/internal/text"
)

// unread is the command of --on-end that was not read after a mistake in the flags before it.
func unread(args []string) string {
	for i, a := range args {
		if command, ok := strings.CutPrefix(a, "--on-end="); ok {
			return command
		}
		switch {
		case a == "--":
			return ""
		case a == "--on-end" && i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// onEnd runs the command of --on-end, which learns by its environment how the command line
// ended. What it prints goes to stderr, and how it ends changes nothing but a note.
func onEnd(s *base.Streams, command string, args []string, code int) {
	if command == "" {
		return
	}
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	words := lists.Map(args, text.ShellWord)
	cmd := exec.Command(shell, flag, command)
	cmd.Env = append(os.Environ(), "TERCET_STATUS="+strconv.Itoa(code), "TERCET_COMMAND=tercet "+strings.Join(words, " "))
	out, err := cmd.CombinedOutput()
	if len(out) > 0 {
		s.Stderr(string(out))
	}
	if err != nil {
		s.Note("warning: the command of --on-end: %s", fmt.Sprint(err))
	}
}
