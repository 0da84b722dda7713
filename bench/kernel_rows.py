#!/usr/bin/env python3
"""Writes tables of single kernels and collectives from the measurements of ai-dynamo/aiconfigurator.

    pip download aiconfigurator-core==0.12.0 --no-deps && unzip aiconfigurator_core-*.whl
    bench/kernel_rows.py aiconfigurator_core/systems/data bench/measured

The package (Apache-2.0) has some hundred thousand kernels for each GPU. Of those that a training step knows, a hash of the
shape chooses a few dozen for each GPU, type and kind, so that nobody chooses; constants are fitted to none of them. Needs
pandas and pyarrow.
"""

import hashlib
import json
import pathlib
import sys

import pandas

PACKAGE = "ai-dynamo/aiconfigurator-core 0.12.0"
GPUS = {"a100": ("a100_sxm", "dgx-a100-80gb"), "h100": ("h100_sxm", "hgx-h100"), "h200": ("h200_sxm", "hgx-h200"),
        "b200": ("b200_sxm", "hgx-b200"), "gb200": ("gb200", "nvl72-gb200"), "gb300": ("gb300", "nvl72-gb300")}
PRODUCTS = {"a100": "trtllm/1.0.0"}  # by TensorRT-LLM through torch; of the others
NEWEST_PRODUCTS = "trtllm/1.3.0rc20"
ATTENTION = {"a100": ("sglang/0.5.10", "flash_attention", "flash-2"),
             "h100": ("vllm/0.24.0", "vllm_flash_attn_fa3", "flash-3"),
             "h200": ("vllm/0.24.0", "vllm_flash_attn_fa3", "flash-3")}
COLLECTIVES = {"a100": "nccl/2.27.3"}
NEWEST_COLLECTIVES = "nccl/2.29.2"
# The cluster file has the constants of NCCL in 2021, with which its published steps ran. Those of the package's release were
# fitted to every second size of its table.
LATER_NCCL = {"a100": {"base": "dgx-a100-80gb", "node_link": {
    "group_efficiency": {2: 0.6, 4: 0.707, 8: 0.753}, "latency": "0.7 us", "base_latency": "9.1 us",
    "half_bandwidth_size": "6.5 MB", "all_reduce_bandwidth": 1.17, "all_to_all_bandwidth": 1.03}}}
KINDS = {"all_gather": "all-gather", "all_reduce": "all-reduce", "reduce_scatter": "reduce-scatter",
         "alltoall": "all-to-all"}
LEAST_PRODUCT, LARGEST_PRODUCT = 1024, 32768
LEAST_ATTENTION = 1024
LONG_ENOUGH_MS = 0.2  # attentions above have times that launches do not matter to
LEAST_HEADS = 8  # a rank of a training has at least so many


def chosen(rows, columns, count):
    """So many of the rows, by a hash of these columns."""
    def rank(row):
        return hashlib.sha256(json.dumps([str(row[column]) for column in columns]).encode()).digest()

    rows = rows.drop_duplicates(subset=columns)
    return sorted((row for _, row in rows.iterrows()), key=rank)[:count]


def line(name, table, scenario, seconds, notes):
    return json.dumps({"row": name, "source": f"{PACKAGE} {table}", "scenario": scenario,
                       "measured": {"time_s": float(f"{seconds:.6g}")}, "not_stated": [], "notes": notes})


def read(data, folder, path):
    return pandas.read_parquet(data / folder / path)


def casts_by_size(data, folder, release):
    """Milliseconds of the cast of an input in 8 bits, by its rows and columns."""
    times = {}
    for name in ("computescale", "scale_matrix"):
        table = read(data, folder, f"quantize/{release}/{name}_perf.parquet")
        for _, row in table[table["quant_dtype"] == "fp8"].iterrows():
            times.setdefault((int(row["m"]), int(row["k"])), {})[name] = row["latency"]
    return {size: sum(both.values()) for size, both in times.items() if len(both) == 2}


