# Tercet. `make demo` is the main job, `make test` the tests; both do all set-up.
GO        ?= go
BIN       := bin/tercet
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT    ?= $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS   := -s -w -X tercet/internal/cli/base.Version=$(VERSION) -X tercet/internal/cli/base.Commit=$(COMMIT)
KILL_SECONDS ?= 600
FUZZTIME  ?= 10s
# Making an interesting input shorter takes time in the square of its length; Go's
# own limit of 60 s for each would leave no time for new inputs.
FUZZMINIMIZE ?= 1000x
PKGS      ?= ./...
# Paths that are cut off let every checkout and `make build` share one build cache.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -trimpath)
# What ships has no cgo: tests and lint read that build too, so that each package is compiled once.
test lint noasm: export CGO_ENABLED := 0
PYTHON    ?= /usr/bin/python3
# Debian's OpenBLAS does not know newer processors with AVX-512; this core type ends with an
# illegal instruction on others.
BLAS       = $(shell ! grep -qw avx512f /proc/cpuinfo 2>/dev/null || echo OPENBLAS_CORETYPE=SKYLAKEX)
BENCH_SECONDS ?= 70

.PHONY: all help demo test build bench bench-peers lint race noasm fuzz-short generate-check docs dist kill-test experiments clean

all: build

# Targets with "##" are in make help, those with "# " in its last lines by name alone.
## help: what the main targets do
help:
	@sed -n 's/^## \([^:]*\): \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14
	@echo "also:" $$(sed -n 's/^#  \([a-zA-Z0-9-]*\): .*/\1/p' $(firstword $(MAKEFILE_LIST))) "(described in the Makefile)"

## build: the static binary bin/tercet
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/tercet

.PHONY: native
## native: bin/tercet-native, a dynamic executable that opens MPI libraries (Linux with glibc; needs no C compiler)
native:
	CGO_ENABLED=0 $(GO) build -trimpath -tags native -ldflags '$(LDFLAGS)' -o bin/tercet-native ./cmd/tercet

## demo: train on drawn characters, evaluate on unseen ones, attack and cluster them
demo: build
	$(BIN) train --config configs/demo.yaml
	$(BIN) eval --run runs/demo
	$(BIN) attack --run runs/demo --queries 256 --sample
	$(BIN) cluster --run runs/demo
	$(BIN) report --runs runs/demo --page runs/demo/report.md

