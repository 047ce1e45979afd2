"""A transformer of two small layers with random weights, and its answer written down plainly."""

import math

import numpy as np

from infra.model_files.conversion.transformer_graph import MAX_TOKENS, Shape

WIDTH, HEADS, LAYERS, WORDS = 64, 4, 2, 50


def shape(has_bias=False, is_first_taken=False):
    """Sizes of the transformer."""
    return Shape("tiny", LAYERS, HEADS, WIDTH, 1e-5, has_bias, is_first_taken)


def random_weights(seed=0):
    """Weights by the names of the graph."""
    random = np.random.default_rng(seed)

    def normal(*size):
        return random.normal(0, 0.2, size).astype(np.float32)

    weights = {"words": normal(WORDS, WIDTH), "positions": normal(MAX_TOKENS, WIDTH)}
    weights["distances"] = normal(HEADS, 2 * MAX_TOKENS - 1)
    owners = ["embedding"]
    for layer in range(LAYERS):
        owners += [f"layer{layer}_attention", f"layer{layer}"]
        for part in ("query", "key", "value", "attention_output"):
            weights[f"layer{layer}_{part}_weight"] = normal(WIDTH, WIDTH)
            weights[f"layer{layer}_{part}_bias"] = normal(WIDTH)
        for part, rows, columns in (("ffn_input", WIDTH, 256), ("ffn_output", 256, WIDTH)):
            weights[f"layer{layer}_{part}_weight"] = normal(rows, columns)
            weights[f"layer{layer}_{part}_bias"] = normal(columns)
    for owner in owners:
        weights |= {f"{owner}_scale": normal(WIDTH) + 1, f"{owner}_shift": normal(WIDTH)}
    return weights


def expected_vector(weights, ids, has_bias=False, is_first_taken=False):
    """Compute the encoder's answer in float64."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}

    def normalised(rows, name):
        centred = rows - rows.mean(-1, keepdims=True)
        rows = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return rows * weights[f"{name}_scale"] + weights[f"{name}_shift"]

    def dense(rows, name):
        return rows @ weights[f"{name}_weight"] + weights[f"{name}_bias"]

    states = normalised(weights["words"][ids] + weights["positions"][: len(ids)], "embedding")
    for number in range(LAYERS):
        name, size = f"layer{number}", WIDTH // HEADS
        query, key, value = (dense(states, f"{name}_{part}") for part in ("query", "key", "value"))
        mixed = np.zeros_like(states)
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            for i in range(len(ids)):
                scores = key[:, part] @ query[i, part] / math.sqrt(size)
                if has_bias:
                    places = np.arange(len(ids)) - i + MAX_TOKENS - 1
                    scores = scores + weights["distances"][head, places]
                shares = np.exp(scores - scores.max())
                mixed[i, part] = shares / shares.sum() @ value[:, part]
        states = normalised(dense(mixed, f"{name}_attention_output") + states, f"{name}_attention")
        inner = dense(states, f"{name}_ffn_input")
        inner *= (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        states = normalised(dense(inner, f"{name}_ffn_output") + states, name)
    mean = states[0] if is_first_taken else states.mean(0)
    return mean / np.linalg.norm(mean)
