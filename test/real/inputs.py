# SPDX-License-Identifier: BSL-1.0
"""A published model, and noise as its inputs."""
import numpy as np
import onnx


def read(path, words):
    """Takes NAME=N | INPUT:AXIS=N | INPUT:=N; returns the model, its inputs, and the options that say the same."""
    given = dict(w.rsplit("=", 1) for w in words)
    elements = {name[:-1]: int(n) for name, n in given.items() if name.endswith(":")}
    sizes = {name: int(n) for name, n in given.items() if not name.endswith(":")}
    model = onnx.load(path)
    stored = {t.name for t in model.graph.initializer}

    def noise(v):
        tensor = v.type.tensor_type
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = []
        for axis, d in enumerate(tensor.shape.dim):
            of_file = d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else 1
            shape.append(sizes.get(f"{v.name}:{axis}", sizes.get(d.dim_param, of_file) if d.dim_param else of_file))
        if v.name in elements:
            return np.full(shape, elements[v.name], kind)
        random = np.random.default_rng(1)
        noise = random.standard_normal(shape) if np.issubdtype(kind, np.floating) else random.integers(0, 2, shape)
        return noise.astype(kind)

    options = []
    for name, n in sizes.items():
        options += ["--dim", f"{name}={n}"]
    for name, n in elements.items():
        options += ["--value", f"{name}={n}"]
    return model, {v.name: noise(v) for v in model.graph.input if v.name not in stored}, options