## test: all tests
# make lint has vet with all of its checks. Files of tests are in memory where there is a GB
# for them: tests sync what they write, and would wait for the disk. The test binaries stay on
# the disk, since /dev/shm may not let them run.
test: export GOTMPDIR := $(or $(GOTMPDIR),$(TMPDIR),/tmp)
test: export TMPDIR := $(or $(TMPDIR),$(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'NR == 2 {print $$4}')" -gt 1048576 ] && echo /dev/shm || echo /tmp))
test:
	$(GO) test -vet=off $(PKGS)

# All that deadcode reads. It takes half of lint's time, so it runs where this has changed.
deadcode-sum = { $(GO) version; cat go.mod go.sum tools/go.mod tools/deadcode.txt $$(git ls-files --cached --others --exclude-standard '*.go' ':!*_test.go') 2>/dev/null; } | sha256sum

## lint: gofmt, vet, staticcheck of what is no test, deadcode
lint:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not gofmt-ed: $$bad"; exit 1; fi
	$(GO) vet ./...
	cd tools && $(GO) build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck -tests=false ./...
	cd tools && $(GO) build -o ../bin/deadcode golang.org/x/tools/cmd/deadcode
	@sed -e '/^#/d' -e 's/ *#.*//' tools/deadcode.txt | LC_ALL=C sort > bin/deadcode.want
	@sum="$$($(deadcode-sum))"; [ "$$sum" = "$$(cat bin/deadcode.sum 2>/dev/null)" ] || \
	  { GOGC=150 bin/deadcode -f '{{range .Funcs}}{{printf "%s %s\n" $$.Path .Name}}{{end}}' ./cmd/tercet | LC_ALL=C sort | diff bin/deadcode.want - && echo "$$sum" > bin/deadcode.sum; } || \
	  { echo "functions that cmd/tercet does not reach differ from tools/deadcode.txt (<: reached or gone, >: new)"; exit 1; }

.PHONY: lint-tests
#  lint-tests: staticcheck with the tests, which takes as long as all the rest of lint together
lint-tests:
	cd tools && $(GO) build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...

## race: the tests of the concurrent packages under the race detector
race:
	$(GO) test -race -short -timeout 60m ./internal/par ./internal/data/... ./internal/train ./internal/engine/... ./internal/attack ./internal/metric ./internal/cluster ./internal/run ./internal/evaluate ./internal/robustness ./internal/clustering ./internal/generalize ./internal/cli/...

#  noasm: the kernels' tests in the build without assembly; no other package has files of that build
noasm:
	$(GO) test -vet=off -short -tags noasm ./internal/engine/kernel/...

.PHONY: levels
#  levels: the engine's tests, and those above it, without assembly and with plain Go, AVX2 or AMX kernels
levels:
	$(GO) test -short -tags noasm ./internal/engine/... ./internal/metric ./internal/cluster
	TERCET_KERNEL=generic $(GO) test -count=1 -short ./internal/engine/...
	! grep -qw avx2 /proc/cpuinfo || TERCET_KERNEL=avx2 $(GO) test -count=1 -short ./internal/engine/...
	! grep -qw amx_bf16 /proc/cpuinfo || TERCET_KERNEL=amx $(GO) test -count=1 -short ./internal/engine/... ./internal/metric ./internal/cluster/... ./internal/certify

.PHONY: hostile
#  hostile: all hostile inputs of testdata/hostile, with their exit codes, messages and memory (minutes)
hostile:
	TERCET_HOSTILE=all $(GO) test -count=1 -timeout 60m ./internal/hostile

.PHONY: golden
## golden: write all goldens again (help, config, pages, command lines); look at git diff
golden:
	TERCET_UPDATE_GOLDEN=1 $(GO) test -count=1 -run 'Golden|TestContract' \
	  $$(git grep -l 'testutil.Golden\|testutil.Updating' -- '*_test.go' | xargs -n 1 dirname | grep -v 'internal/digest\|internal/testutil' | sort -u | sed 's|^|./|')

.PHONY: field-trees
#  field-trees: CUB, Cars, SOP and In-Shop in their true size with small drawn images (DIR=FOLDER; NAMES="cub cars-A cars-B cars-C sop sop-info inshop"; PHOTOS=FOLDER of JPEGs to link)
field-trees:
	TERCET_TREES="$(abspath $(DIR))" TERCET_DATASETS="$(NAMES)" TERCET_PHOTOS="$(PHOTOS)" $(GO) test -count=1 -timeout 60m -run TestFieldTrees ./internal/data/annotated

.PHONY: check-export
#  check-export: weights of torchvision through a run and back; exports in PyTorch and OpenCV (minutes; needs both)
check-export: build
	$(BLAS) $(PYTHON) testdata/scripts/check_export.py bin/tercet

.PHONY: check-pipeline
#  check-pipeline: from JPEGs and files of torchvision's weights to embeddings, against PyTorch; memory; hostile files (minutes; NETWORKS="resnet18 resnet34 resnet50")
check-pipeline: build
	$(BLAS) $(PYTHON) testdata/scripts/check_pipeline.py $(BIN) $(NETWORKS)

.PHONY: check-trackers
#  check-trackers: exports of runs read by TensorBoard and MLflow themselves (minutes; needs both, or TENSORBOARD=CHECKOUT MLFLOW=CHECKOUT as the script says)
check-trackers: build
	$(PYTHON) testdata/scripts/check_trackers.py $(BIN)

.PHONY: check-faiss
#  check-faiss: the recipe of docs/large-galleries.md with faiss, its recall counted in numpy (seconds; needs python3-faiss)
check-faiss: build
	$(BLAS) $(PYTHON) testdata/scripts/check_faiss.py $(BIN)

.PHONY: check-protocol
#  check-protocol: the first 20 training steps of a preset on a drawn tree, against PyTorch (minutes, 6 GB of temporary files; NETWORKS="resnet18 resnet50"; CROP=56 and STEPS=5 take less)
check-protocol: build
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && TERCET_PROTOCOL="$$out" TERCET_PROTOCOL_CROP="$(CROP)" $(GO) test -count=1 -run TestProtocolPlan ./internal/wire && \
	  $(BLAS) STEPS=$(or $(STEPS),20) $(PYTHON) testdata/scripts/check_protocol.py $(BIN) "$$out" $(NETWORKS)

.PHONY: decoding-effects
#  decoding-effects: what differences of decoding, resize and crop do to an embedding of ResNet-50 (minutes; needs PyTorch, OpenCV)
decoding-effects: build
	$(BLAS) $(PYTHON) testdata/scripts/decoding_effects.py $(BIN)

.PHONY: backbones
#  backbones: ResNets against torchvision with other weights and gradients at 224 x 224 (minutes; needs PyTorch)
backbones:
	@out=$$(mktemp) && trap 'rm -f "$$out"' EXIT && $(PYTHON) testdata/scripts/torchvision_golden.py "$$out" 224 2 && \
	  TERCET_TORCHVISION="$$out" $(GO) test -count=1 -timeout 60m -v -run Torchvision ./internal/engine/nn

.PHONY: digests
#  digests: the stored digests of trained tensors at each kernel level, with the longer runs (minutes)
digests:
	TERCET_DIGESTS=all $(GO) test -count=1 -timeout 60m ./internal/digest

#  fuzz-short: every fuzz target for FUZZTIME
fuzz-short:
	@failed=; for dir in $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u); do \
	  for f in $$(cat $$dir/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p'); do \
	    echo "== $$dir $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime $(FUZZMINIMIZE) ./$$dir || failed="$$failed $$f"; \
	  done; done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# Engine, and what else runs the same code on each architecture: no files, no terminal.
PURE := ./internal/par ./internal/rng ./internal/fsx ./internal/safetensors ./internal/engine/... ./internal/metric ./internal/cluster/... ./internal/noise ./internal/theory/... ./internal/train ./internal/data ./internal/data/batch ./internal/data/npy ./internal/config

.PHONY: fused amd64-levels i386 arm64
#  fused: no package but render and bench has a sum that the compiler fused with a product (docs/decisions/0007-no-fused-sums.md)
# Pictures do have some: a list without them would be one of nothing.
fused:
	@GOARCH=arm64 CGO_ENABLED=0 $(GO) build -trimpath -o bin/tercet-arm64 ./cmd/tercet
	@$(GO) tool objdump bin/tercet-arm64 | awk '/\tFN?M(ADD|SUB)[SD] /{print $$2}' | $(GO) tool addr2line bin/tercet-arm64 | \
	  sed -n 's|^tercet/\(.*\.go:\)|\1|p' | sort -u > bin/fused.txt
	@grep -q '^internal/render/' bin/fused.txt || { echo "fused: no fused sum found even in internal/render: the search is broken"; exit 1; }
	@! grep -v '^internal/render/\|^internal/bench/' bin/fused.txt || { echo "fused: the compiler fuses these sums with their products; convert the products"; exit 1; }

#  amd64-levels: the engine's tests and the digests, built for GOAMD64=v1 to v4, as far as the processor has them
amd64-levels:
	@failed=; $(MAKE) --no-print-directory fused || failed=fused; for v in v1 v2 v3 v4; do \
	  case $$v in v3) need=avx2 ;; v4) need=avx512f ;; *) need= ;; esac; \
	  if ! grep -qw "$$need" /proc/cpuinfo; then echo "== GOAMD64=$$v: this processor has no $$need"; continue; fi; \
	  echo "== GOAMD64=$$v"; \
	  GOAMD64=$$v $(GO) test -short -timeout 60m ./internal/engine/... ./internal/digest || failed="$$failed $$v"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

