#!/usr/bin/env python3
"""What training RNNsearch-50 as in the paper costs on 1, 4, 16 and 64 nodes: hours and node-hours, by the analytic model of scaling.py.

  rnnsearch benchmark --preset rnnsearch-50 --json node.json
  cluster/scaling/plan.py --benchmark node.json --network '100 Gb/s'
  cluster/scaling/plan.py --words-per-second 9000 --gigabits 25 --latency-us 3

README.md beside this file says what is assumed.
"""
import argparse
import dataclasses
import json
import math
import pathlib

import scaling

# Bahdanau, Cho and Bengio (2015): RNNsearch-50 took 2.88e5 updates and 111 hours (Table 2) of 80 sentences each (appendix B.2).
PAPER = {"updates": 288000, "pairs": 80, "hours": 111}
SPREAD = math.hypot(*scaling.SPREAD.values())  # of the pace of nodes

PLANS = {
    "strong": "Strong scaling: the paper's updates of 80 pairs, which all nodes share. Nothing about learning is assumed: "
              "every update is the paper's.",
    "weak, as many pairs": "Weak scaling, 80 pairs a node, and as many sentence pairs as the paper in all, so fewer updates. This "
                           "assumes that a pair teaches as much in a larger batch, which the paper does not show. It needs a recipe "
                           "for large batches: for example Adam with a warm-up and a learning rate raised with the batch (Goyal et "
                           "al. 2017, for images; Ott et al. 2018, for translation with Transformers). These hours are the least.",
    "weak, as many updates": "Weak scaling, 80 pairs a node, and as many updates as the paper, in which the nodes read more pairs. "
                             "This assumes that a larger batch saves no update at all. These hours are the most.",
}


