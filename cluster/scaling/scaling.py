#!/usr/bin/env python3
"""How a training scales beyond one machine: an analytic model and simulations of the same cases, from measured inputs.

  scaling.py measure --rnnsearch PROGRAM --tool PROGRAM --output measured.json
  scaling.py predict --measured measured.json [--simulator PROGRAM --simulate-up-to RANKS]
  scaling.py shards  --measured measured.json [--simulator PROGRAM --simulate-up-to RANKS]
  scaling.py verify  --simulator PROGRAM
  scaling.py check   --rnnsearch PROGRAM --measured measured.json --simulator PROGRAM

README.md says what the numbers mean; run.sh builds the programs and calls this one.
"""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fail(sentence):
    sys.exit(f"scaling: {sentence}")


def constant(path, name):
    """A number read from the engine's source, so that the model follows the engine."""
    found = re.search(rf"\b{name} = (?:std::size_t\{{1\}} << (\d+)|(\d+))[;)]", (ROOT / path).read_text())
    if not found:
        fail(f"{path} does not define {name} as a number; adapt scaling.py")
    return 1 << int(found[1]) if found[1] else int(found[2])


BLOCK = constant("src/comm/progress_thread.h", "kBlock")  # floats
WIDEST_LINE = constant("src/comm/exchange.h", "int widest")


# ----------------------------------------------------------------------------------------------------------- the model


def touched(vocabulary, words):
    """Expected number of rows that `words` words touch, if the k-th most frequent word has probability ~ 1 / k, as in
    the benchmark's batches (src/corpus/synthetic_batches.cpp)."""
    if math.isinf(words):
        return vocabulary
    total = math.log(vocabulary + 1)
    return sum(1 - (1 - math.log1p(1 / k) / total) ** words for k in range(1, vocabulary + 1))


def rows_of(configuration, part):
    """Rows of the embedding table whose gradient this part is; 0: it is no table's."""
    return int(configuration["target-words" if part["table"] else "source-words"]) if part["table"] >= 0 else 0


def parts_of(configuration, gradient_parts, words, sparse=True, seconds_per_value=0.0):
    """[(seconds until ready, floats)] from the benchmark's gradient_parts; an embedding table counts with the rows that
    `words` words of its side touch, or with all rows. seconds_per_value: of copying such rows together, which delays
    all that follows."""
    width = int(configuration["embedding"])
    parts, copying = [], 0.0
    for part in gradient_parts:
        floats = part["elements"]
        if rows := rows_of(configuration, part):
            floats = (round(touched(rows, words)) if sparse else rows) * width
            copying += floats * seconds_per_value
        parts.append((part["seconds"] + copying, floats))
    return parts


# -------------------------------------------------------------------------------------------------------- the scenario


@dataclasses.dataclass
class Network:
    name: str
    bandwidth: float  # bytes per second of a node in each direction
    latency: float    # seconds from one process to another
    message: float    # seconds of the progress thread for each message


# MPI gets 94% of a link's bandwidth, the usual share without headers.
NETWORKS = {"100 Gb/s": Network("100 Gb/s", 0.94 * 100e9 / 8, 1.5e-6, 0.5e-6),
            "10 Gb/s": Network("10 Gb/s", 0.94 * 10e9 / 8, 20e-6, 2e-6)}