#  i386: everything builds for 32-bit processors, and the pure parts pass their tests there
i386:
	GOARCH=386 CGO_ENABLED=0 $(GO) vet ./...
	GOARCH=386 CGO_ENABLED=0 $(GO) test -short -timeout 60m $(PURE)

#  arm64: the engine's tests under qemu-user (apt-get install qemu-user-static), plain Go kernels
# The tests of the environment start themselves as a process, which needs binfmt.
arm64: fused
	GOARCH=arm64 CGO_ENABLED=0 TERCET_DIGESTS=all TERCET_TEST_EXEC=qemu-aarch64-static $(GO) test -short -timeout 0 -skip 'TestEnvironment|TestDigests/kill-test' -exec qemu-aarch64-static \
	  ./internal/engine/... ./internal/metric ./internal/rng ./internal/safetensors ./internal/digest

NIGHTLY ?= test lint-tests generate-again hostile kill-test race fuzz amd64-levels digests levels platforms i386 arm64
.PHONY: nightly fuzz
nightly: export TERCET_TRIALS = all
## nightly: hostile inputs, kills, race detector, fuzzers, architectures (hours)
nightly:
	@failed=; for part in $(NIGHTLY); do \
	  echo "==== $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; \
	done; \
	for part in $(NIGHTLY); do case " $$failed " in *" $$part "*) echo "FAILED  $$part" ;; *) echo "ok      $$part" ;; esac; done; \
	[ -z "$$failed" ]

