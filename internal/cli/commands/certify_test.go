package commands_test

import (
	"fmt"
	"os"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

func TestCertify(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	const line = "certify --run runs/tiny --method ibp --eps 0.00001,0 --queries 12"
	doc := clitest.Document(t, line)
	if doc["schema"] != "tercet.certify/1" || len(doc["points"].([]any)) != 2 {
		t.Errorf("%v", doc)
	}
	before := clitest.Snapshot(t, ".")
	clitest.Must(t, 0, "certify --run runs/tiny --method ibp --eps 0,1e-5 --queries 12 --if-needed")
	clitest.Must(t, 0, "certify --run runs/tiny --method ibp --eps 1e-5 --queries 12 --if-needed")
	clitest.Unchanged(t, ".", before, nil)
	for flags, want := range map[string]string{
		"--eps 0 --queries 12":                   "replacing runs/tiny/certify.json would lose: the shares at eps 1e-05; --out-dir FOLDER writes elsewhere, --force replaces it",
		"--eps 0,0.00001 --queries 8":            "12 queries instead of 8",
		"--eps 0,0.00001 --queries 12 --sample":  "sample false instead of true",
		"--sigma 0.5 --alpha 0.1":                "--sigma and --alpha: only for --method vote and mean",
		"--method vote --radii":                  "--radii is for --method ibp",
		"--method vote --sigma 0":                "--sigma is 0; give a standard deviation above 0",
		"--method vote --alpha 0.5":              "--alpha is 0.5; give a probability above 0 and below 0.5",
		"--method vote --samples 0":              "--samples is 0; give at least 1",
		"--method vote --queries 12 --eps 0":     "the shares at eps 1e-05; method ibp instead of vote; norm linf instead of l2; sigma 0 instead of 0.25",
		"--eps 2":                                "--eps 2 is more than 1",
		"--eps 0.1,1/10":                         "--eps names 1/10 twice",
		"--eps x":                                `--eps "x" is not a number such as 0.03 or 8/255`,
		"--eps ''":                               "--eps",
		"--method vot":                           `--method is "vot"; give vote, mean, ibp, crown-ibp or lipschitz`,
		"--gallery half":                         `--gallery is "half"; give full, trimmed or prototype`,
		"--gallery trimmed --method vote":        "--gallery trimmed is for --method mean, ibp, crown-ibp or lipschitz",
		"--gallery trimmed --eps 0 --queries 12": "the shares at eps 1e-05; gallery full instead of trimmed",
		"--queries -1":                           "--queries is -1; give at least 0",
		"--move-gallery --method vote":           "--move-gallery needs --method ibp or crown-ibp",
		"--move-gallery --gallery trimmed":       "the gallery of all rows",
		"--fail-under R@2=1":                     `"recall@2" will not be measured`,
		"--force --if-needed":                    "cannot be combined",
		"--split all":                            "--split is",
	} {
		clitest.Refuse(t, 2, "certify --run runs/tiny --method ibp "+flags, want)
	}
	clitest.Refuse(t, 2, "certify --eps 0", "give --run DIRECTORY")
	clitest.Unchanged(t, ".", before, nil)
	vote := clitest.Document(t, "certify --run runs/tiny --sigma 0.02 --samples 200 --queries 12 --out-dir vote --eps 0.01,0,0.02")
	if o := vote["options"].(map[string]any); o["norm"] != "l2" || o["samples"] != 200. || len(vote["points"].([]any)) != 3 || vote["radii"] == nil || vote["kernels"] != nil {
		t.Errorf("%v", vote)
	}
	mean := clitest.Document(t, "certify --run runs/tiny --method mean --gallery prototype --sigma 0.02 --samples 500 --queries 12 --out-dir mean --eps 0.001,0")
	if mean["radii_lipschitz"] == nil || mean["points"].([]any)[0].(map[string]any)["total_variation"] == nil {
		t.Errorf("%v", mean)
	}
	moved := clitest.Document(t, "certify --run runs/tiny --method ibp --queries 12 --eps 0,0.00001,0.1 --move-gallery --out-dir moved")
	last := 2.0
	for _, p := range moved["points"].([]any) {
		share := func(key string) float64 {
			return p.(map[string]any)["moved"].(map[string]any)[key].(map[string]any)["value"].(float64)
		}
		if one, all := share("one"), share("all"); all > one || one > last {
			t.Errorf("one image %v, all %v, at a smaller budget %v", one, all, last)
		} else {
			last = one
		}
	}
	clitest.Refuse(t, 2, "certify --run runs/tiny --method ibp --queries 12 --eps 0,0.00001,0.1 --out-dir moved", "the certificates of the gallery")
	for method, norm := range map[string]string{"crown-ibp": "linf", "lipschitz": "l2"} {
		d := clitest.Document(t, "certify --run runs/tiny --queries 12 --eps 0.00001 --method "+method+" --out-dir "+method)
		if o := d["options"].(map[string]any); o["norm"] != norm || d["kernels"] != "direct" {
			t.Errorf("%s: %v", method, d)
		}
	}
	clitest.Must(t, 4, line+" --fail-under certR@1=1.01 --out-dir gate")
	clitest.Must(t, 0, line+" --fail-under R@1=0 --force")
	clitest.Must(t, 0, "certify --run runs/tiny --method ibp --eps 0 --split train --checkpoint last --queries 4")
}

// Threads change no byte of the result but its time.
func TestThreads(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	docs := map[string]map[string]any{}
	for _, threads := range []string{"1", "2"} {
		d := clitest.Document(t, "certify --run runs/tiny --method ibp --eps 0.00001,0.0001 --radii --force --threads "+threads)
		delete(d["cost"].(map[string]any), "seconds")
		docs[threads] = d
	}
	for key := range docs["1"] {
		if a, b := docs["1"][key], docs["2"][key]; fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: %v with one thread, %v with two", key, a, b)
		}
	}
}

