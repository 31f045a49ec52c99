package render

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, dir string) *Page {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "figures (1)"), 0o755); err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(dir, "figures (1)", "p.png")
	if err := ContactSheet(picture, "", []Tile{{ramp(4, 4, 1), ""}}, 1); err != nil {
		t.Fatal(err)
	}
	p := &Page{Title: "Run <x>"}
	p.Heading(2, "Retrieval")
	p.Paragraph("recall@1 < 0.5 & *not* good")
	p.Table(sample())
	p.Code("tercet eval --run x | jq '.<y>'\n```\n")
	p.Picture(picture, "Nearest [8]")
	return p
}

func TestMarkdownPage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.md")
	if err := page(t, dir).WriteMarkdown(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Run &lt;x>\n\n## Retrieval\n\nrecall@1 &lt; 0.5 & \\*not\\* good\n\n" + golden["markdown"] +
		"\n````\ntercet eval --run x | jq '.<y>'\n```\n````\n\n![Nearest \\[8\\]](<figures (1)/p.png>)\n\nNearest [8]\n"
	if string(got) != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestHTMLPageIsSelfContained(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := page(t, dir).WriteHTML(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	for _, bad := range []string{"http:", "https:", "<link", "<x>", "<y>", " src=\"/", "onclick=\"", dir} {
		if strings.Contains(got, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	png, err := os.ReadFile(filepath.Join(dir, "figures (1)", "p.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"data:image/png;base64," + base64.StdEncoding.EncodeToString(png), "<title>Run &lt;x&gt;</title>",
		"<td class=\"n\">0.345 [0.324, 0.366]</td>", "<td>a &#34;b&#34;, c</td>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %.80q", want)
		}
	}
}

// A page with curves has what draws them, allowed by its sum, and the same bytes twice.
func TestHTMLPageWithCurves(t *testing.T) {
	p := &Page{Title: "Runs </script><script>alert(1)</script>"}
	p.Curves("Training", "step", []Panel{{YLabel: "loss", Lines: []Series{{Name: "a</script>", X: []float64{1, 20001}, Y: []float64{0.5, 0.123456}}, {Name: "b", X: []float64{1}, Y: []float64{math.NaN()}}}}})
	text, err := p.html()
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.html()
	if err != nil || string(again) != string(text) {
		t.Error("not the same bytes", err)
	}
	got := string(text)
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(got, -1)
	if len(scripts) != 2 || !strings.Contains(scripts[0][1], "uPlot (v1.6.32)") {
		t.Fatalf("%d scripts", len(scripts))
	}
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(got)[1])
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(s[1]))
		if !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy refuses a script: %s", policy)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "http") {
		t.Errorf("policy %s", policy)
	}
	var data pageData
	list := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindStringSubmatch(got)[1]
	if err := json.Unmarshal([]byte(list), &data); err != nil || data.Charts[0].Lines[0].Name != "a</script>" || data.Charts[0].Lines[0].X[1] != 20001 || !strings.Contains(list, `"y":[0.5,0.12346]`) || !strings.Contains(list, `"y":[null]`) {
		t.Errorf("%v %s", err, list)
	}
	if !strings.Contains(got, "<td>a&lt;/script&gt;</td><td class=\"n\">0.1235</td>") {
		t.Error("no table of last values")
	}
}

func TestPageWithoutItsPictureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("no picture"), 0o644); err != nil {
		t.Fatal(err)
	}
	gone := &Page{Title: "x"}
	gone.Picture(filepath.Join(dir, "gone.png"), "")
	words := &Page{Title: "x"}
	words.Picture(text, "")
	short := &Page{Title: "x"}
	short.Table(&Table{Columns: []Column{{Name: "a"}}, Rows: [][]Cell{{}}})
	for i, err := range []error{gone.WriteHTML(path), gone.WriteMarkdown(path), words.WriteHTML(path), short.WriteHTML(path), short.WriteMarkdown(path)} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Fatalf("%v %q", err, data)
	}
}