## fuzz: every fuzz target for a minute
fuzz:
	$(MAKE) --no-print-directory fuzz-short FUZZTIME=60s

# The generators, their commands and what they wrote, as one sum.
GENERATED = internal/engine/kernel/generated.sum
generated-sum = { grep -h '^//go:generate' internal/engine/kernel/*.go; cat $$(git ls-files internal/engine/kernel/_generate 'internal/engine/kernel/*_stubs.go' 'internal/engine/kernel/*.s'); } | sha256sum

.PHONY: generate
#  generate: write the assembly again, and the sum by which generate-check knows that it is up to date
generate:
	$(GO) generate ./internal/engine/kernel
	@$(generated-sum) > $(GENERATED)

#  generate-check: the assembly is what its generators write (not run again where all has the sum of the last make generate)
generate-check:
	@[ "$$($(generated-sum))" = "$$(cat $(GENERATED))" ] || { $(GO) generate ./internal/engine/kernel && git diff --exit-code -- internal/engine/kernel; }

.PHONY: generate-again
#  generate-again: write the assembly again and require no difference
generate-again: generate
	git diff --exit-code -- internal/engine/kernel

## bench: Go benchmarks of kernels, training step, retrieval (jobs: tercet bench)
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./internal/engine/... ./internal/train ./internal/metric ./internal/cluster

#  bench-peers: the jobs of tercet bench interleaved with PyTorch's, OpenBLAS's and scikit-learn's (30 minutes)
# BENCH_SECONDS is a job's time; BENCH_FLAGS go to bench/peers/compare.py, whose --help lists them.
bench-peers: build
	$(PYTHON) bench/peers/compare.py --seconds $(BENCH_SECONDS) --tercet $(BIN) --python $(PYTHON) $(BENCH_FLAGS)

## docs: man pages and the config's JSON Schema, into docs/
docs: build
	$(BIN) man docs/man
	$(BIN) config schema > docs/config.schema.json

PLATFORMS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64
## dist: reproducible binaries for the common platforms, into dist/
dist:
	@set -e; mkdir -p dist; for t in $(PLATFORMS); do \
	  os=$${t%/*}; arch=$${t#*/}; ext=; [ $$os = windows ] && ext=.exe; \
	  echo "dist/tercet-$$os-$$arch$$ext"; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -ldflags '$(LDFLAGS) -buildid=' -o dist/tercet-$$os-$$arch$$ext ./cmd/tercet; \
	done; cd dist && sha256sum tercet-* > SHA256SUMS

