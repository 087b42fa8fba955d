#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares what run_network computes with what is known to be right:

    compare_outputs.py RUN_NETWORK MODEL.onnx [NAME=N | INPUT:AXIS=N | INPUT:=N]...     with ONNX Runtime, on noise
    compare_outputs.py RUN_NETWORK --backend LEAST          with ONNX's backend tests; at least so many have to be equal

Exit status 1 if an output deviates by more than a thousandth of its largest element, or if too few tests run."""
import collections
import glob
import os
import subprocess
import sys
import tempfile

import inputs
import onnx
import onnxruntime as ort

program, what, *words = sys.argv[1:]


def run(model, data, *more):
    call = [program, model, "--data", data, *more]
    return subprocess.run(call, capture_output=True, text=True, timeout=600)


def compare_model():
    model, given, _ = inputs.read(what, words)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    right = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, given)
    stored = {t.name for t in model.graph.initializer}
    with tempfile.TemporaryDirectory() as folder:
        names = [v.name for v in model.graph.input if v.name not in stored]
        tensors = [("input", i, given[name]) for i, name in enumerate(names)]
        tensors += [("output", i, result) for i, result in enumerate(right)]
        for kind, i, tensor in tensors:
            with open(os.path.join(folder, f"{kind}_{i}.pb"), "wb") as to:
                to.write(onnx.numpy_helper.from_array(tensor).SerializeToString())
        done = run(what, folder, "--limit", str(8 << 30))
    print(f"{os.path.basename(what):60} {'equal' if done.returncode == 0 else done.stderr.strip()}")
    return done.returncode


def compare_backend_tests():
    base = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    found = collections.Counter()
    for model in sorted(glob.glob(os.path.join(base, "*", "*", "model.onnx"))):
        sets = sorted(glob.glob(os.path.join(os.path.dirname(model), "test_data_set_*")))
        runs = [run(model, data) for data in sets]
        verdict = max((r.returncode for r in runs), default=2)
        found[verdict] += 1
        if verdict not in (0, 2, 3):
            print(model, *(r.stderr for r in runs))
    print(f"backend tests: {found[0]} of {sum(found.values())} equal, {found[1]} different, "
          f"{found[3]} lack an operator, {found[2]} refused otherwise")
    return found[0] < int(words[0]) or found[1] != 0


sys.exit(bool(compare_backend_tests() if what == "--backend" else compare_model()))
