"""Reads exports of runs with TensorBoard's and MLflow's own readers, and compares every number
with the runs' logs and results.

usage: check_trackers.py TERCET

Needs both installed, or their sources: TENSORBOARD names a checkout whose .proto files
protoc has compiled, MLFLOW a checkout. Of MLflow only the file store is imported.
"""

import csv
import glob
import importlib
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import types
from unittest import mock

os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
RUNS = {"a-0": ("contrastive", 0), "a-1": ("contrastive", 1), "b-0": ("triplet", 0)}
COMMON = "train.epochs=3 train.log_every=1 data.glyphs.classes=24 data.glyphs.per_class=8 data.glyphs.test_classes=10 model.width=4 batch.pairs=16"
KEYS = {"loss": "loss", "lr": "lr", "active": "active", "d_positive": "d_positive", "d_negative": "d_negative", "grad_norm": "grad_norm", "cosine": "cosine", "effective_rank": "effective_rank"}


def make(binary):
    def tercet(*words):
        subprocess.run([binary, *words, "-q"], check=True, stdout=subprocess.DEVNULL)

    for name, (loss, seed) in RUNS.items():
        sets = [f"name={name}", f"loss={loss}", f"seed={seed}"] + COMMON.split()
        tercet("train", os.path.join(os.path.dirname(__file__), "../../configs/demo.yaml"), *[w for s in sets for w in ("--set", s)])
        tercet("eval", "runs/" + name)
    tercet("cluster", "runs/a-0", "--method", "kmeans")
    tercet("export", "tensorboard", "runs", "--out", "boards", "--points", "20")
    tercet("export", "mlflow", "runs", "--out", "mlruns")
    tercet("export", "csv", "runs", "--out", "numbers.csv")


def logged(name):
    """{tag: [(step, value)]} of events.jsonl and eval.json."""
    out = {}
    for line in open(f"runs/{name}/events.jsonl"):
        e = json.loads(line)
        if e["event"] == "step":
            for tag, key in KEYS.items():
                if key in e:
                    out.setdefault("train/" + tag, []).append((e["step"], e[key]))
        if e["event"] == "epoch":
            out.setdefault("epoch/loss", []).append((e["step"], e["loss"]))
        if e["event"] == "eval":
            for key, v in e["metrics"].items():
                out.setdefault(f"{e['split']}/{key}", []).append((e["step"], v))
    results = json.load(open(f"runs/{name}/eval.json"))
    for key, v in {**results["retrieval"], **results["clustering"]}.items():
        out["result/" + key] = [(results["source"]["step"], v["value"] if isinstance(v, dict) else v)]
    return out


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, want {want}")


def single(v):
    return struct.unpack("f", struct.pack("f", v))[0]


def tensorboard():
    if "TENSORBOARD" in os.environ:
        sys.path.insert(0, os.environ["TENSORBOARD"])
        sys.modules["tensorboard.compat.notf"] = types.ModuleType("notf")  # no TensorFlow is needed
    from google.protobuf import text_format
    from tensorboard import context
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups, plugin_data_pb2
    from tensorboard.plugins.projector import projector_config_pb2
    from tensorboard.util import tensor_util

    board = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"scalars": 0, "images": 0, "histograms": 0})
    board.AddRunsFromDirectory("boards")
    board.Reload()
    same("runs", sorted(board.Runs()), sorted(RUNS))
    numbers = pictures = 0
    groups = {}
    for name, (loss, _) in RUNS.items():
        acc = board.GetAccumulator(name)
        kinds = {}
        for tag in acc.Tags()["tensors"]:
            kinds.setdefault(acc.SummaryMetadata(tag).plugin_data.plugin_name, set()).add(tag)
        for tag, want in logged(name).items():
            got = [(e.step, float(tensor_util.make_ndarray(e.tensor_proto))) for e in acc.Tensors(tag)]
            same(f"{name} {tag}", got, [(step, single(v)) for step, v in want])
            numbers += len(got)
        for tag in kinds["images"]:
            w, h, png = [x for e in acc.Tensors(tag) for x in e.tensor_proto.string_val]
            same(tag, png, open(f"runs/{name}/{tag}.png", "rb").read())
            same(tag, (int(w), int(h)), struct.unpack(">II", png[16:24]))
            pictures += 1
        same(f"figures of {name}", len(kinds["images"]), len(glob.glob(f"runs/{name}/figures/*.png")) - len(glob.glob(f"runs/{name}/figures/*.csv")))
        if loss == "contrastive":
            (e,) = acc.Tensors("result/distances of one class")
            bins = tensor_util.make_ndarray(e.tensor_proto)
            limits = json.load(open(f"runs/{name}/eval.json"))["pair_distances"]["same"]
            assert abs(max(b[1] for b in bins if b[2] > 0) / limits["p95"] - 1) < 1e-6, bins  # the reader keeps float32
            assert abs(sum(b[2] for b in bins) - 95) < 1e-4, bins
        start = plugin_data_pb2.HParamsPluginData.FromString(acc.SummaryMetadata("_hparams_/session_start_info").plugin_data.content).session_start_info
        same("loss.name", start.hparams["loss.name"].string_value, loss)
        groups.setdefault(start.group_name, []).append(name)

        folder = f"boards/{name}"
        config = text_format.Parse(open(f"{folder}/projector_config.pbtxt").read(), projector_config_pb2.ProjectorConfig())
        (e,) = config.embeddings
        rows = list(csv.reader(open(f"{folder}/{e.tensor_path}"), delimiter="\t"))
        points = len(open(f"{folder}/{e.metadata_path}").read().splitlines())
        same("points", len(rows), points)
        assert 10 <= points <= 20, points
        norms = [math.sqrt(sum(float(v) ** 2 for v in r)) for r in rows]
        assert max(abs(n - 1) for n in norms) < 1e-5, norms
        side, side2 = e.sprite.single_image_dim
        w, h = struct.unpack(">II", open(f"{folder}/{e.sprite.image_path}", "rb").read()[16:24])
        assert side == side2 and w % side == 0 and h % side == 0 and (w // side) * (h // side) >= points, (w, h, side)
    same("groups", sorted(groups.values()), [["a-0", "a-1"], ["b-0"]])
    # What the page "HParams" asks for.
    tb = base_plugin.TBContext(data_provider=data_provider.MultiplexerDataProvider(board, "boards"), multiplexer=board)
    request = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=10, aggregation_type=api_pb2.AGGREGATION_AVG, allowed_statuses=[1, 2, 3])
    answer = list_session_groups.Handler(context.RequestContext(), backend_context.Context(tb), "", request).run()
    same("sessions of groups", sorted(len(g.sessions) for g in answer.session_groups), [1, 2])
    pair = next(g for g in answer.session_groups if len(g.sessions) == 2)
    mean = {m.name.tag: m.value for m in pair.metric_values}["result/recall@1"]
    want = sum(single(logged(n)["result/recall@1"][0][1]) for n in ("a-0", "a-1")) / 2
    assert abs(mean - want) < 1e-7, (mean, want)
    print(f"TensorBoard {version('tensorboard')}: {numbers} numbers, {pictures} pictures, {len(groups)} groups of hyper-parameters and {len(RUNS)} projectors read")