.PHONY: platforms
#  platforms: the binaries of make dist, and vet of all packages and tests for these platforms (minutes)
platforms: dist
	@failed=; for t in $(PLATFORMS); do \
	  echo "== vet for $$t"; CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet ./... || failed="$$failed $$t"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

.PHONY: stage deb image image-test fresh-debian
# What a package of Linux has: the binary, man pages, completion and licenses. Files have
# the time of the commit, so that equal commits give equal packages.
STAGE := dist/stage
STAMP  = $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
#  stage: what a package has, into dist/stage
stage: build
	@rm -rf $(STAGE) && mkdir -p $(STAGE)
	@cp $(BIN) $(STAGE)/tercet
	@SOURCE_DATE_EPOCH=$(STAMP) $(BIN) --quiet man $(STAGE)/man >/dev/null && gzip -9n $(STAGE)/man/*
	@for s in bash zsh fish; do $(BIN) completion $$s > $(STAGE)/$$s || exit; done
	@packaging/licenses.sh $(BIN) > $(STAGE)/licenses && gzip -9n $(STAGE)/licenses
	@gzip -9nc CHANGELOG.md > $(STAGE)/changelog.gz

# A version without a tag is before all that have one.
DEB_VERSION ?= $(subst -,+,$(if $(filter v%,$(VERSION)),$(VERSION:v%=%),0~$(shell date -u -d @$(STAMP) +%Y%m%d).$(VERSION)))
DEB_MAINTAINER ?= The Tercet maintainers <maintainers@tercet.invalid>
DEB_ARCH ?= $(shell $(GO) env GOARCH)
## deb: a Debian package with man pages and completion, into dist/
deb: stage
	cd packaging && GOFLAGS= $(GO) build -o ../bin/nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm
	cd packaging && ARCH=$(DEB_ARCH) DEB_VERSION='$(DEB_VERSION)' DEB_MAINTAINER='$(DEB_MAINTAINER)' SOURCE_DATE_EPOCH=$(STAMP) ../bin/nfpm package -p deb -t ../dist/

#  image: an image of the binary alone, for docker or podman
image: stage
	$(or $(DOCKER),docker) build -t tercet:$(VERSION) -f packaging/Dockerfile $(STAGE)

#  image-test: the image built by buildah and a run in it as another user (seconds; root, apt-get install buildah)
image-test: stage
	TERCET=$(BIN) scripts/image-test.sh

#  fresh-debian: the README's two commands and the package in a new Debian (root, debootstrap, network; many minutes)
fresh-debian: deb
	packaging/fresh-debian.sh '$(DEB_VERSION)'

## kill-test: commands killed at random moments, resumed and compared (KILL_SECONDS each)
kill-test:
	KILL_SECONDS=$(KILL_SECONDS) $(GO) test -count=1 -v -timeout 0 ./internal/kills

.PHONY: mpi-test
#  mpi-test: runs of several ranks under mpirun of Open MPI and MPICH, MPI_KILLS ranks killed under each (minutes)
MPI_KILLS ?= 50
mpi-test: native
	TERCET_NATIVE=$(abspath bin/tercet-native) MPI_KILLS=$(MPI_KILLS) $(GO) test -count=1 -v -timeout 0 -run MPI ./internal/kills

.PHONY: gpu-test ptx
#  gpu-test: kernels and networks on a device against the CPU's, and runs on it that are killed and resumed (minutes; apt-get install pocl-opencl-icd ocl-icd-libopencl1; DEVICE=opencl)
DEVICE ?= opencl
gpu-test: native
	TERCET_DEVICE=$(DEVICE) CGO_ENABLED=0 $(GO) test -tags native -count=1 -v ./internal/device ./internal/engine/nn/gpu
	TERCET_DEVICE=$(DEVICE) TERCET_NATIVE=$(abspath bin/tercet-native) $(GO) test -count=1 -v -timeout 0 -run Device ./internal/kills

#  ptx: internal/device/kernels.ptx, the kernels for CUDA from compute capability 7.0 on (apt-get install clang-14)
ptx:
	clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -O3 -ffp-contract=off -S internal/device/kernels.dev -o internal/device/kernels.ptx
	cd internal/device && sha256sum kernels.dev kernels.ptx > kernels.sum

.PHONY: mpi-efficiency
#  mpi-efficiency: 2 ranks of one thread against one process of two threads, interleaved, as a table (TIMES=5, SCALE=1: 10 minutes on a quiet machine; Open MPI)
mpi-efficiency: native
	@NATIVE=bin/tercet-native scripts/mpi-efficiency.sh

.PHONY: emit-test
#  emit-test: what train --emit prints for make, GNU parallel and Snakemake, run, stopped and run again (seconds; apt-get install parallel snakemake)
emit-test: build
	TERCET=$(BIN) scripts/emit-test.sh

.PHONY: slurm-test slurm-sweep-test
#  slurm-test: an emitted array and a run of two ranks on a Slurm of one node, preempted, killed, resubmitted (minutes; root)
slurm-test: build native
	TERCET=$(BIN) NATIVE=bin/tercet-native scripts/slurm-test.sh

#  slurm-sweep-test: a sweep of RUNS tiny runs as a Slurm array of TASKS, of which KILLS are killed (RUNS=1000 TASKS=500 KILLS=100: 20 minutes; root)
slurm-sweep-test: build
	TERCET=$(BIN) scripts/slurm-sweep-test.sh

.PHONY: k8s-test
#  k8s-test: manifests of train --emit through the validation of Kubernetes' API server (tests/k8s; downloads and builds it: minutes)
k8s-test: build
	cd tests/k8s && TERCET=$(abspath $(BIN)) $(GO) test -count=1 ./...

.PHONY: page-test
#  page-test: a page of two runs used in a headless Chromium: no exception, no request, sort, hover, zoom, print (tests/chromium; minutes)
page-test: build
	rm -rf bin/page
	for s in 0 1; do \
		$(BIN) train --config configs/demo.yaml --set name=s$$s --set seed=$$s --set train.epochs=1 --runs-dir bin/page/runs -q && \
		$(BIN) eval bin/page/runs/s$$s -q && $(BIN) cluster bin/page/runs/s$$s -q || exit 1; \
	done > /dev/null
	$(BIN) attack bin/page/runs/s0 --queries 8 --attack ES -q > /dev/null
	$(BIN) report bin/page/runs --page bin/page/page.html > /dev/null
	cd tests/chromium && TERCET_PAGE=$(abspath bin/page/page.html) $(GO) test -count=1 ./...

#  experiments: the runs of the README's table on real data in ../shared/data (about an hour on 2 cores)
experiments: build
	for c in mnist-c2f2 omniglot-cnn cifar10-resnet18; do $(BIN) train --config configs/$$c.yaml; done
	for r in mnist-c2f2 cifar10-resnet18 omniglot-cnn-seed-0 omniglot-cnn-seed-1 omniglot-cnn-seed-2; do $(BIN) eval --run runs/$$r; done
	$(BIN) attack --run runs/mnist-c2f2
	$(BIN) cluster --run runs/mnist-c2f2
	$(BIN) report --runs 'runs/*' --page runs/report.md

## study-NAME: a study's runs and tables; resumes after a stop (STEPS=..., JOBS=auto)
JOBS ?= auto
study-%: build
	$(BIN) study run $* $(STEPS) --jobs $(JOBS)

.PHONY: results-tables
#  results-tables: the tables of results/tables again from the documents kept in results (seconds)
results-tables: build
	scripts/results-tables.sh
	$(MAKE) --no-print-directory results-sums

.PHONY: results-sums
#  results-sums: the SHA-256 of every archive and table in results
results-sums:
	cd results && LC_ALL=C sha256sum *.zip tables/* >SHA256SUMS

.PHONY: noise-rates
#  noise-rates: calculators of noise compared with an independent program, rates of 20 draws; Markdown (seconds; SIMULATE=20 adds exact multicut optima: a minute)
noise-rates: build
	@TERCET=$(BIN) scripts/noise-rates.sh

## clean: remove bin/ and dist/
clean:
	rm -rf bin dist