// Worst cases of the run are compared query by query; a query that is proven and broken
// ends the command with exit code 1 and its index, and nothing is written.
func TestSandwich(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	clitest.Must(t, 0, "attack --run runs/tiny --suite worst --eps 0.00001 --queries 8 -q")
	const line = "certify --run runs/tiny --method ibp --eps 0,0.00001 --force"
	doc := clitest.Document(t, line)
	both, ok := doc["attacked"].(map[string]any)
	if !ok || both["queries"] != 8. || both["certified"].(float64)+both["broken"].(float64)+both["unknown"].(float64) != 8 || both["certified"] == 0. {
		t.Fatalf("%v", both)
	}
	w, err := record.Read[record.Worst]("runs/tiny/worst.json")
	if err != nil {
		t.Fatal(err)
	}
	w.Galleries[0].Broken, w.Galleries[0].Linf = record.Pack([]float64{1, 1, 1, 1, 1, 1, 1, 1}), record.Pack(make([]float64, 8))
	if err := record.Write("runs/tiny/worst.json", w); err != nil {
		t.Fatal(err)
	}
	before := clitest.Snapshot(t, ".")
	clitest.Refuse(t, 1, line, "is certified at linf eps 0, and an attack found an image at distance 0 that breaks it")
	clitest.Unchanged(t, ".", before, nil)
	// A damaged file is seen before a proof is lost to it; votes are not compared.
	clitest.Put(t, "runs/tiny/worst.json", "{")
	before = clitest.Snapshot(t, ".")
	clitest.Refuse(t, 3, line, "the proof is compared with it: remove it to do without")
	clitest.Unchanged(t, ".", before, nil)
	clitest.Must(t, 0, "certify --run runs/tiny --samples 2 --queries 2 --force")
	// The attack compares with a certificate that is there, too.
	if err := os.Remove("runs/tiny/worst.json"); err != nil {
		t.Fatal(err)
	}
	clitest.Must(t, 0, "certify --run runs/tiny --method ibp --eps 0.00001 --queries 8 --force --out-dir right")
	clitest.Put(t, "runs/tiny/worst.json", "{}")
	c, err := record.Read[record.Certify]("right/certify.json")
	if err != nil {
		t.Fatal(err)
	}
	c.Points[0].Eps, c.Points[0].Proven = 0.1, record.Pack([]float64{1, 1, 1, 1, 1, 1, 1, 1})
	if err := record.Write("runs/tiny/certify.json", c); err != nil {
		t.Fatal(err)
	}
	const attack = "attack --run runs/tiny --suite worst --eps 0.1 --queries 8 --force"
	clitest.Refuse(t, 1, attack, "is certified at linf eps 0.1, and an attack found an image at distance ")
	if got, err := os.ReadFile("runs/tiny/worst.json"); err != nil || string(got) != "{}" {
		t.Errorf("worst.json was written: %v", err)
	}
	clitest.Put(t, "runs/tiny/certify.json", "{")
	clitest.Refuse(t, 3, attack, "the attack is compared with it: remove it to do without")
}
