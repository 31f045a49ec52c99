package rundir_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

func TestReadGalleries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	r := rundirtest.Fake(t, dir, 1, "finished", map[string]string{
		"eval.json": rundirtest.EvalFile(0.9, 0.5), "cluster.json": rundirtest.ClusterFile,
		"figures/retrieval-gallery.png": "x", "figures/retrieval-gallery.csv": "row,name,part,text,verdict\n0,,query,\"a, b\",\n0,,nearest images,c,wrong\n1,,query,d,\n",
		"figures/confusion.png": "x", "figures/confusion.csv": "class,0,noise\nα,3,0\n",
	})
	g, err := r.ReadGallery("retrieval")
	if err != nil || len(g.Rows) != 2 || len(g.Rows[0].Thumbs) != 2 || g.Rows[0].Thumbs[0].Caption != "a, b" || g.Rows[0].Thumbs[1].Verdict != render.Wrong || g.Rows[1].Thumbs[0].Part != "query" {
		t.Errorf("%+v %v", g, err)
	}
	if g, err := r.ReadGallery("attack"); g != nil || err != nil {
		t.Errorf("a gallery that is not there: %v %v", g, err)
	}
	c, err := r.ReadConfusion()
	if err != nil || len(c.Rows) != 1 || c.Rows[0] != "α" || len(c.Cols) != 2 || c.Counts[0][0] != 3 {
		t.Errorf("%+v %v", c, err)
	}
	for text, want := range map[string]string{"row\n1\n": "1 columns, want 5", "a,b,c,d,e\n2,,q,x,\n": "row 2 does not follow", "a,b\n1\n": "fields"} {
		rundirtest.Put(t, dir, "figures/retrieval-gallery.csv", text)
		if _, err := r.ReadGallery("retrieval"); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	rundirtest.Put(t, dir, "figures/confusion.csv", "class,0\na,-1\n")
	if _, err := r.ReadConfusion(); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "-1 is not a count") {
		t.Error(err)
	}
}
