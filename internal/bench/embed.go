package bench

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// resnet50 is the network of the jobs rn50 and rn50-embed.
func resnet50() nn.Spec {
	return nn.Spec{Name: "resnet50", Height: 224, Width: 224, Channels: 3, Normalize: true}
}

// resnet50Shapes are the convolutions of ResNet-50 on images of 224 x 224 pixels.
func resnet50Shapes(batch int) []layerShape {
	const net = "rn50"
	s := []layerShape{{net, batch, 1, square(224, 3, 64, 7, 2)}}
	in, from := 64, 56
	for stage, blocks := range []int{3, 4, 6, 3} {
		width, out, stride := 64<<stage, 256<<stage, min(stage, 1)+1
		to := from / stride
		s = append(s,
			layerShape{net, batch, 1, square(from, in, width, 1, 1)}, layerShape{net, batch, 1, square(from, width, width, 3, stride)},
			layerShape{net, batch, 1, square(from, in, out, 1, stride)},
			layerShape{net, batch, blocks, square(to, width, out, 1, 1)},
			layerShape{net, batch, blocks - 1, square(to, out, width, 1, 1)}, layerShape{net, batch, blocks - 1, square(to, width, width, 3, 1)})
		in, from = out, to
	}
	return s
}

// vit is the network of the jobs vits16 and vits16-embed.
func vit() nn.Spec {
	return nn.Spec{Name: "vit-s16", Height: 224, Width: 224, Channels: 3, Normalize: true}
}

// vitShapes is its one convolution.
func vitShapes(batch int) []layerShape {
	return []layerShape{{"vits16", batch, 1, kernel.Conv{H: 224, W: 224, C: 3, OutC: 384, KH: 16, KW: 16, StrideH: 16, StrideW: 16}}}
}

// embedJobs embed a batch of images, as evaluation does.
func embedJobs() []Job {
	const images = 8
	return []Job{
		{"rn50-embed", "ResNet-50 on 224x224, embeddings of 8 images", "", func(Options) ([]task, error) {
			return embedding(resnet50(), images, resnet50Shapes(images))
		}},
		{"vits16-embed", "ViT-S/16 on 224x224, embeddings of 8 images", "", func(Options) ([]task, error) {
			return embedding(vit(), images, vitShapes(images))
		}},
	}
}

// embedding is the task of embedding that many images.
func embedding(spec nn.Spec, images int, convolutions []layerShape) ([]task, error) {
	model, err := nn.Build(spec, rng.New(0, "init"))
	if err != nil {
		return nil, err
	}
	x := array.New(images, spec.Height, spec.Width, spec.Channels)
	r := rng.New(0, "images")
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	var z *array.Array
	t := task{images: images, warmUp: 2,
		run:     repeat(func() error { z = model.Embed(x, nn.Eval); return nil }),
		results: func(visit func(string, []float32)) { visit("embeddings", z.Data) },
	}
	for _, s := range convolutions {
		f := float64(images * s.times)
		t.direct += f * convFLOPs(s.conv)
		t.executed += f * executedFLOPs(s.conv, s.conv.Plan().Fwd)
	}
	for _, l := range model.Describe() {
		if multiplies(l) {
			t.direct += float64(images) * float64(l.FLOPs)
			t.executed += float64(images) * float64(l.FLOPs)
		}
	}
	return []task{t}, nil
}
