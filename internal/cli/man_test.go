package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/config"
)

func manPages(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	pages := map[string]string{}
	for _, path := range strings.Fields(clitest.Must(t, 0, "man "+dir)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(path)] = string(text)
	}
	return pages
}

func TestManPagesOfCommands(t *testing.T) {
	pages := manPages(t)
	visit(tree(), func(cmd *cobra.Command) {
		name := cli.ManName(cmd)
		page, there := pages[name+".1"]
		if cmd.IsAdditionalHelpTopicCommand() || cmd.Name() == "help" {
			return
		}
		if !there {
			t.Errorf("%s has no page", cmd.CommandPath())
			return
		}
		last := -1
		for _, want := range []string{
			".TH \"" + strings.ToUpper(name) + "\" \"1\" \"Nov 2023\"",
			".SH NAME\n" + cli.Roff(name) + ` \- `, ".SH SYNOPSIS\n.nf\n" + cli.Roff(cmd.CommandPath()), ".SH DESCRIPTION\n", ".SH OPTIONS\n", ".SH EXIT STATUS\n.nf\n  0    done\n",
		} {
			i := strings.Index(page, want)
			if i <= last {
				t.Errorf("%s: %q is not there, or not in its place", name, want)
			}
			last = i
		}
		for _, bad := range []string{"=false]", "=[]", `\fBset\fR`} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q in the page", name, bad)
			}
		}
	})
	if page := pages["tercet.1"]; !strings.Contains(page, ".SH SYNOPSIS\n.nf\ntercet COMMAND\n.fi\n") {
		t.Errorf("synopsis of the root:\n%.400s", page)
	}
	if page := pages["tercet-train.1"]; !strings.Contains(page, `\fB\-o\fR, \fB\-\-runs\-dir\fR`) || !strings.Contains(page, "(default runs)") {
		t.Errorf("the flags of train:\n%s", page)
	}
}

func TestManPageOfConfigs(t *testing.T) {
	page := manPages(t)["tercet-config.5"]
	if !strings.HasPrefix(page, `.TH "TERCET-CONFIG" "5"`) {
		t.Errorf("begins %.60s", page)
	}
	for _, k := range config.Keys() {
		if !strings.Contains(page, `\fB`+cli.Roff(k.Key)+`\fR: `) || !strings.Contains(page, cli.Roff(k.Doc)) {
			t.Errorf("%s is not there", k.Key)
		}
	}
	if !strings.Contains(page, ".TP\nsofthard\\-strict\nsofthard whose positive is never the anchor\n") {
		t.Error("the miners are not explained")
	}
}

// groff finds nothing wrong in any page.
func TestManPagesAreSound(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff")
	}
	for name, page := range manPages(t) {
		cmd := exec.Command(groff, "-man", "-ww", "-Tutf8", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestManRefusesABadDate(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "today")
	clitest.Refuse(t, base.ExitUsage, "man "+t.TempDir(), "give whole seconds since 1970")
}
