package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

func TestOnEnd(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here")
	}
	for line, want := range map[string]string{
		`version --on-end 'echo "$TERCET_STATUS: $TERCET_COMMAND"'`:           "0: tercet version --on-end",
		`eval there-is-none --on-end 'echo "$TERCET_STATUS" at the end'`:      "3 at the end\n",
		`version --on-end 'exit 7'`:                                           "warning: the command of --on-end: exit status 7\n",
		`version --there-is-none --on-end 'echo ended with $TERCET_STATUS'`:   "ended with 2\n",
		`version --there-is-none --on-end='echo ended with $TERCET_STATUS'`:   "ended with 2\n",
		`version --color sometimes --on-end 'echo ended with $TERCET_STATUS'`: "ended with 2\n",
	} {
		code, out, stderr := clitest.Run(clitest.ShellWords(line)...)
		if !strings.Contains(stderr, want) || strings.Contains(out, "TERCET") || (code == base.ExitDone) != strings.HasPrefix(line, "version --on-end") {
			t.Errorf("%s: %d\n%s", line, code, stderr)
		}
	}
}
