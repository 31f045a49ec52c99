package commands_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tercet/internal/cli/bench"
	"tercet/internal/record/printed"
)

// Markdown has the parts, as the text does; csv is one table.
func TestPrintsParts(t *testing.T) {
	doc := &printed.Bench{Machine: &printed.Machine{CPU: "one", Level: "avx2", Threads: 2, Peak: []printed.Speed{{Threads: 2, GFLOPS: 100}}}, Quick: true,
		Results: []*printed.BenchResult{{Job: "gemm", Threads: 2, Seconds: 1, Parts: []printed.BenchPart{{Name: "64x64x64 nn", Seconds: 1e-3, GFLOPS: 12.5, PeakShare: 0.125}}}}}
	for format, parts := range map[string]bool{"text": true, "markdown": true, "csv": false, "json": false} {
		var out strings.Builder
		if err := bench.Print(&out, doc, format); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "64x64x64 nn") != parts || parts && !strings.Contains(out.String(), "quick") {
			t.Errorf("%s:\n%s", format, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if format != "json" && utf8.RuneCountInString(line) > 101 {
				t.Errorf("%s: more than 100 columns: %s", format, line)
			}
		}
	}
}