@dataclasses.dataclass
class Case:
    ranks: int
    parts: list         # [(seconds until ready, floats)]
    compute: float
    optimiser: float
    network: Network
    value: float        # seconds of the progress thread for each value received
    byte: float = 0.0   # seconds of the progress thread for each byte that MPI copies between ranks of a host
    ranks_of_host: int = 1
    dealt_out: bool = False  # ranks are dealt out to the hosts in turn, so that the engine cannot add within hosts first
    overlap: bool = True
    shards: int = 0     # of the global batch, if sums are those of --reproducible-shards
    sharded: bool = False  # each rank updates its share of the weights
    bits: int = 60000
    spread: float = 0.0
    slow_node: float = 1.0  # one rank's computing takes so many times as long
    updates: int = 2
    cores: int = 2      # cores for the two threads of a rank
    one_host: bool = False
    topology: str = "fat tree"
    seed: int = 1

    def paces(self):
        draw = random.Random(self.seed)
        paces = [[max(0.5, 1 + self.spread * draw.gauss(0, 1)) for _ in range(self.ranks)] for _ in range(self.updates)]
        for pace in paces:
            pace[self.ranks // 2] *= self.slow_node
        return paces

    def blocks(self):
        """[(seconds until begun, floats)]"""
        cut = []
        for ready, floats in self.parts:
            begun = ready if self.overlap else self.compute
            while floats > 0:
                cut.append((begun, min(BLOCK, floats)))
                floats -= BLOCK
        return cut


@dataclasses.dataclass
class Line:
    """A dimension of the grid of ranks: what a rank sends in it, of a block of one value, in both phases of an all-reduce."""
    width: int
    within_host: bool  # the line is a host's ranks, which send float32
    values: float      # sent, and as many received
    off_host: float    # of these, sent to other hosts


def grid(case):
    """The dimensions, as in src/comm/exchange.cpp."""
    of_host = 1 if case.dealt_out else case.ranks_of_host
    widths = [of_host] if 1 < of_host < case.ranks else []
    hosts = case.ranks // math.prod(widths)
    shorter = 1
    if hosts > WIDEST_LINE:
        shorter = max(d for d in range(1, math.isqrt(hosts) + 1) if hosts % d == 0)
    longer = hosts // shorter
    if shorter > 1 and shorter.bit_count() == 1 < longer.bit_count():
        shorter, longer = longer, shorter
    count = case.ranks // case.ranks_of_host
    host = lambda rank: rank % count if case.dealt_out else rank // case.ranks_of_host
    lines, stride = [], 1
    for width in widths + [width for width in (longer, shorter) if width > 1]:
        message = 2 / (stride * width)  # before this dimension a rank holds 1 / stride of the block
        others = sum(host(stride * i) != host(0) for i in range(1, width))
        lines.append(Line(width, not lines and bool(widths), message * (width - 1), message * others))
        stride *= width
    return lines


def analytic(case):
    """Seconds of an update. All-reduces are a pipeline of two stages: the link of a host (alpha-beta), which its ranks share, and the
    progress thread (LogGP's o, additions, and copies between ranks of a host). Each stage takes one block after the other, and the slower
    one sets the pace; the last block adds the latency of its steps. An all-reduce begins when the slowest rank is ready."""
    n, net = case.ranks, case.network
    lines = grid(case)
    messages = sum(2 * 2 * (line.width - 1) for line in lines)  # sent and received, in both phases of an all-reduce
    wire_value = thread_value = 0.0  # seconds for each value of a block
    for line in lines:
        wire_value += case.ranks_of_host * line.off_host * 4 / net.bandwidth
        thread_value += line.values * case.value + (line.values - line.off_host) * 4 * case.byte
    small = 2 * math.ceil(math.log2(n)) * (net.latency + net.message) if n > 1 else 0
    total = 0.0
    for pace in case.paces():
        slowest = max(pace)
        free = finished = 0.0
        for begun, floats in case.blocks() if n > 1 else []:
            wire = floats * wire_value
            thread = messages * net.message + floats * thread_value
            if case.sharded:  # only the first phase; the weights are sent back below
                wire, thread = wire / 2, thread / 2
            start = max(begun * slowest, free)
            free = start + max(wire, thread)
            finished = start + wire + thread + 2 * len(lines) * net.latency
        seconds = max(case.compute * slowest, finished) + small
        if case.sharded and n > 1:
            weights = sum(floats for _, floats in case.blocks())
            seconds += case.optimiser / n + weights * wire_value / 2
        else:
            seconds += case.optimiser
        total += seconds
    return total / case.updates


# --------------------------------------------------------------------------------------------------------- SimGrid

LEAF = 32  # nodes on a switch of the lower level of a fat tree
FEW = 64  # with more ranks, simulations are less fine
GROUP = 128  # nodes of a group of a dragonfly, 4 on each of its routers
TOPOLOGIES = ("fat tree", "fat tree 2:1", "dragonfly")


def cluster(case):
    """(topology, parameters, links of most paths) of SimGrid's <cluster>."""
    n = case.ranks // case.ranks_of_host
    if case.topology == "dragonfly":
        groups = max(1, n // GROUP)
        routers = n // groups // 4
        if n != 4 * routers * groups:
            fail(f"{n} hosts fill no whole number of groups of {GROUP} nodes")
        # Between groups half as many links as nodes: enough for half of the nodes to send to other groups at full speed.
        between = max(1, GROUP // 2 // (groups - 1)) if groups > 1 else 1
        return "DRAGONFLY", f"{groups},{between};1,1;{routers},1;4", 4
    if n <= LEAF:
        return "FAT_TREE", f"1;{n};1;1", 2
    if n % LEAF:
        fail(f"{n} hosts are no whole number of switches of {LEAF} nodes")
    return "FAT_TREE", f"2;{LEAF},{n // LEAF};1,{LEAF // (2 if case.topology.endswith('2:1') else 1)};1,1", 4


def platform(case, scale):
    """A platform file. Fat trees have one switch up to 32 nodes, beyond it two levels, of full bisection or with half as many
    links between switches (2:1). The routers of a group of a dragonfly are all linked to one another."""
    head = ('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1">\n')
    # A message between processes of one host costs only its copy, which the progress thread is charged with.
    if case.one_host:
        return head + (f'<zone id="world" routing="Full">\n<host id="n0" speed="1Gf" core="{case.cores}"/>\n'
                       f'<link id="memory" bandwidth="1e15Bps" latency="{case.network.latency}s" '
                       'sharing_policy="FATPIPE"/>\n<route src="n0" dst="n0"><link_ctn id="memory"/></route>\n'
                       '</zone>\n</platform>\n')
    topology, parameters, links = cluster(case)
    return head + (f'<cluster id="nodes" prefix="n" suffix="" radical="0-{case.ranks // case.ranks_of_host - 1}" speed="1Gf" '
                   f'core="{case.cores * case.ranks_of_host}" '
                   f'bw="{case.network.bandwidth / scale}Bps" lat="{case.network.latency / links}s" '
                   f'loopback_bw="1e15Bps" loopback_lat="0s" topology="{topology}" '
                   f'topo_parameters="{parameters}" sharing_policy="SPLITDUPLEX"/>\n</platform>\n')


def scenario(case, scale, check=False):
    lines = [f"ranks {case.ranks}", f"updates {case.updates}", f"scale {scale}", f"overlap {int(case.overlap)}",
             f"compute {case.compute:.9g}", f"optimiser {case.optimiser:.9g}", f"bits {case.bits}",
             f"message {case.network.message}", f"byte {case.byte * scale:.6g}", f"value {case.value * scale:.6g}",
             f"streams {16 if case.ranks <= FEW else 2}",
             f"shards {case.shards}", f"ranks_of_host {case.ranks_of_host}", f"dealt_out {int(case.dealt_out)}",
             f"check {int(check)}"]
    lines += [f"part {ready:.9g} {int(floats)}" for ready, floats in case.parts]
    lines += ["pace " + " ".join(f"{factor:.6f}" for factor in pace) for pace in case.paces()]
    return "\n".join(lines) + "\n"


def simulate(case, simulator, scale=None, check=False):
    """Runs the simulator; returns the seconds of an update and the rest of its output."""
    scale = scale or (1 if case.ranks <= 2 else 64)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "platform.xml").write_text(platform(case, scale))
        (folder / "scenario").write_text(scenario(case, scale, check))
        settings = {"network/model": "CM02", "network/crosstraffic": "no", "contexts/stack-size": "256"}
        if case.ranks > FEW:  # events that are less than 10 us apart are one, which saves nine tenths of the work
            settings["surf/precision"] = "1e-5"
        command = [pathlib.Path(simulator).resolve(), "platform.xml", "scenario",
                   *(f"--cfg={name}:{value}" for name, value in settings.items()), "--log=root.thres:critical"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = re.search(r"^seconds (\S+)", done.stdout, re.M)
    if done.returncode or not found:
        fail(f"the simulation of {case.ranks} ranks ended with {done.returncode}: {(done.stderr + done.stdout)[-600:]}")
    return float(found[1]), done.stdout


# --------------------------------------------------------------------------------------------------------- measuring

SLICES = (80, 40, 20, 10, 5)  # pairs per rank


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def mpirun(ranks):
    return ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"]


def benchmark_command(program, options, updates):
    return [program, "benchmark", *options, "--threads", "1", "--oversubscribe", "--json", "-", "--updates", str(updates),
            "--untimed-updates", "2", "--machine", "false"]


def benchmark(program, options, updates, ranks=1):
    command = benchmark_command(program, options, updates)
    if ranks > 1:
        command = mpirun(ranks) + command
    return json.loads(run(command))


def measure(arguments):
    slices = {}
    for pairs in SLICES:
        options = ["--preset", "rnnsearch-50", "--batch-sentences", str(pairs)]
        result = benchmark(arguments.rnnsearch, options, 6)
        # The fastest update, because other programs can only make one slower.
        seconds = result["seconds"]["minimum"]
        factor = seconds / result["seconds"]["mean"]
        slices[pairs] = {"seconds": seconds, "gflop": result["gflop"],
                         "optimiser": factor * result["phase_seconds"]["optimiser"],
                         "gradient_parts": [{**part, "seconds": factor * part["seconds"]}
                                            for part in result["gradient_parts"]],
                         "load_average": result["load_average"][0]}
        print(f"[scaling] {pairs} pairs: {seconds:.2f} seconds an update", file=sys.stderr)
    tries = [json.loads(run(mpirun(2) + [arguments.tool])) for _ in range(5)]
    # The best of each, because other programs can only make a measurement worse.
    network = {name: (max if name == "bandwidth" else min)(one[name] for one in tries) for name in tries[0]}
    sizes = ("embedding", "state", "alignment", "maxout", "readout-rank", "source-words", "target-words", "source-length",
             "target-length", "optimizer")
    measured = {"what": "RNNsearch-50, one thread, pairs of 25 and 25 words",
                "instruction_set": result["instruction_set"],
                "configuration": {name: result["configuration"][name] for name in sizes},
                "parameters": result["parameters"], "slices": slices, "messages": network,
                "load_average": os.getloadavg()[0]}
    short = lambda value: (float(f"{value:.4g}") if isinstance(value, float) else
                           {name: short(one) for name, one in value.items()} if isinstance(value, dict) else
                           [short(one) for one in value] if isinstance(value, list) else value)
    pathlib.Path(arguments.output).write_text(json.dumps(short(measured), indent=1) + "\n")


# --------------------------------------------------------------------------------------------------------- predicting

# The assumed node: 32 cores of 80 GFLOP/s (measured with AVX2 and float32) at three quarters efficiency;
# Adadelta moves 7 floats per weight (gradient, weight, two averages; all but the first are also written) at 100 GB/s.
NODE = {"name": "32 cores, assumed", "gflop_per_second": 32 * 80 * 0.75, "bytes_per_second": 100e9,
        "bytes_per_weight": 28}
GLOBAL_BATCH = 5120  # pairs, strong scaling
# Standard deviation of a rank's computing time within an update: from the slices' costs (README.md), and from nodes.
SPREAD = {"slices": 0.0053, "nodes": 0.005}


def updated(measured, rows_with_gradient):
    """The number of weights that an update changes: all but the rows of the embeddings that have no gradient."""
    configuration = measured["configuration"]
    parts = next(iter(measured["slices"].values()))["gradient_parts"]
    tables = [rows for part in parts if (rows := rows_of(configuration, part))]
    return measured["parameters"] - int(configuration["embedding"]) * sum(
        rows - rows_with_gradient(rows) for rows in tables)


@dataclasses.dataclass
class Node:
    """A kind of rank: gives the seconds of an update of any number of pairs, from the measured slices."""
    measured: dict
    compute_speed: float = 1.0
    optimiser_speed: float = 1.0

    @staticmethod
    def assumed(measured):
        node, largest = Node(measured), measured["slices"]["80"]
        seconds = largest["gflop"] / NODE["gflop_per_second"]
        return Node(measured, largest["gradient_parts"][-1]["seconds"] / seconds,
                    NODE["bytes_per_second"] / node.bytes_per_second())

    def slice(self, pairs):
        """(gradient_parts, optimiser) as measured with one thread, interpolated between the measured slices."""
        known = sorted((int(p), one) for p, one in self.measured["slices"].items())
        few, many = known[0], known[-1]
        for low, high in zip(known, known[1:]):
            if low[0] <= pairs <= high[0]:
                few, many = low, high
        # Above the largest slice, in proportion. Below the smallest, the same time, because all weights are still read.
        part = (min(max(pairs, few[0]), many[0]) - few[0]) / (many[0] - few[0])
        beyond = max(1, pairs / known[-1][0])
        mix = lambda a, b: (a + part * (b - a)) * beyond
        return ([{**one, "seconds": mix(one["seconds"], other["seconds"])}
                 for one, other in zip(few[1]["gradient_parts"], many[1]["gradient_parts"])], known[-1][1]["optimiser"])

    def computed(self, pairs):
        return [{**part, "seconds": part["seconds"] / self.compute_speed} for part in self.slice(pairs)[0]]

    def bytes_per_second(self):
        """Of memory, while it optimises."""
        pairs = max(int(p) for p in self.measured["slices"])
        weights = updated(self.measured, lambda rows: touched(rows, pairs * 25))
        return weights * NODE["bytes_per_weight"] / self.slice(pairs)[1] * self.optimiser_speed

    def optimiser(self, words):
        """Seconds to update the weights, if the ranks' batches have this number of words on each side."""
        weights = updated(self.measured, lambda rows: touched(rows, words))
        return weights * NODE["bytes_per_weight"] / self.bytes_per_second()

    def alone(self, pairs):
        return self.computed(pairs)[-1]["seconds"] + self.optimiser(pairs * 25)


# Bytes of memory traffic for each value of the rows that are summed (src/train/shard_sums.cpp). They are put together: those without a
# gradient of this rank are zeros (4 bytes written, and 4 read, because processors read what they write). A dense gradient is set to 0
# before each update, which takes as long.
BYTES_PER_ROW_VALUE = 8


def case_of(measured, node, ranks, pairs, network, sparse=True, words=None, **variant):
    """words: of the whole batch on each side; as many as `pairs` on every rank have, if it is not given."""
    configuration = measured["configuration"]
    words = words or ranks * pairs * 25
    seconds_per_value = BYTES_PER_ROW_VALUE / node.bytes_per_second()
    gradient_parts = node.computed(pairs)
    parts = parts_of(configuration, gradient_parts, words, sparse, seconds_per_value)
    optimiser = node.optimiser(words if sparse else math.inf)
    spread = math.hypot(SPREAD["slices"], SPREAD["nodes"])
    return Case(ranks, parts, parts[-1][0], optimiser, network, measured["messages"]["value"],
                byte=1 / measured["messages"]["bandwidth"],
                bits=int(configuration["source-words"]) + int(configuration["target-words"]),
                **{"spread": spread, "updates": 1 if ranks > 64 else 2, **variant})


VARIANTS = {  # name: (arguments of case_of, fields of the case)
    "blocking, dense": {"sparse": False, "overlap": False},
    "blocking": {"overlap": False},
    "overlap, dense": {"sparse": False},
    "overlap": {},
    "overlap, sharded": {"sharded": True},
    "overlap, dealt out": {"dealt_out": True},  # the same as overlap for one rank a host
}


def efficiency(measured, node, scaling, ranks, seconds):
    """Efficiency of an update that takes `seconds` on `ranks` ranks, relative to one rank."""
    if scaling == "weak":
        return node.alone(80) / seconds
    return node.alone(GLOBAL_BATCH) / (ranks * seconds)


def nodes_of(measured, arguments):
    """The kinds of rank that --node names, all without it, as (name, Node)."""
    nodes = {"one thread, measured": Node(measured), NODE["name"]: Node.assumed(measured)}
    return [(name, node) for name, node in nodes.items() if name.startswith(arguments.node or "")]


def networks_of(arguments):
    return [network for network in NETWORKS.values() if network.name.startswith(arguments.network or "")]


def predict(arguments):
    for ranks in arguments.ranks:
        if ranks % arguments.ranks_of_host or arguments.ranks_of_host.bit_count() > 1:
            fail(f"{ranks} ranks are not hosts of {arguments.ranks_of_host}; give a power of two that divides the ranks, because the "
                 "model counts one sum for the ranks of a host")
    measured = json.loads(pathlib.Path(arguments.measured).read_text())
    more = {"topology": arguments.topology, "slow_node": arguments.slow_node, "ranks_of_host": arguments.ranks_of_host}
    if arguments.spread is not None:
        more["spread"] = arguments.spread
    for name, node in nodes_of(measured, arguments):
        print(f"{name}: {node.alone(80):.3f} s an update of 80 pairs, of it optimiser {node.optimiser(80 * 25):.3f} s")
    worst = 0.0
    for node_name, node in nodes_of(measured, arguments):
        for scaling in ("weak", "strong"):
            if arguments.scaling and scaling != arguments.scaling:
                continue
            for network in networks_of(arguments):
                print(f"\n{scaling} scaling, {arguments.topology} of {network.name}, a rank is {node_name}: efficiency in %, "
                      "analytic / simulated (analytic - simulated seconds, % of an update)")
                print("| " + " | ".join(["", *(f"{ranks} ranks" for ranks in arguments.ranks)]) + " |")
                print("| " + " | ".join(["---"] * (1 + len(arguments.ranks))) + " |")
                for name, variant in VARIANTS.items():
                    if name not in (arguments.variant or VARIANTS) or variant.get("dealt_out") and arguments.ranks_of_host == 1:
                        continue
                    cells = []
                    for ranks in arguments.ranks:
                        pairs = 80 if scaling == "weak" else GLOBAL_BATCH / ranks
                        case = case_of(measured, node, ranks, pairs, network, **variant, **more)
                        seconds = analytic(case)
                        cell = f"{100 * efficiency(measured, node, scaling, ranks, seconds):.1f}"
                        if ranks <= arguments.simulate_up_to and not case.sharded:
                            simulated, _ = simulate(case, arguments.simulator)
                            off = 100 * (seconds / simulated - 1)
                            worst = max(worst, abs(off))
                            cell += f" / {100 * efficiency(measured, node, scaling, ranks, simulated):.1f} ({off:+.1f})"
                        cells.append(cell)
                    print("| " + " | ".join([name, *cells]) + " |", flush=True)
    if arguments.simulate_up_to:
        print(f"\nanalytic and simulated seconds of an update differ by {worst:.1f}% at most")


# ------------------------------------------------------------------------------------------------ reproducible shards

# `train --reproducible-shards`: memory accesses for each value when a shard's gradient is added to the sum of former shards: read both,
# write one, set the other to 0 (src/train/shard_sums.cpp). The rows of the embeddings are put together for each shard.
BYTES_PER_SUM = 16


def with_shards(measured, node, ranks, each, network):
    """The case of an update of 80 pairs a rank in `each` shards a rank. Only the last shard hides all-reduces; each rank sends as
    much as without shards."""
    case = case_of(measured, node, ranks, 80 / each, network, words=ranks * 80 * 25)
    sums = sum(floats for _, floats in case.parts) * BYTES_PER_SUM / node.bytes_per_second()
    before = (each - 1) * (case.compute + sums)
    case.parts = [(before + ready, floats) for ready, floats in case.parts]
    case.compute += before
    case.shards = ranks * each
    return case


def shards(arguments):
    measured = json.loads(pathlib.Path(arguments.measured).read_text())
    for name, node in nodes_of(measured, arguments):
        for network in networks_of(arguments):
            print(f"\nweak scaling, {network.name}, a rank is {name}: time of an update, without shards = 1; "
                  "by the analytic model / simulated")
            print("| " + " | ".join(["shards a rank", *(f"{ranks} ranks" for ranks in arguments.ranks)]) + " |")
            print("| " + " | ".join(["---"] * (1 + len(arguments.ranks))) + " |")
            without = {ranks: case_of(measured, node, ranks, 80, network) for ranks in arguments.ranks}
            simulated = {ranks: simulate(case, arguments.simulator)[0] for ranks, case in without.items()
                         if ranks <= arguments.simulate_up_to}
            for each in (1, 2, 4, 8, 16):
                cells = []
                for ranks in arguments.ranks:
                    case = with_shards(measured, node, ranks, each, network)
                    cell = f"{analytic(case) / analytic(without[ranks]):.2f}"
                    if ranks in simulated:
                        cell += f" / {simulate(case, arguments.simulator)[0] / simulated[ranks]:.2f}"
                    cells.append(cell)
                print("| " + " | ".join([f"{each} of {80 // each} pairs", *cells]) + " |", flush=True)


# ------------------------------------------------------------------------------------------------- against real updates

# Small enough that all-reduces are a large part of an update.
CHECKED = ["--embedding", "256", "--state", "512", "--alignment", "512", "--maxout", "256", "--readout-rank", "0",
           "--source-words", "8000", "--target-words", "8000"]
CHECKED_PAIRS = 4  # pairs per rank


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def alone_at_once(program, options, processes):
    """The same updates in independent processes at the same time, which share the machine but no gradient."""
    command = benchmark_command(program, options, 10)
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for _ in range(processes)]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        fail(f"{' '.join(command)} failed")
    return [json.loads(output) for output in outputs]


def check(arguments):
    measured = json.loads(pathlib.Path(arguments.measured).read_text())
    messages = measured["messages"]
    cores = min(2, os.cpu_count())
    network = Network("one host", 1 / 1e-15, messages["latency"], messages["latency"])
    pairs = lambda count: CHECKED + ["--batch-sentences", str(count * arguments.pairs)]
    real, single = {}, {}
    for _ in range(arguments.rounds):  # in turn, so that other programs disturb all of them alike
        for ranks in (2, 4):
            single.setdefault(ranks, []).extend(alone_at_once(arguments.rnnsearch, pairs(1), ranks))
            for overlap in ("yes", "no"):
                result = benchmark(arguments.rnnsearch, pairs(ranks) + ["--overlap", overlap], 10, ranks)
                real.setdefault((ranks, overlap), []).append(result["seconds"]["median"])
    print(f"load average {os.getloadavg()[0]:.1f}; medians of {arguments.rounds} runs of 10 updates")
    print("| ranks on two cores | overlap | as many processes s | measured s | simulated s | efficiency measured | "
          "simulated |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (ranks, overlap), seconds in real.items():
        # Medians: the fastest update of processes that do not wait for one another is one during which the others had
        # the memory least, and ranks, which wait, have no such update.
        alone = median([one["seconds"]["median"] for one in single[ranks]])
        turns = max(1, ranks / cores)  # of the processes that share a core
        factors = [alone / turns / one["seconds"]["mean"] for one in single[ranks]]
        optimiser = median([f * one["phase_seconds"]["optimiser"] for f, one in zip(factors, single[ranks])])
        gradient_parts = [{**part, "seconds": median([f * one["gradient_parts"][i]["seconds"]
                                                      for f, one in zip(factors, single[ranks])])}
                          for i, part in enumerate(single[ranks][0]["gradient_parts"])]
        parts = parts_of(single[ranks][0]["configuration"], gradient_parts, ranks * arguments.pairs * 25)
        case = Case(ranks, parts, max(parts[-1][0], alone / turns - optimiser), optimiser, network, messages["value"],
                    byte=1 / messages["bandwidth"], overlap=overlap == "yes", cores=cores,
                    one_host=True)
        simulated, _ = simulate(case, arguments.simulator, scale=1)
        print(f"| {ranks} | {overlap} | {alone:.4f} | {median(seconds):.4f} | {simulated:.4f} | "
              f"{100 * alone / median(seconds):.1f}% | {100 * alone / simulated:.1f}% |")


# ------------------------------------------------------------------------------------------------------------- verifying


def verify(arguments):
    """Checks the simulator: every rank gets the same, correct sums; its times agree with the analytic model within 4%;
    overlap and a slower network change them in the right direction."""
    for ranks, shards, of_host in ((2, 0, 1), (3, 0, 1), (16, 0, 1), (16, 32, 1), (20, 0, 1), (16, 0, 4), (12, 24, 3), (20, 0, 2),
                                   (36, 0, 2), (36, 72, 2)):
        parts = [(0.001, 70001), (0.002, 33), (0.002, 4099)]
        case = Case(ranks, parts, 0.002, 0.001, NETWORKS["100 Gb/s"], 0, shards=shards, updates=2, ranks_of_host=of_host)
        _, output = simulate(case, arguments.simulator, scale=1, check=True)
        lines = re.findall(r"^check: .* same bits.*", output, re.M)
        if len(lines) != case.updates * ranks:
            fail(f"{ranks} ranks: {len(lines)} sums were checked, {case.updates * ranks} expected: {output}")
        print(f"{ranks} ranks, {of_host} on a host, {shards} shards: {lines[-1]}")
    parts = [(0.05, 9000000), (0.08, 5000000), (0.1, 6000000)]
    for ranks, of_host in ((2, 1), (4, 1), (16, 1), (16, 4)):
        times = {}
        for name, network in NETWORKS.items():
            for overlap in (True, False):
                case = Case(ranks, parts, 0.1, 0.01, network, 1.8e-10, 2e-10, overlap=overlap, spread=0.02, updates=2, ranks_of_host=of_host)
                expected, (simulated, _) = analytic(case), simulate(case, arguments.simulator)
                times[name, overlap] = simulated
                off = 100 * (expected / simulated - 1)
                print(f"{ranks} ranks, {of_host} on a host, {name}, overlap {overlap}: simulated {simulated:.4f} s, "
                      f"analytic {expected:.4f} s ({off:+.1f}%)")
                if abs(off) > 4:
                    fail("the simulation and the analytic model differ by more than 4%")
        for (name, overlap), seconds in times.items():
            if not overlap and seconds <= times[name, True]:
                fail(f"{ranks} ranks, {name}: overlap gains nothing")
            if name == "10 Gb/s" and seconds <= times["100 Gb/s", overlap]:
                fail(f"{ranks} ranks: the slower network is as fast")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("--rnnsearch", required=True)
    one.add_argument("--tool", required=True)
    one.add_argument("--output", required=True)
    one = commands.add_parser("check")
    one.add_argument("--rnnsearch", required=True)
    one.add_argument("--measured", required=True)
    one.add_argument("--simulator", required=True)
    one.add_argument("--rounds", type=int, default=3)
    one.add_argument("--pairs", type=int, default=CHECKED_PAIRS, help="of each rank")
    one = commands.add_parser("verify")
    one.add_argument("--simulator", required=True)
    for name in ("predict", "shards"):
        one = commands.add_parser(name)
        one.add_argument("--measured", required=True)
        one.add_argument("--simulator")
        one.add_argument("--simulate-up-to", type=int, default=0, help="ranks; 0: none")
        one.add_argument("--ranks", type=int, nargs="+", default=[16, 64, 256, 1024])
        one.add_argument("--node")
        one.add_argument("--network")
        if name == "predict":
            one.add_argument("--scaling", choices=["weak", "strong"])
            one.add_argument("--variant", nargs="+", choices=list(VARIANTS))
            one.add_argument("--topology", choices=TOPOLOGIES, default=TOPOLOGIES[0])
            one.add_argument("--slow-node", type=float, default=1, help="its computing takes so many times as long")
            one.add_argument("--ranks-of-host", type=int, default=1, help="ranks that share the link of a host")
            one.add_argument("--spread", type=float, help="standard deviation of the pace of nodes")
    arguments = parser.parse_args()
    {"measure": measure, "check": check, "verify": verify, "predict": predict, "shards": shards}[arguments.command](arguments)


if __name__ == "__main__":
    main()
