package wire

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/data/datatest"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/imaging"
	"tercet/internal/imaging/transform"
	"tercet/internal/rng"
)

// protocolPlan says what the first steps of a run draw, for a program that does the same
// steps without Tercet (testdata/scripts/check_protocol.py).
type protocolPlan struct {
	Sets   []string       `json:"sets"`   // changes to the preset, for tercet train
	Resize int            `json:"resize"` // side of the images, and of their crops
	Crop   int            `json:"crop"`
	Steps  []protocolStep `json:"steps"`
}

type protocolStep struct {
	Images   []protocolImage `json:"images"`
	Triplets [][3]int32      `json:"triplets"` // rows of anchor, positive, negative
}

// protocolImage is a row of a batch: where its crop lies in the resized image.
type protocolImage struct {
	File string `json:"file"`
	Top  int    `json:"top"`
	Left int    `json:"left"`
	Flip bool   `json:"flip"`
}

// The boxes, mirrors and batches of a plan are those of the loader: images resized whole,
// cut and mirrored by the plan are its rows, to the bit. With TERCET_PROTOCOL=FOLDER (make
// check-protocol) the tree and the plan of 20 steps are written there, with crops of
// TERCET_PROTOCOL_CROP pixels in place of the preset's 224.
func TestProtocolPlan(t *testing.T) {
	t.Parallel()
	dir, steps := os.Getenv("TERCET_PROTOCOL"), 20
	if dir == "" {
		dir, steps = t.TempDir(), 2
	}
	root := filepath.Join(dir, "cub")
	classes := append(datatest.Spread(1, 8, 48, 0, 0), datatest.Spread(101, 104, 24, 0, 0)...)
	datatest.Tree{T: t, Dir: root, Classes: classes, Images: true}.CUB()
	crop := 224
	if v := os.Getenv("TERCET_PROTOCOL_CROP"); v != "" {
		var err error
		if crop, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	resize := crop * 8 / 7
	sets := []string{"data.root=" + root, "data.partial=true", "batch.pairs=8", "train.epochs=0", "train.steps=20", "train.log_every=1", "loss.margin=1"}
	if crop != 224 {
		whole := fmt.Sprintf("Resize((%d, %d))", resize, resize)
		sets = append(sets, fmt.Sprintf(`data.transform.train=["%s", RandomCrop(%d), RandomHorizontalFlip]`, whole, crop), fmt.Sprintf(`data.transform.test=["%s", CenterCrop(%d)]`, whole, crop))
	}
	cfg, err := config.Load("../../configs/protocols/zhou-patel/cub.yaml", append(sets, "model.weights="))
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	sampler, _, err := BuildSampler(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	loader := batch.NewLoader(s.Seen(), sampler, nil, cfg.Seed, 0, 0, 0)
	defer loader.Close()
	plan := protocolPlan{Sets: sets, Resize: resize, Crop: crop}
	plan.draw(t, cfg, s, sampler, loader, steps)
	if out := os.Getenv("TERCET_PROTOCOL"); out != "" {
		b, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(out, "plan.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// draw follows a loader and the miner for some steps.
func (plan *protocolPlan) draw(t *testing.T, cfg *config.Config, s *Sets, sampler batch.Sampler, loader *batch.Loader, steps int) {
	t.Helper()
	objective, err := BuildObjective(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	miner, err := BuildMiner(cfg, sampler.Layout(), objective, nil)
	if err != nil {
		t.Fatal(err)
	}
	mined := rng.New(cfg.Seed, "mine")
	for range steps {
		b, err := loader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var step protocolStep
		for p, i := range b.Index {
			img := box(cfg, b, p, plan.Resize)
			img.File = s.Seen().(data.Namer).ItemName(int(i))
			checkRow(t, img, plan.Resize, plan.Crop, b.Images.Row(p))
			step.Images = append(step.Images, img)
		}
		var tuples loss.Tuples
		if _, err := miner.Mine(array.New(len(b.Index), 2), b.Labels, mined, &tuples); err != nil {
			t.Fatal(err)
		}
		for _, x := range tuples.Triplets {
			step.Triplets = append(step.Triplets, [3]int32{int32(x.A), int32(x.P), int32(x.N)})
		}
		plan.Steps = append(plan.Steps, step)
		loader.Recycle(b)
	}
}

// box draws the crop of row p as the loader does, of an image of that side whose colors are
// their own places: the corners of the result say where it was cut.
func box(cfg *config.Config, b *batch.Batch, p, side int) protocolImage {
	places := imaging.New(side, side)
	for y := range side {
		for x := range side {
			copy(places.Row(y)[3*x:], []uint8{uint8(y), uint8(x), 0})
		}
	}
	var c transform.Canvas
	r := rng.New(cfg.Seed, "transform", uint64(b.Epoch), uint64(b.Step), uint64(p))
	row := DataOptions(cfg).Transform.Train.Apply(&c, places, r).Row(0)
	first, last := row[:3], row[len(row)-3:]
	return protocolImage{Top: int(first[0]), Left: int(min(first[1], last[1])), Flip: first[1] > last[1]}
}

// checkRow compares a row of a batch with its file, resized, cut and mirrored.
func checkRow(t *testing.T, img protocolImage, side, crop int, row []float32) {
	t.Helper()
	b, err := os.ReadFile(img.File)
	if err != nil {
		t.Fatal(err)
	}
	var d imaging.Decoder
	var z imaging.Resizer
	var whole, squashed, cut imaging.Image
	if err := d.Decode(&whole, b); err != nil {
		t.Fatal(err)
	}
	z.Resize(&squashed, whole, side, side, imaging.Bilinear)
	z.Resize(&cut, squashed.Crop(img.Top, img.Left, crop, crop), crop, crop, imaging.Bilinear)
	if img.Flip {
		cut.Mirror()
	}
	want := make([]float32, 3*crop)
	for y := range crop {
		kernel.Pixels(cut.Row(y)[:3*crop], want)
		for k, v := range want {
			if row[3*crop*y+k] != v {
				t.Fatalf("%+v: row %d, number %d is %v, the plan says %v", img, y, k, row[3*crop*y+k], v)
			}
		}
	}
}
