package render

import (
	"encoding/base64"
	"os"
	"path/filepath"
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
	for _, bad := range []string{"http:", "https:", "<script", "<link", "<x>", "<y>", dir} {
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
