package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/run"
)

// The clustering study compares like with like: in a data set, runs differ in the
// loss, the rate of noise and the seed alone, and the margins mean the same.
func TestClusteringConfigs(t *testing.T) {
	names := map[string]bool{}
	for _, data := range []string{"mnist", "cifar10"} {
		common := map[string]string{}
		margins := map[string]map[string]string{}
		for _, loss := range []string{"l1", "l2", "l3"} {
			file := filepath.Join("../../configs/clustering", data+"-"+loss+".yaml")
			cfg, err := config.Load(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			runs, err := run.Variants(cfg)
			if err != nil || len(runs) != 18 {
				t.Fatalf("%s: %d runs, %v", file, len(runs), err)
			}
			margins[loss] = map[string]string{}
			cases := map[string]bool{}
			for _, c := range runs {
				if err := c.Validate(); err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
				if names[c.Name] || !strings.HasPrefix(c.Name, "clustering-"+data+"-"+loss+"-") {
					t.Errorf("the name %s is listed twice, or is not its file's", c.Name)
				}
				names[c.Name] = true
				rate := ""
				for _, l := range c.Origins() {
					switch section, key, _ := strings.Cut(l.Key, "."); {
					case l.Key == "noise.rate":
						rate = l.Value
					case section == "loss":
						margins[loss][key] = l.Value
					case l.Key != "name" && l.Key != "seed" && section != "sweep":
						if v, ok := common[l.Key]; ok && v != l.Value {
							t.Errorf("%s: %s is %s, elsewhere %s", c.Name, l.Key, l.Value, v)
						}
						common[l.Key] = l.Value
					}
				}
				cases[fmt.Sprintf("%s seed %d", rate, c.Seed)] = true
			}
			for _, rate := range []string{"0", "0.1", "0.2", "0.3", "0.4", "0.5"} {
				for seed := range 3 {
					if id := fmt.Sprintf("%s seed %d", rate, seed); !cases[id] {
						t.Errorf("%s: no run at noise %s", file, id)
					}
				}
			}
		}
		if common["noise.kind"] != "sln" || common["noise.seed"] != "null" {
			t.Errorf("%s: noise %s, seed %s", data, common["noise.kind"], common["noise.seed"])
		}
		l1, l2, l3 := margins["l1"], margins["l2"], margins["l3"]
		if l1["name"] != "triplet" || l1["distance"] != "squared" || l2["name"] != "triplet-capped" || l3["name"] != "triplet-threshold" {
			t.Errorf("%s: losses %v, %v, %v", data, l1, l2, l3)
		}
		for key, values := range map[string][]string{
			"alpha": {l1["margin"], l2["alpha"], l3["alpha"]}, "beta": {l2["beta"], l3["beta"]}, "reducer": {l1["reducer"], l2["reducer"], l3["reducer"]},
		} {
			if len(slices.Compact(values)) != 1 {
				t.Errorf("%s: %s differs: %v", data, key, values)
			}
		}
	}
	if len(names) != 108 {
		t.Errorf("%d runs", len(names))
	}
}