def products(data, gpu):
    folder, cluster = GPUS[gpu]
    release = PRODUCTS.get(gpu, NEWEST_PRODUCTS)
    table = f"{folder}/gemm/{release}/gemm_perf.parquet"
    rows = pandas.read_parquet(data / table)
    rows = rows[rows["kernel_source"] == "torch_flow"]
    for side in ("m", "n", "k"):
        rows = rows[(rows[side] >= LEAST_PRODUCT) & (rows[side] <= LARGEST_PRODUCT)]
    for word, dtype, count in (("bfloat16", "bf16", 60), ("fp8", "fp8", 40)):
        of_type = rows[rows["gemm_dtype"] == word]
        if of_type.empty:
            continue
        casts = casts_by_size(data, folder, release) if dtype == "fp8" else {}
        if dtype == "fp8":
            of_type = of_type[[(m, k) in casts for m, k in zip(of_type["m"], of_type["k"])]]
        for row in chosen(of_type, ["m", "n", "k"], count):
            m, n, k = (int(row[side]) for side in ("m", "n", "k"))
            scenario = {"cluster": cluster, "kernel": "gemm", "dtype": dtype, "shape": {"m": m, "n": n, "k": k},
                        "measures": "burst"}
            seconds = (row["latency"] - casts.get((m, k), 0)) / 1e3
            notes = "the time of the cast of the input, in a table of its own, is subtracted" if dtype == "fp8" else ""
            yield line(f"{gpu} {dtype} {m} x {n} x {k}", table, scenario, seconds, notes)


def attentions(data, gpu):
    if gpu not in ATTENTION:
        return
    folder, cluster = GPUS[gpu]
    release, source, kernel = ATTENTION[gpu]
    table = f"{folder}/attention/{release}/context_attention_perf.parquet"
    rows = pandas.read_parquet(data / table)
    if "window_size" not in rows:
        rows["window_size"] = 0
    rows = rows[(rows["kernel_source"] == source) & (rows["attn_dtype"] == "bfloat16") &
                (rows["kv_cache_dtype"] == "bfloat16") & (rows["isl"] >= LEAST_ATTENTION) & (rows["num_heads"] >= LEAST_HEADS) &
                (rows["head_dim"] <= 128) & (rows["latency"] > LONG_ENOUGH_MS)]
    columns = ["batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "window_size"]
    for row in chosen(rows, columns, 60):
        batch, length, heads, kv_heads, width, window = (int(row[column]) for column in columns)
        shape = {"batch": batch, "seq_len": length, "head_num": heads, "kv_head_num": kv_heads or heads,
                 "qk_head_dim": width, "causal": True}
        if window > 0:
            shape["window"] = window
        scenario = {"cluster": cluster, "kernel": "attention_forward", "dtype": "bf16", "attention": kernel,
                    "shape": shape, "measures": "burst"}
        name = f"{gpu} {kernel} {batch} x {length}, {heads} heads of {width}" + (f", window {window}" if window else "") + \
            (f", {kv_heads} of keys" if kv_heads else "")
        yield line(name, table, scenario, row["latency"] / 1e3, "")


def collectives(data, gpu):
    folder, cluster = GPUS[gpu]
    table = f"{folder}/comm/{COLLECTIVES.get(gpu, NEWEST_COLLECTIVES)}/nccl_perf.parquet"
    rows = pandas.read_parquet(data / table)
    rows = rows[(rows["message_size"] >= 32768) & (rows["nccl_dtype"] == "half")]
    for row in chosen(rows, ["op_name", "num_gpus", "message_size"], 60):
        # Of an all-to-all nccl-tests count one member's buffer, and a table those of all.
        size = 2 * int(row["message_size"])
        members = int(row["num_gpus"])
        whole = size * members if row["op_name"] == "alltoall" else size
        scenario = {"cluster": LATER_NCCL.get(gpu, cluster), "gpus": members, "collective": KINDS[row["op_name"]], "bytes": whole}
        yield line(f"{gpu} {KINDS[row['op_name']]} x{members} {size >> 10} KiB", table, scenario,
                   row["latency"] / 1e3, "message_size of the package counts elements of two bytes")


def main():
    data, out = (pathlib.Path(argument) for argument in sys.argv[1:3])
    for name, rows_of in (("kernels_products", products), ("kernels_attention", attentions),
                          ("collectives_in_node", collectives)):
        lines = [row for gpu in GPUS for row in rows_of(data, gpu)]
        (out / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(lines)} rows")


if __name__ == "__main__":
    main()
