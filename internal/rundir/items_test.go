package rundir_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

func TestReadItems(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	r := rundirtest.Fake(t, dir, 1, "finished", map[string]string{
		"cluster.json": rundirtest.ClusterFile, "figures/items.png": "x",
		"figures/items.csv": "item,class,cluster,x,y\n7,\"a, b\",2,0.5,-1e3\n",
	})
	items, err := r.ReadItems()
	if err != nil || len(items.Points) != 1 || items.Points[0].X != 0.5 || items.Points[0].Y != -1000 || items.Points[0].Class != "a, b" || items.Points[0].Text != "a, b, cluster 2, item 7" {
		t.Errorf("%+v %v", items, err)
	}
	for text, want := range map[string]string{"item\n1,2\n": "fields", "a,b,c,d,e\n1,x,0,nan,1\n": "items.csv: line 2: the place nan, 1", "a,b,c,d\n1,2,3,4\n": "4 columns, want 5"} {
		rundirtest.Put(t, dir, "figures/items.csv", text)
		if _, err := r.ReadItems(); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	r.Cluster = nil
	if items, err := r.ReadItems(); items != nil || err != nil {
		t.Errorf("of a clustering that was left out: %v %v", items, err)
	}
}
