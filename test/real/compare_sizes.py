#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares the sizes of a plan with those that ONNX Runtime measures:

    compare_sizes.py PLAN_MODEL MODEL.onnx [NAME=N | INPUT:AXIS=N | INPUT:=N]...

Runs the model on noise with every result as an output, and holds the bytes of each against the table that
plan_model --values writes. The branch of an If that runs is put in its place first, so its results are compared,
too. Exit status 1 if a size differs or is missing."""
import csv
import os
import subprocess
import sys
import tempfile

import inputs
import numpy as np
import onnx
import onnxruntime as ort

program, path, *words = sys.argv[1:]
model, given, words_of_program = inputs.read(path, words)
graph = model.graph
options = ort.SessionOptions()
options.log_severity_level = 3
options.intra_op_num_threads = 1
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # no result is fused away


def run(names):
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return ort.InferenceSession(probe.SerializeToString(), options, ["CPUExecutionProvider"]).run(names, given)


def results_of(nodes):
    return [name for node in nodes for name in node.output if name]


main = results_of(graph.node)
inside = []
while choices := [i for i, n in enumerate(graph.node) if n.op_type == "If"]:
    at = choices[0]
    choice = graph.node[at]
    taken = "then_branch" if np.ravel(run([choice.input[0]])[0])[0] else "else_branch"
    branch = next(a.g for a in choice.attribute if a.name == taken)
    inside += results_of(branch.node)
    graph.initializer.extend(branch.initializer)
    copies = [onnx.helper.make_node("Identity", [o.name], [r]) for o, r in zip(branch.output, choice.output) if r]
    nodes = list(graph.node)
    nodes[at : at + 1] = list(branch.node) + copies
    del graph.node[:]
    graph.node.extend(nodes)

with tempfile.TemporaryDirectory() as folder:
    table = os.path.join(folder, "values.csv")
    call = [program, path, "--values", table] + words_of_program
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr}")
    with open(table, newline="") as rows:
        planned = {row["value"]: row["bytes"] for row in csv.DictReader(rows)}

wrong = 0
for name, result in zip(main + inside, run(main + inside)):
    if planned.get(name) != str(result.nbytes):
        wrong += 1
        print(f"{path}: {name} has {planned.get(name) or 'no'} bytes in the plan, and {result.nbytes} in a run")
figures = dict(line.split(": ", 1) for line in done.stdout.splitlines())
print(f"{os.path.basename(path):60} {len(main):6} {len(inside):6} {wrong:6}  {figures['memory']}")
sys.exit(wrong != 0)
