"""Reads a journal of tercet tune --optuna with Optuna itself, compares it with the document of
tercet tune --json, and continues the study by two trials.

    tercet tune search.yaml --optuna search.journal --json > tuned.json
    python3 testdata/scripts/check_optuna.py search.journal tuned.json

Debian has python3-optuna 3.1. PYTHONPATH may name the source of another version.
"""

import json
import shutil
import sys
import tempfile

import optuna


def storage(path):
    if hasattr(optuna.storages, "journal"):
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
    return optuna.storages.JournalStorage(optuna.storages.JournalFileStorage(path))


def main(journal, document=None):
    copy = tempfile.mkdtemp() + "/copy.journal"
    shutil.copy(journal, copy)
    kept = storage(copy)
    name = optuna.study.get_all_study_summaries(kept)[0].study_name
    study = optuna.load_study(study_name=name, storage=kept)
    assert study.direction.name == "MAXIMIZE", study.direction
    for t in study.trials:
        print(t.number, t.state.name, t.value, t.params, t.intermediate_values, t.user_attrs)
    print("best:", study.best_trial.number, study.best_value)
    if document:
        doc = json.load(open(document))
        runs = {}
        for r in doc["runs"]:
            runs.setdefault(r["trial"], []).append(r)
        assert len(runs) == len(study.trials)
        for t in study.trials:
            last = runs[t.user_attrs["tercet.trial"]][-1]
            assert t.value == last.get("score"), (t.value, last)
            for key, value in t.params.items():
                want = [v for v in last["values"] if v.startswith(key + "=")][0].split("=", 1)[1]
                assert str(value) == want or value == type(value)(want), (key, value, want)
        finished = [t for t in study.trials if t.state.name == "COMPLETE"]
        assert max(finished, key=lambda t: t.value).value == study.best_value
        assert study.best_trial.user_attrs["tercet.trial"] == doc["best"]
    space = study.trials[0].distributions
    for _ in range(2):
        t = study.ask(space)
        study.tell(t, 0.5)
    assert all(space[k]._contains(space[k].to_internal_repr(v)) for k, v in study.trials[-1].params.items())
    print("continued to", len(study.trials), "trials with Optuna", optuna.__version__)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    main(*sys.argv[1:])