def number(text):
    """A positive number of the command line."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value


def read(path):
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        scaling.fail(f"{path}: {error}; give the output of: rnnsearch benchmark --preset rnnsearch-50 --json FILE")


def slice_of(path, measured):
    """(pairs, slice) of an output of `rnnsearch benchmark --json`; of several numbers of threads the fastest run counts."""
    result = read(path)
    try:
        run = min(result.get("runs", [result]), key=lambda one: one["seconds"]["median"])
        if run["timed"] != "updates" or run["hosts"] != 1:
            scaling.fail(f"{path} has {run['timed']} on {run['hosts']} hosts; expected are updates on one host: rnnsearch "
                         "benchmark --preset rnnsearch-50 --json FILE")
        for name, value in measured["configuration"].items():
            found = run["configuration"][name]
            # The lengths of the pairs may be any, because their seconds are what was measured.
            if found != value and not name.endswith("-length"):
                scaling.fail(f"{path} has {name} = {found}, RNNsearch-50 has {value}; measure it: rnnsearch benchmark --preset "
                             "rnnsearch-50 --json FILE")
        factor = run["seconds"]["median"] / run["seconds"]["mean"]
        optimiser = factor * run["phase_seconds"]["optimiser"]
        parts = [{**part, "seconds": factor * part["seconds"]} for part in run["gradient_parts"]]
        # What a node computes before the optimiser, with sums between ranks of the node.
        parts[-1]["seconds"] = max(parts[-1]["seconds"], run["seconds"]["median"] - optimiser)
        return int(run["configuration"]["batch-sentences"]), {"gradient_parts": parts, "optimiser": optimiser}
    except (KeyError, IndexError, TypeError, AttributeError) as missing:
        scaling.fail(f"{path} is not from rnnsearch benchmark --json: {missing} is missing")


def scaled(measured, pairs, compute, optimiser_speed):
    """A node that takes these seconds to compute an update of this many pairs, and has the shape of the stored measurements: when
    parts of the gradient are known, and how much slower small batches are."""
    return scaling.Node(measured, scaling.Node(measured).computed(pairs)[-1]["seconds"] / compute, optimiser_speed)


def node_of(arguments, measured):
    """(node, the sentence that describes it)"""
    if arguments.benchmark:
        slices = dict(slice_of(path, measured) for path in arguments.benchmark)
        if len(slices) < len(arguments.benchmark):
            scaling.fail("two of the --benchmark files have the same batch-sentences; give one of each")
        if len(slices) > 1:
            batches = ", ".join(map(str, sorted(slices)))
            return scaling.Node({**measured, "slices": slices}), (f"The node was measured with batches of {batches} pairs; between "
                                                                  "these its time is interpolated.")
        (pairs, one), = slices.items()
        node = scaled(measured, pairs, one["gradient_parts"][-1]["seconds"],
                      scaling.Node(measured).slice(pairs)[1] / one["optimiser"])
        how = f"The node was measured with batches of {pairs} pairs."
    else:
        seconds = PAPER["pairs"] * arguments.words_per_pair / arguments.words_per_second
        weights = scaling.updated(measured, lambda rows: scaling.touched(rows, PAPER["pairs"] * 25))
        optimiser = weights * scaling.NODE["bytes_per_weight"] / (arguments.memory * 1e9)
        if optimiser >= seconds:
            scaling.fail(f"{arguments.words_per_second:g} words per second leave {seconds:.4f} s for an update of 80 pairs, of which the "
                         f"optimiser alone needs {optimiser:.4f} s; give a larger --memory or fewer words per second")
        node = scaled(measured, PAPER["pairs"], seconds - optimiser,
                      arguments.memory * 1e9 / scaling.Node(measured).bytes_per_second())
        how = (f"The node trains {arguments.words_per_second:g} target words per second in batches of 80 pairs of "
               f"{arguments.words_per_pair:g} target words; the optimiser's share follows from {arguments.memory:g} GB/s of memory.")
    return node, how + (" How much slower a small batch is on it, and when parts of the gradient are known, is taken from the stored "
                        "measurements of one thread.")


def seconds_of(measured, node, nodes, batch, network, spread):
    """Seconds of an update of `batch` pairs, of which the node with most has ceil(batch / nodes)."""
    most = math.ceil(batch / nodes)
    if nodes == 1:
        return node.alone(most)
    # Rows of the embeddings: those of the whole batch, which has fewer pairs than nodes * most.
    return scaling.analytic(scaling.case_of(measured, node, nodes, most, network, words=batch * 25, spread=spread))


def plan(measured, node, network, counts, spread):
    """{plan: rows}"""
    plans = {name: [] for name in PLANS}
    for name, rows in plans.items():
        for nodes in counts:
            batch = PAPER["pairs"] * (1 if name == "strong" else nodes)
            updates = PAPER["updates"] / (nodes if name == "weak, as many pairs" else 1)
            seconds = seconds_of(measured, node, nodes, batch, network, spread)
            hours = updates * seconds / 3600
            ideal = node.alone(PAPER["pairs"]) / (nodes if name == "strong" else 1)
            few, many = batch // nodes, math.ceil(batch / nodes)
            rows.append({"nodes": nodes, "batch": batch, "pairs_a_node": f"{few} or {many}" if few < many else str(many),
                         "updates": math.ceil(updates), "seconds_an_update": seconds, "hours": hours, "node_hours": nodes * hours,
                         "efficiency": ideal / seconds})
    return plans


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    machine = parser.add_mutually_exclusive_group(required=True)
    machine.add_argument("--benchmark", metavar="FILE", nargs="+", help="output of rnnsearch benchmark --preset rnnsearch-50 --json on one "
                         "node; several files with other --batch-sentences (80 20 5 2) replace the assumption about small batches")
    machine.add_argument("--words-per-second", type=number, metavar="W", help="target words that one node trains a second, 80 pairs a batch")
    parser.add_argument("--words-per-pair", type=number, default=25, metavar="N", help="target words of a pair with --words-per-second [25]")
    parser.add_argument("--memory", type=number, default=100, metavar="GB/s", help="memory bandwidth with --words-per-second [100]")
    parser.add_argument("--network", choices=list(scaling.NETWORKS), default="100 Gb/s", help="[100 Gb/s]")
    parser.add_argument("--gigabits", type=number, metavar="N", help="bandwidth of a node's link in Gb/s, in place of --network")
    parser.add_argument("--latency-us", type=number, metavar="N", help="microseconds from process to process, with --gigabits [2]")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 4, 16, 64], metavar="N", help="[1 4 16 64]")
    parser.add_argument("--spread", type=float, default=SPREAD, metavar="X",
                        help=f"standard deviation of the pace of nodes, relative to the mean [{SPREAD:.4f}]")
    parser.add_argument("--measured", metavar="FILE", default=scaling.ROOT / "cluster/scaling/measured.json",
                        help="stored measurements of RNNsearch-50 [cluster/scaling/measured.json]")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    arguments = parser.parse_args()
    if arguments.latency_us and not arguments.gigabits:
        parser.error("--latency-us belongs to --gigabits")
    if min(arguments.nodes) < 1:
        parser.error("--nodes must be at least 1")
    network = scaling.NETWORKS[arguments.network]
    if arguments.gigabits:  # MPI's share of the link, and the seconds of a message, as for the networks of scaling.py
        network = scaling.Network(f"{arguments.gigabits:g} Gb/s", 0.94 * arguments.gigabits * 1e9 / 8,
                                  (arguments.latency_us or 2) * 1e-6, 0.5e-6)
    measured = json.loads(pathlib.Path(arguments.measured).read_text())
    node, how = node_of(arguments, measured)
    plans = plan(measured, node, network, arguments.nodes, arguments.spread)
    if arguments.json:
        print(json.dumps({"paper": PAPER, "network": dataclasses.asdict(network), "node": how,
                          "plans": [{"name": name, "assumes": PLANS[name], "rows": rows} for name, rows in plans.items()]}, indent=1))
        return
    print(f"RNNsearch-50, 2.88e5 updates of 80 pairs (Bahdanau, Cho and Bengio 2015, Table 2: 111 hours on one GPU), {network.name}, "
          f"latency {1e6 * network.latency:g} us.\n{how} Validation, checkpoints and waiting for nodes are not counted.")
    for name, rows in plans.items():
        print(f"\n{PLANS[name]}\n\n| nodes | batch | pairs a node | updates | s an update | hours | node-hours | efficiency |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for row in rows:
            print(f"| {row['nodes']} | {row['batch']:,} | {row['pairs_a_node']} | {row['updates']:,} | {row['seconds_an_update']:.4f} | "
                  f"{row['hours']:.2f} | {row['node_hours']:.1f} | {100 * row['efficiency']:.1f}% |")


if __name__ == "__main__":
    main()