def version(name):
    try:
        return importlib.import_module(name + ".version").VERSION
    except (ImportError, AttributeError):
        return ""


def file_store():
    """MLflow's module of the file store, and packages that it imports without need as mocks."""
    if "MLFLOW" in os.environ:
        package = types.ModuleType("mlflow")  # its own imports much else
        package.__path__ = [os.path.join(os.environ["MLFLOW"], "mlflow")]
        sys.modules["mlflow"] = package
    while True:
        try:
            return importlib.import_module("mlflow.store.tracking.file_store")
        except ModuleNotFoundError as e:
            if not e.name.startswith("opentelemetry") or e.name in sys.modules:
                raise
            sys.modules[e.name] = mock.MagicMock(__path__=[], __spec__=None)
            for name in [n for n in sys.modules if n.startswith("mlflow.")]:
                del sys.modules[name]


def mlflow():
    store = file_store()
    from mlflow.entities import ViewType

    s = store.FileStore("mlruns")
    (e,) = [e for e in (s.search_experiments() if hasattr(s, "search_experiments") else s.list_experiments()) if e.name == "tercet"]
    runs = {r.data.tags["mlflow.runName"]: r for r in s.search_runs([e.experiment_id], "", ViewType.ACTIVE_ONLY, max_results=100)}
    same("runs", sorted(runs), sorted(RUNS))
    numbers = 0
    for name, (loss, seed) in RUNS.items():
        r = runs[name]
        same("status", r.info.status, "FINISHED")
        same("parameters", (r.data.params["loss.name"], r.data.params["seed"], r.data.params["model.width"]), (loss, str(seed), "4"))
        for tag, want in logged(name).items():
            key = "".join(c if c.isalnum() or c in "_-. /" else "_" for c in tag.replace("@", "_at_"))
            got = [(m.step, m.value) for m in s.get_metric_history(r.info.run_id, key)]
            same(f"{name} {key}", got, want)
            numbers += len(got)
    (best,) = s.search_runs([e.experiment_id], "params.`loss.name` = 'triplet'", ViewType.ACTIVE_ONLY, max_results=100)
    same("search", best.data.tags["mlflow.runName"], "b-0")
    same("pictures", sorted(os.listdir(best.info.artifact_uri[len("file://"):] + "/figures")), sorted(os.path.basename(f) for f in figures("b-0")))
    print(f"MLflow {version('mlflow')}: {numbers} numbers of {len(runs)} runs read")


def figures(name):
    return [f for f in glob.glob(f"runs/{name}/figures/*.png") if not os.path.exists(f[:-3] + "csv")]


def table():
    rows = list(csv.DictReader(open("numbers.csv")))
    numbers = 0
    for name in RUNS:
        for tag, want in logged(name).items():
            same(f"{name} {tag}", [(int(r["step"]), float(r["value"])) for r in rows if (r["run"], r["tag"]) == (name, tag)], want)
            numbers += len(want)
    print(f"csv: {numbers} numbers read")


def main():
    binary = os.path.abspath(sys.argv[1])
    for name in ("TENSORBOARD", "MLFLOW"):
        if name in os.environ:
            os.environ[name] = os.path.abspath(os.environ[name])
    global __file__
    __file__ = os.path.abspath(__file__)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(binary)
        table()
        tensorboard()
        mlflow()


main()
