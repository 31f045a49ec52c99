package render

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines reads what stands with the pictures of a sprite.
func lines(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGalleryOfAPage(t *testing.T) {
	dir := t.TempDir()
	tile := func(name string) Tile { return Tile{ramp(4, 4, 1), name} }
	base := filepath.Join(dir, "retrieval-gallery")
	if err := WriteGallery(base, RetrievalGallery([]RetrievalRow{
		{tile("<q>"), []Neighbor{{tile("a"), true}, {tile("b"), false}}}, {tile("r"), []Neighbor{{tile("c"), true}}},
	})); err != nil {
		t.Fatal(err)
	}
	g, err := ParseGallery(base+".png", lines(t, base+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	counts := filepath.Join(dir, "confusion")
	if err := WriteConfusion(counts, Confusion{Rows: []string{"x"}, Cols: []string{"0", "noise"}, Counts: [][]int{{7, 0}}}, []Image{ramp(4, 4, 1), ramp(4, 4, 1), ramp(4, 4, 1)}); err != nil {
		t.Fatal(err)
	}
	c, err := ParseConfusion(counts+".png", lines(t, counts+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Title: "x"}
	p.Gallery("Queries", "", g)
	p.Confusion("Classes", "", c)
	text, err := p.html()
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.html()
	if err != nil || string(again) != string(text) {
		t.Error("not the same bytes", err)
	}
	got := string(text)
	for _, want := range []string{
		`#gallery-1 i{width:64px;height:64px;background-image:url(data:image/png;base64,`, `background-size:192px auto}`, // 5 pictures in 3 columns
		`<table class="g" id="gallery-1">`, `<th scope="col" colspan="2" class="first"><span>nearest images</span></th>`,
		`<td><i style="background-position:0px 0px"></i><span>&lt;q&gt;</span></td>`,
		`<i style="background-position:-128px 0px" class="wrong"></i><span>✗ b</span>`,
		`<i style="background-position:-64px -64px" class="right"></i><span>✓ c</span></td><td></td></tr>`,
		`<th scope="row"><i style="background-position:0px -32px"></i><span>x</span></th><td style="background:rgba(0,114,178,0.60)">7</td><td></td>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	md := filepath.Join(dir, "x.md")
	if err := p.WriteMarkdown(md); err != nil {
		t.Fatal(err)
	}
	p.Gallery("gone", "", &Gallery{Sprite: filepath.Join(dir, "gone.png"), Rows: g.Rows})
	if _, err := p.html(); err == nil {
		t.Error("a sprite that is not there")
	}
}

// The change of attacked images is amplified as on the sheet.
func TestAdversarialGallery(t *testing.T) {
	a := Image{Pix: []float32{0.5, 0.5}, H: 1, W: 2, C: 1}
	b := Image{Pix: []float32{0.5, 0.75}, H: 1, W: 2, C: 1}
	got := AdversarialGallery([]AdversarialRow{{Heading: "ES", Clean: Tile{a, "x"}, Adversarial: Tile{b, "y"}, After: []Neighbor{{Tile{a, "z"}, true}}}})
	if len(got) != 1 || got[0].Name != "ES" || len(got[0].Thumbs) != 4 {
		t.Fatalf("%+v", got)
	}
	if c := got[0].Thumbs[1]; c.Part != "change × 2" || c.Image.Pix[0] != 0.5 || c.Image.Pix[1] != 1 {
		t.Errorf("%+v", c)
	}
}
