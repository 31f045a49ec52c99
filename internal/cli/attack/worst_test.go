package attack_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

// The worst case of a small run: its document, kept, shown again and not lost.
func TestWorst(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	const line = "attack --run runs/tiny --suite worst --eps 8/255 --queries 8"
	const file = "runs/tiny/worst.json"
	clitest.Must(t, 0, line+" --gallery full,prototype --battery")
	d, err := record.Read[record.Worst](file)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Checks) < 15 {
		t.Errorf("checks: %+v", d.Checks)
	}
	for k, g := range d.Galleries {
		by, err := g.Broken.Values(8)
		if err != nil {
			t.Fatal(err)
		}
		linf, err := g.Linf.Values(8)
		if err != nil {
			t.Fatal(err)
		}
		robust, right, broken := 0, 0, 0
		for i, m := range by {
			if m != 1 {
				right++
			}
			if m == 0 {
				robust++
			}
			if linf[i] > 8./255+1e-6 || m < 2 && linf[i] != 0 {
				t.Errorf("%s: query %d moved by %v", g.Gallery, i, linf[i])
			}
		}
		for _, m := range g.Members {
			broken += m.Broken
		}
		wc, _ := g.Scores.Get("wcR@1")
		r, _ := g.Scores.Get("recall@1")
		if g.Gallery != []string{"full", "prototype"}[k] || wc.Value != float64(robust)/8 || r.Value != float64(right)/8 || broken != 8-robust {
			t.Errorf("%+v: %d right, %d robust", g, right, robust)
		}
	}
	if _, err := os.Stat("runs/tiny/figures/worst.png"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("runs/tiny/worst.part"); err == nil {
		t.Error("unfinished work stays behind")
	}
	before := clitest.Snapshot(t, ".")
	for flags, want := range map[string]string{
		" --gallery full --battery":                       "replacing runs/tiny/worst.json would lose: the gallery prototype; --out-dir",
		" --gallery full,prototype --battery --eps 1/255": "eps linf 8/255 instead of linf 1/255",
		" --gallery full,prototype --battery --queries 4": "8 queries instead of 4",
		" --gallery full,prototype":                       "would lose: the checks for masked gradients",
		" --gallery half":                                 `unknown gallery "half"; valid: full, prototype, trimmed`,
		" --gallery full,full":                            "names full twice",
		" --eps 2":                                        "eps is 2: pixels are in [0, 1]",
		" --eps x":                                        `--eps "x" is not a number`,
		" --norm l2":                                      "eps l", // of another norm
		" --pgd-steps 3":                                  "--pgd-steps is for --attack and --suite ers",
		" --curve eps=0..1/255:2":                         "--curve is for --attack and --suite ers",
		" --task 1/2":                                     "--task: --suite worst is not divided into tasks; an interrupted command continues",
		" --queries -1":                                   "--queries",
		" --fail-under ERS=0.1":                           "ERS",
		" --gallery prototype --fail-under wcR=1":         "wcR",
	} {
		clitest.Refuse(t, 2, line+flags, want)
	}
	clitest.Refuse(t, 2, "attack --run runs/tiny --suite best", "give ers, worst or plus")
	clitest.Refuse(t, 2, "attack --run runs/tiny --suite worst --norm l2", "--norm l2 needs --eps")
	clitest.Refuse(t, 2, "attack --run runs/tiny --gallery full", "--gallery is for --suite worst and plus")
	clitest.Unchanged(t, ".", before, nil)
	again := clitest.Must(t, 0, line+" --gallery full,prototype --battery --if-needed")
	if !strings.Contains(again, "wcR@1:8bit") {
		t.Errorf("%s", again)
	}
	clitest.Must(t, 4, line+" --gallery full,prototype --battery --if-needed --fail-under wcR@1(prototype)=1.5")
	clitest.Unchanged(t, ".", before, nil)
	// A result of fewer attacks is not current.
	d.Galleries[0].Members = d.Galleries[0].Members[:3]
	if err := record.Write(file, d); err != nil {
		t.Fatal(err)
	}
	clitest.Must(t, 0, line+" --gallery full,prototype --battery --if-needed --no-pictures")
	if again, err := record.Read[record.Worst](file); err != nil || len(again.Galleries[0].Members) < 8 {
		t.Errorf("%v: %+v", err, again.Galleries[0].Members)
	}
	clitest.Must(t, 0, line+" --force --no-pictures --norm l2 --eps 0.5 --split train --save-images saved")
	if _, err := os.Stat("runs/tiny/worst-train.json"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("saved/adversarial_full.npy"); err != nil {
		t.Error(err)
	}
}

// Images of somebody else are verified; they lower the result or leave it, and are refused
// where they are of another budget.
func TestWorstVerifies(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	const line = "attack --run runs/tiny --suite worst --no-pictures --queries 10"
	clitest.Must(t, 0, line+" --eps 6/255 --save-images theirs")
	clitest.Must(t, 0, line+" --eps 6/255 --out-dir ours --verify theirs")
	before, err := record.Read[record.Worst]("runs/tiny/worst.json")
	if err != nil {
		t.Fatal(err)
	}
	after, err := record.Read[record.Worst]("ours/worst.json")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := before.Galleries[0].Scores.Get("wcR@1")
	b, _ := after.Galleries[0].Scores.Get("wcR@1")
	found := 0
	for _, m := range before.Galleries[0].Members[1:] {
		found += m.Broken
	}
	if list := after.Galleries[0].Members; b.Value != a.Value || list[len(list)-1].Member != "given" || list[len(list)-1].Verified != found || list[len(list)-1].Broken != 0 || after.Options.Given == "" {
		t.Errorf("wcR@1 %v, before %v; %+v, %d found before", b.Value, a.Value, list, found)
	}
	clitest.Must(t, 0, line+" --eps 6/255 --out-dir four --k 4 --fail-under wcR@4=0")
	four, err := record.Read[record.Worst]("four/worst.json")
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := four.Galleries[0].Scores.Get("wcR@4"); !ok || v.Value < a.Value || four.Options.K != 4 {
		t.Errorf("%+v, wcR@1 %v", four.Galleries[0].Scores, a.Value)
	}
	clitest.Must(t, 0, line+" --eps 6/255 --out-dir moved --move-gallery --fail-under wcR@1:GA=0")
	moved, err := record.Read[record.Worst]("moved/worst.json")
	if err != nil {
		t.Fatal(err)
	}
	clean, _ := moved.Galleries[0].Scores.Get("recall@1")
	one, _ := moved.Moved.Scores.Get("wcR@1:G1")
	all, _ := moved.Moved.Scores.Get("wcR@1:GA")
	if !(clean.Value >= one.Value && one.Value >= all.Value) || clean.Value == all.Value {
		t.Errorf("recall@1 %v, one image %v, all %v", clean.Value, one.Value, all.Value)
	}
	clitest.Refuse(t, 2, line+" --eps 6/255 --out-dir moved", "would lose: the attacks on the gallery")
	clitest.Refuse(t, 2, line+" --move-gallery --k 2", "leave out --k")
	clitest.Refuse(t, 2, line+" --eps 6/255 --out-dir four --k 2", "the 4 nearest rows instead of 2")
	clitest.Refuse(t, 2, line+" --k 0", "--k")
	clitest.Refuse(t, 2, line+" --eps 6/255 --out-dir ours", "would lose: the images of others that were verified")
	if found == 0 {
		t.Error("nothing was found that could be verified")
	}
	hub, _ := moved.Moved.Scores.Get("hub@1")
	still, _ := moved.Moved.Scores.Get("hub@1:clean")
	if hub.Value < still.Value || moved.Moved.Asked != 10 || moved.Moved.Hub == nil {
		t.Errorf("%+v", moved.Moved)
	}
	plus := strings.Replace(line, "--suite worst", "--suite plus", 1)
	clitest.Must(t, 0, "train -c tiny.yaml -q --set name=other --set seed=5")
	clitest.Must(t, 0, plus+" --eps 6/255 --out-dir plus --transfer runs/other")
	more, err := record.Read[record.Worst]("plus/worst.json")
	if err != nil {
		t.Fatal(err)
	}
	m := more.Galleries[0].Members
	if v, _ := more.Galleries[0].Scores.Get("wcR@1"); v.Value > a.Value || more.Options.Version != "plus" || len(more.Options.Transfer) != 1 || m[len(m)-2].Member != "others" || len(m) != len(before.Galleries[0].Members)+5 {
		t.Errorf("wcR@1 %v, before %v; %+v", v.Value, a.Value, m)
	}
	clitest.Refuse(t, 2, line+" --eps 6/255 --out-dir plus --transfer runs/other", "would lose: the attacks of the suite plus")
	clitest.Refuse(t, 2, plus+" --eps 6/255 --out-dir plus", "would lose: the images made for the network ")
	clitest.Refuse(t, 2, plus+" --transfer runs/other --transfer runs/other", "--transfer: runs/other is named twice")
	clitest.Refuse(t, 2, plus+" --transfer runs/tiny", "is the attacked run")
	clitest.Refuse(t, 3, plus+" --transfer runs/none", "runs/none")
	clitest.Refuse(t, 2, plus+" --pgd-steps 3", "--pgd-steps is for --attack and --suite ers")
	clitest.Refuse(t, 2, "attack --run runs/tiny --transfer runs/other", "--transfer is for --suite worst and plus")
	saved := clitest.Snapshot(t, ".")
	clitest.Refuse(t, 2, line+" --eps 6/255 --force --verify theirs --save-images ./theirs", "--save-images ./theirs is what the command reads")
	clitest.Refuse(t, 2, line+" --eps 6/255 --force --save-images runs/tiny", "--save-images runs/tiny is what the command reads")
	clitest.Refuse(t, 2, line+" --eps 6/255 --force --save-images tiny.yaml", "tiny.yaml is not a folder")
	clitest.Unchanged(t, ".", saved, nil)
	clitest.Refuse(t, 3, line+" --eps 1/1000 --out-dir small --verify theirs", "in the linf norm, more than eps 0.001")
	clitest.Refuse(t, 3, line+" --eps 1/1000 --out-dir small --verify theirs", "theirs: image 1, of item 1, ")
	clitest.Put(t, "small/worst.part", "half a file")
	clitest.Refuse(t, 3, line+" --eps 6/255 --out-dir small", "worst.part: no whole file; it holds unfinished work of a worst case: remove it to begin again")
	clitest.Put(t, "theirs/queries.npy", "\x93NUMPY\x01\x00\x46\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }            \n\x00\x00\x00\x00\x01\x00\x00\x00")
	clitest.Refuse(t, 3, line+" --eps 6/255 --out-dir ours --verify theirs", "theirs/queries.npy has 2 labels, theirs/adversarial.npy has 10 images")
}
