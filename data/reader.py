"""Reads the files of rnnsearch with h5py and NumPy alone. The layouts are in include/rnnsearch/corpus/format.h,
src/train/checkpoint.cpp and src/train/log.schema.json. Digests are not verified: `rnnsearch inspect FILE` does that.

    import reader                                        # with this folder in PYTHONPATH
    words, pairs = reader.corpus("corpus.h5")            # pairs: (source ids, target ids); words["target"][id] is text
    config, words, parameters = reader.checkpoint("runs/first/checkpoints/update-00001000.h5")
    W_a = parameters["attention/W_a"]                    # [n, n'], the paper's letters; s @ W_a: rows from the left
    losses = {r["update"]: r["loss_per_word"] for r in reader.log("runs/first/log.jsonl") if r["event"] == "update"}
"""
import json

import h5py
import numpy as np


def texts(group):  # a list of texts: bytes, and the offset of each
    data, offset = group["bytes"][:].tobytes(), group["offset"][:]
    return [data[begin:end].decode() for begin, end in zip(offset, offset[1:])]


def words_of(file):
    return {side: texts(file["vocabulary"][side]) for side in ("source", "target")}


def corpus(path, group="train"):  # or "dev", "test/NAME"
    with h5py.File(path, "r") as file:
        sides = [np.split(file[group][side + "_words"][:], file[group][side + "_offset"][1:-1])
                 for side in ("source", "target")]
        return words_of(file), list(zip(*sides))


def checkpoint(path):  # the parameters that translate uses: the moving average, if the training keeps one
    parameters = {}
    with h5py.File(path, "r") as file:
        file["average" if "average" in file else "parameters"].visititems(
            lambda name, item: parameters.update({name: item[()]} if isinstance(item, h5py.Dataset) else {}))
        return {name: value.decode() for name, value in file["config"].attrs.items()}, words_of(file), parameters


def log(path):  # without lines that a kill cut short, and without updates that were done again after a resume
    records = []
    for line in open(path, encoding="utf-8"):
        if not line.endswith("}\n"):
            continue
        record = json.loads(line)
        if record["event"] in ("resume", "update"):
            keep = record["update"] + (record["event"] == "resume")
            skip = ("skip", record["update"])  # an update that is skipped has a line of its own before that of the update
            records = [r for r in records if r["update"] < keep or (r["event"], r["update"]) == skip]
        records.append(record)
    return records
