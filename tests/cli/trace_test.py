"""debubble trace: profiles of other frameworks, and our own traces through their formats."""

import gzip
import json
import pathlib
import pickle
import re
import sqlite3
import subprocess
import sys
import unittest

import kineto_to_nsight
from program import BAD_INPUT, DONE, PROGRAM, ProgramTest, debubble

FIGURES = ["step_time_s", "makespan_s", "bubble", "span_bubble", "idle_by_cause_s", "ranks"]


class Trace(ProgramTest):
    def figures(self, *files):
        out = self.folder / "figures.json"
        self.done("trace", *files, "--json", out)
        return json.loads(out.read_text())

    def kineto_of(self, *simulate):
        """A simulated trace, and the folder of its files as torch.profiler would write them."""
        trace = self.folder / "simulated.trace.json"
        self.done("simulate", *simulate, "--trace", trace)
        folder = self.folder / "kineto"
        self.done("trace", trace, "--kineto", folder)
        return trace, folder


class ThroughKineto(Trace):
    def test_a_trace_has_the_same_figures_to_the_nanosecond(self):
        for scenario in (["two-rank-gpt"], ["gpt2-xl-zb-v"], ["gpt2-xl-interleaved-1f1b"],
                         ["gpt2-xl-dualpipe"], ["a40-fsdp-7b"]):
            trace, folder = self.kineto_of(*scenario)
            ours, theirs = self.figures(trace), self.figures(folder)
            for key in FIGURES:
                if key == "step_time_s":
                    continue  # of the steady state: only our own header has it
                self.assertEqual(ours[key], theirs[key], (scenario, key))
            for file in folder.iterdir():
                file.unlink()

    def test_a_prediction_lies_beside_it_without_error(self):
        _, folder = self.kineto_of("two-rank-gpt")
        out = self.folder / "beside.json"
        text = self.done("trace", folder, "--scenario", "two-rank-gpt", "--json", out).stdout
        self.assertIn("order: what was executed is the program", text)
        comparison = json.loads(out.read_text())["comparison"]
        self.assertEqual(comparison["step_time_error"], 0)
        self.assertEqual(comparison["replayed_step_time_error"], 0)
        self.assertEqual(comparison["order_violations"], [])

    def test_another_plan_is_told_from_it_in_sentences(self):
        _, folder = self.kineto_of("two-rank-gpt")
        text = self.done("trace", folder, "--scenario", "two-rank-gpt", "--set",
                         "schedule=gpipe").stdout
        self.assertRegex(text, r"is NOT the program:\n.*rank 0 ran its computes in another order")

    def test_compare_opens_a_folder_of_them(self):
        trace, folder = self.kineto_of("two-rank-gpt")
        out = self.folder / "errors.json"
        self.done("compare", trace, folder, "--json", out)
        self.assertEqual(json.loads(out.read_text())["step_time_error"], 0)

    def test_out_is_a_trace_that_compare_opens(self):
        trace, folder = self.kineto_of("two-rank-gpt")
        out = self.folder / "executed.trace.json"
        self.done("trace", folder, "--scenario", "two-rank-gpt", "--out", out)
        self.done("compare", trace, out)

    def test_a_slow_rank_could_be_as_fast_as_the_others(self):
        _, folder = self.kineto_of("two-rank-gpt")
        out = self.folder / "what-if.json"
        self.done("trace", folder, "--as-fast-as-others", 1, "--json", out)
        found = json.loads(out.read_text())["as_fast_as_others"]
        self.assertEqual(found["ranks"], [1])
        self.assertLess(found["step_time_s"], found["replayed_step_time_s"])
        self.ends(debubble("trace", folder, "--as-fast-as-others", 7), BAD_INPUT,
                  says="there is no rank 7")


class ThroughNsight(Trace):
    def setUp(self):
        super().setUp()
        self.trace, folder = self.kineto_of("two-rank-gpt")
        self.ranks = sorted(folder.glob("rank-*.json"))
        self.database = self.folder / "run.sqlite"

    def test_a_trace_has_the_same_figures(self):
        kineto_to_nsight.write(self.database, self.ranks)
        ours, theirs = self.figures(self.trace), self.figures(self.database)
        for key in FIGURES[1:]:
            self.assertEqual(ours[key], theirs[key], key)

    def test_each_table_may_be_missing(self):
        for table in kineto_to_nsight.TABLES:
            kineto_to_nsight.write(self.database, self.ranks, without=[table])
            result = debubble("trace", self.database, "--json", self.folder / "out.json")
            if table == "CUPTI_ACTIVITY_KIND_KERNEL":
                self.ends(result, BAD_INPUT, says="it has no kernel (CUPTI_ACTIVITY_KIND_KERNEL)")
                continue
            self.ends(result, DONE)
            found = json.loads((self.folder / "out.json").read_text())
            self.assertEqual(len(found["files"]), 2, table)
            names = {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "StringIds"}
            self.assertEqual(found["bubble"] is None, table in names, table)

    def test_a_missing_column_is_named(self):
        columns = {"CUPTI_ACTIVITY_KIND_KERNEL":
                   "start INTEGER, end INTEGER, deviceId INTEGER, correlationId INTEGER"}
        kineto_to_nsight.write(self.database, self.ranks, columns=columns)
        self.ends(debubble("trace", self.database), BAD_INPUT,
                  says="its table CUPTI_ACTIVITY_KIND_KERNEL has no column streamId")

    def test_a_damaged_database_is_refused(self):
        kineto_to_nsight.write(self.database, self.ranks)
        whole = self.database.read_bytes()
        self.database.write_bytes(whole[:5000] + bytes(len(whole) - 5000))
        self.ends(debubble("trace", self.database), BAD_INPUT, says="run.sqlite")
        self.database.write_bytes(whole[:100])
        self.ends(debubble("trace", self.database), BAD_INPUT, says="run.sqlite")

    def test_another_database_is_refused(self):
        with sqlite3.connect(self.database) as other:
            other.execute("CREATE TABLE people (name TEXT)")
        self.ends(debubble("trace", self.database), BAD_INPUT, says="it has no kernel")


class FromTrace(Trace):
    def setUp(self):
        super().setUp()
        if not pathlib.Path(PROGRAM).with_name("debubble-exec").exists():
            self.skipTest("built without debubble-exec")

    def step(self, *arguments):
        out = self.folder / "step.json"
        self.done("simulate", *arguments, "--json", out)
        return json.loads(out.read_text())["step_time_s"]

    def calibrated(self, scenario, *files):
        cluster = self.folder / "cluster.yaml"
        text = self.done("calibrate", "--from-trace", *files, "--scenario", scenario, "--out",
                         cluster).stdout
        self.assertIn("step of the trace", text)
        return f"cluster={cluster}"


class Calibrated(FromTrace):
    def test_a_prediction_by_its_own_trace_is_the_step_again(self):
        _, folder = self.kineto_of("two-rank-gpt", "--set", "cluster.gpu.fp32_flops=90 GFLOP/s")
        expected = self.step("two-rank-gpt", "--set", "cluster.gpu.fp32_flops=90 GFLOP/s")
        cluster = self.calibrated("two-rank-gpt", folder)
        found = self.step("two-rank-gpt", "--set", cluster)
        self.assertLess(abs(found / expected - 1), 0.005)

    def test_another_cut_of_the_job_is_predicted_by_it_too(self):
        slow = ["--set", "cluster.gpu.fp32_flops=90 GFLOP/s"]
        _, folder = self.kineto_of("two-rank-gpt", *slow)
        cluster = self.calibrated("two-rank-gpt", folder)
        for other in (["schedule=gpipe"], ["training.global_batch=16"]):
            expected = self.step("two-rank-gpt", *slow, "--set", *other)
            found = self.step("two-rank-gpt", "--set", cluster, "--set", *other)
            self.assertLess(abs(found / expected - 1), 0.03, other)

    def error_beside_a_run(self):
        """A run, its trace through Kineto, a cluster calibrated from it, and the prediction's error."""
        trace = self.folder / "run.trace.json"
        words = self.write("words.txt", "to see a world in a grain of sand " * 400)
        self.done("run", "two-rank-gpt", "--steps", "5", "--resume", "never", "--trace", trace,
                  "--set", f"training.data={{text: {words}}}", cwd=self.folder)
        folder = self.folder / "executed"
        self.done("trace", trace, "--kineto", folder)
        ours, theirs = self.figures(trace), self.figures(folder)
        for key in FIGURES[1:]:
            self.assertEqual(ours[key], theirs[key], key)
        cluster = self.calibrated("two-rank-gpt", folder)
        out = self.folder / "beside.json"
        self.done("trace", folder, "--scenario", "two-rank-gpt", "--set", cluster, "--json", out)
        return abs(json.loads(out.read_text())["comparison"]["step_time_error"])

    def test_a_run_of_the_executor_is_predicted_within_3_percent(self):
        # Where others use the machine, the five steps of a run differ: one undisturbed run is enough.
        errors = []
        while len(errors) < 5 and (not errors or min(errors) >= 0.03):
            errors.append(self.error_beside_a_run())
        self.assertLess(min(errors), 0.03, errors)

    def test_a_trace_of_another_plan_is_refused(self):
        _, folder = self.kineto_of("two-rank-gpt")
        self.ends(debubble("calibrate", "--from-trace", folder, "--scenario", "two-rank-gpt", "--set",
                           "schedule=zb-h1", "--out", self.folder / "c.yaml"), BAD_INPUT,
                  says="the trace holds no pass like 0I0")

    def test_tables_of_nccl_go_into_a_cluster_that_stays_otherwise(self):
        rows = "".join(f"{size} {size // 4} float sum -1 {34 + size * 1.75 / 231e3:.2f} 1.0 1.0 0\n"
                       for size in (8192, 1 << 20, 1 << 24, 1 << 28, 1 << 30))
        ranks = "".join(f"# Rank {r} Group 0 Pid 1 on node1 device {r}\n" for r in range(8))
        table = self.write("nccl.txt", f"# Collective test starting: all_reduce_perf\n{ranks}"
                           "# size count type redop root time algbw busbw #wrong\n" + rows)
        cluster = self.folder / "cluster.yaml"
        text = self.done("calibrate", "--nccl-tests", table, "--scenario", "gpt3-175b", "--out",
                         cluster).stdout
        self.assertIn("all_reduce over 8 ranks: 34.0 us + bytes / 132.0 GB/s", text)
        self.assertIn("kind: all_reduce", cluster.read_text())
        plain = self.step("gpt3-175b")
        found = self.step("gpt3-175b", "--set", f"cluster={cluster}")
        self.assertLess(abs(found / plain - 1), 0.2)
        self.assertNotEqual(found, plain)
        self.ends(debubble("calibrate", "--nccl-tests", self.write("bad.txt", "1 2 3\n"),
                           "--scenario", "gpt3-175b", "--out", cluster), BAD_INPUT, says="bad.txt:1")


def operator_of(line):
    """The operator of PyTorch that runs a kernel of `simulate --kernels`: name, sizes, strides, values."""
    shape, kernel = line["shape"], line["kernel"]
    if kernel == "gemm":
        m, n, k, b = (shape[key] for key in "mnkb")
        lead = [b] if b > 1 else []
        a_strides = [1, m] if shape["layout"] == "NT" else [k, 1]
        b_strides = [1, k] if shape["layout"] == "TN" else [n, 1]
        sizes = [lead + [m, k], lead + [k, n]]
        strides = [[m * k] * len(lead) + a_strides, [k * n] * len(lead) + b_strides]
        if not shape["accumulate"]:
            return ("aten::bmm" if lead else "aten::mm"), sizes, strides, ["", ""]
        return ("aten::baddbmm" if lead else "aten::addmm"), [lead + [m, n], *sizes, [], []], [
            [m * n] * len(lead) + [n, 1], *strides, [], []], ["", "", "", "1", "1"]
    tokens = [shape["batch"], shape["seq_len"], shape["head_num"], shape["qk_head_dim"]]
    keys = [shape["batch"], shape["keys"], shape["kv_head_num"], shape["qk_head_dim"]]
    values = [*keys[:3], shape["v_head_dim"]]
    window = str(shape["window"] - 1) if shape["window"] else ""
    if kernel == "attention_forward":
        sizes = [tokens, keys, values] + [[]] * 10
        said = [""] * 8 + [str(shape["causal"]), "False", "", window, "0" if window else ""]
        return "aten::_flash_attention_forward", sizes, [[]] * 13, said
    sizes = [tokens, tokens, keys, values] + [[]] * 13
    said = [""] * 11 + [str(shape["causal"]), "", "", "", window, "0" if window else ""]
    return "aten::_flash_attention_backward", sizes, [[]] * 17, said


class RecordedShapes(FromTrace):
    """Profiles of torch.profiler with record_shapes=True, made of the kernels of a plan."""

    SCENARIO = "gpt2-xl-1f1b"

    def profile(self, name, factor, runs=3):
        """A profile whose products and attentions take so many times what is predicted."""
        lines = self.folder / "kernels.jsonl"
        self.done("simulate", self.SCENARIO, "--kernels", lines)
        events, number = [], 0
        for line in map(json.loads, lines.read_text().splitlines()):
            if line["kernel"] == "memory":
                continue
            op, sizes, strides, values = operator_of(line)
            kernel = "flash_bwd_kernel" if "backward" in op else "flash_fwd" if "flash" in op else "nvjet_tst"
            for _ in range(runs):
                number += 1
                args = {"External id": number, "Input Dims": sizes, "Input Strides": strides,
                        "Input type": ["c10::BFloat16" if size else "Scalar" for size in sizes],
                        "Concrete Inputs": values}
                events.append({"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": 100 * number,
                               "dur": 50, "args": args})
                events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 1000 * number,
                               "dur": round(1e6 * factor * line["predicted_s"], 3),
                               "args": {"External id": number, "correlation": number}})
        text = json.dumps({"schemaVersion": 1, "deviceProperties": [{"name": "NVIDIA A100"}], "traceEvents": events})
        file = self.folder / name
        file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return file

    def test_a_table_from_a_profile_changes_the_prediction(self):
        plain = self.step(self.SCENARIO)
        for name, factor in (("same.json", 1), ("twice.json.gz", 2)):
            table = self.folder / f"{name}.jsonl"
            said = self.done("calibrate", "--from-trace", self.profile(name, factor), "--kernels-out", table).stdout
            self.assertIn("100.0 % of the time of all kernels of products and attentions", said)
            lines = [json.loads(line) for line in table.read_text().splitlines()]
            self.assertEqual({line["measures"] for line in lines}, {"sustained"})
            self.assertLessEqual({line["count"] % 3 for line in lines}, {0})
            self.assertLessEqual({line["shape"].get("layout") for line in lines}, {None, "TN", "NN", "NT"})
            found = self.step(self.SCENARIO, "--set", f"cluster.gpu.kernels={table}") / plain
            low, high = (0.99, 1.01) if factor == 1 else (1.5, 2)
            self.assertGreater(found, low, name)
            self.assertLess(found, high, name)

    def test_the_clusters_file_names_the_table_from_its_own_folder(self):
        _, run = self.kineto_of(self.SCENARIO)
        for file in run.iterdir():  # each rank's first pass becomes one product, which is then far too slow
            text = json.loads(file.read_text())
            launch = next(event for event in text["traceEvents"] if event["name"] == "cudaLaunchKernel")
            text["traceEvents"].append(
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": launch["tid"], "ts": launch["ts"],
                 "dur": launch["dur"], "args": {"Input Dims": [[4096, 1600], [1600, 4800]],
                                                "Input type": ["c10::BFloat16", "c10::BFloat16"]}})
            file.write_text(json.dumps(text))
        cluster, table = self.folder / "clusters" / "ours.yaml", self.folder / "tables" / "k.jsonl"
        cluster.parent.mkdir()
        table.parent.mkdir()
        said = self.done("calibrate", "--from-trace", run, "--scenario", self.SCENARIO, "--out", cluster,
                         "--kernels-out", table).stdout
        self.assertIn("step of the trace", said)
        self.assertIn("measured kernels: ", said)
        self.assertIn('kernels: "../tables/k.jsonl"', cluster.read_text())
        # What was measured whole goes first; other sizes are priced by the table.
        same = self.step(self.SCENARIO, "--set", f"cluster={cluster}") / self.step(self.SCENARIO)
        self.assertLess(abs(same - 1), 0.02)
        other = ["--set", "training.seq_length=512"]
        slower = self.step(self.SCENARIO, "--set", f"cluster={cluster}", *other) / self.step(self.SCENARIO, *other)
        self.assertGreater(slower, 2)

    def test_a_file_without_shapes_is_refused_and_nothing_is_written(self):
        _, run = self.kineto_of(self.SCENARIO)
        self.ends(debubble("calibrate", "--from-trace", run, "--scenario", self.SCENARIO, "--out",
                           self.folder / "c.yaml", "--kernels-out", self.folder / "k.jsonl"), BAD_INPUT,
                  says="record it with torch.profiler.profile(")
        self.assertFalse((self.folder / "c.yaml").exists())
        self.assertFalse((self.folder / "k.jsonl").exists())

    def test_kernels_of_a_users_cluster_stay_in_what_is_calibrated(self):
        table = self.folder / "tables" / "k.jsonl"
        table.parent.mkdir()
        self.done("calibrate", "--from-trace", self.profile("twice.json", 2), "--kernels-out", table)
        _, run = self.kineto_of(self.SCENARIO, "--set", f"cluster.gpu.kernels={table}")
        cluster = self.folder / "clusters" / "ours.yaml"
        cluster.parent.mkdir()
        self.done("calibrate", "--from-trace", run, "--scenario", self.SCENARIO, "--set",
                  f"cluster.gpu.kernels={table}", "--out", cluster)
        self.assertIn('kernels: "../tables/k.jsonl"', cluster.read_text())
        expected = self.step(self.SCENARIO, "--set", f"cluster.gpu.kernels={table}")
        self.assertLess(abs(self.step(self.SCENARIO, "--set", f"cluster={cluster}") / expected - 1), 0.01)
        # Other sizes than those of the profile are priced by the table.
        other = ["--set", "training.seq_length=512"]
        expected = self.step(self.SCENARIO, "--set", f"cluster.gpu.kernels={table}", *other)
        found = self.step(self.SCENARIO, "--set", f"cluster={cluster}", *other)
        self.assertLess(abs(found / expected - 1), 0.1)

    def test_mistakes_get_a_sentence(self):
        table = ["--kernels-out", self.folder / "k.jsonl"]
        own, run = self.kineto_of("two-rank-gpt")
        broken = self.write("broken.json", '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", '
                            '"ts": 1, "dur": 2, "args": {"Input Dims": [[8, -1]]}}]}')
        for options, says in [
            (["--from-trace", run, *table], "the profile has no operators; record it with"),
            (["--from-trace", own, *table], "it is no profile of torch.profiler"),
            (["--from-trace", broken, *table], "a size of an operator's input is not a whole number from 0 on (at byte 17)"),
            (["--from-trace", self.folder / "none.json", *table], "none.json"),
            (table, "--kernels-out needs --from-trace"),
            (["--nccl-tests", broken, *table], "--kernels-out needs --from-trace"),
            (["--from-trace", run, "--kernels-out", self.folder], "is a folder; --kernels-out names a file"),
            (["--from-trace", run], "--out is required"),
        ]:
            with self.subTest(options):
                self.ends(debubble("calibrate", *options), BAD_INPUT, says=says)
                self.assertFalse((self.folder / "k.jsonl").exists())

    def test_a_table_replaces_no_profile(self):
        profile = self.profile("a.json", 1)
        before = profile.read_bytes()
        self.ends(debubble("calibrate", "--from-trace", profile, "--kernels-out", profile), BAD_INPUT,
                  says="--kernels-out")
        self.assertEqual(profile.read_bytes(), before)


class PyTorch(Trace):
    """torch.distributed.pipelining on two processes of this machine."""

    def profile(self, schedule, *options, name="profile"):
        folder = self.folder / name
        script = pathlib.Path(__file__).with_name("pytorch_pipeline.py")
        result = subprocess.run([sys.executable, script, folder, "--schedule", schedule,
                                 *options], capture_output=True, text=True, timeout=600)
        if result.returncode == 77:
            self.skipTest(result.stdout.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        return folder

    def test_is_predicted_by_the_figures_of_its_own_trace(self):
        """Nothing is fitted to the step, so that others' load shows: the middle of three counts."""
        if not pathlib.Path(PROGRAM).with_name("debubble-exec").exists():
            self.skipTest("built without debubble-exec")
        errors = []
        for run in range(3):
            folder = self.profile("1F1B", name=f"profile-{run}")
            cluster = self.folder / "cluster.yaml"
            text = self.done("calibrate", "--from-trace", folder, "--scenario", "two-rank-gpt",
                             "--out", cluster).stdout
            self.assertIn("framework.point_to_point_blocks=whole-backward", text)
            errors.append(abs(float(re.search(r"\(([+-][0-9.]+) %\)", text)[1])))
            self.beside(folder, cluster)
        self.assertLess(sorted(errors)[1], 3, errors)

    def beside(self, folder, cluster):
        """The order is that of the plan, and with its waits the program takes as long."""
        out = self.folder / "beside.json"
        self.done("trace", folder, "--scenario", "two-rank-gpt", "--set", f"cluster={cluster}",
                  "--set", "framework.point_to_point_blocks=whole-backward", "--json", out)
        found = json.loads(out.read_text())
        self.assertEqual(found["order"], "1f1b")
        self.assertEqual(found["confidence"], 1)
        self.assertEqual(found["comparison"]["order_violations"], [])

    def test_has_memory_over_time_where_it_was_recorded(self):
        folder, out = self.profile("1F1B", "--memory"), self.folder / "out.trace.json"
        text = self.done("trace", folder, "--out", out, "--svg", self.folder / "picture.svg",
                         "--json", self.folder / "figures.json").stdout
        trace = json.loads(out.read_text())
        peaks = trace["debubble"]["peaks"]
        self.assertEqual(len(peaks), 2)
        # PyTorch counts a host's memory from when its profiler began: of 3.2 M parameters a stage
        # not these, but their gradients of fp32, and activations.
        for peak in peaks:
            self.assertGreater(sum(peak["held"].values()), 4 * 3.1e6)
            self.assertLess(sum(peak["held"].values()), 10 * 4 * 3.2e6)
        self.assertIn("memory over the whole trace, from its first action", text)
        memory = json.loads((self.folder / "figures.json").read_text())["memory"]
        for rank, peak in zip(memory, peaks):
            self.assertEqual(rank["peak_bytes"], sum(peak["held"].values()))
            self.assertEqual(round(1e9 * rank["at_s"]), peak["at_ns"])
        self.assertIn("live", (self.folder / "picture.svg").read_text())
        without = self.profile("1F1B", name="without")
        self.done("trace", without, "--out", out)
        self.assertEqual(json.loads(out.read_text())["debubble"]["peaks"], [])

    def test_lies_beside_our_own_run_of_the_same_plan(self):
        folder, own = self.profile("1F1B"), self.folder / "own.trace.json"
        words = self.write("words.txt", "to see a world in a grain of sand " * 400)
        self.done("run", "two-rank-gpt", "--steps", "5", "--resume", "never", "--trace", own,
                  "--set", "framework.point_to_point_blocks=whole-backward",
                  "--set", f"training.data={{text: {words}}}", cwd=self.folder)
        out = self.folder / "errors.json"
        self.done("compare", own, folder, "--json", out)
        kinds = {kind["name"]: kind for kind in json.loads(out.read_text())["kinds"]}
        for kind in ("F", "B", "SEND", "RECV"):
            self.assertEqual(kinds[kind]["count"], 16, kind)


class MemorySnapshot(Trace):
    def test_is_the_planned_memory_as_pytorch_writes_it(self):
        out, figures = self.folder / "memory.pickle", self.folder / "figures.json"
        self.done("simulate", "two-rank-gpt", "--trace", out, "--json", figures)
        snapshot = pickle.loads(out.read_bytes())
        self.assertEqual(snapshot["segments"], [])
        ranks = json.loads(figures.read_text())["ranks"]
        self.assertEqual(len(snapshot["device_traces"]), len(ranks))
        for events, rank in zip(snapshot["device_traces"], ranks):
            held, live, peak = 0, {}, 0
            for event in events:
                if event["action"] == "alloc":
                    self.assertNotIn(event["addr"], live)
                    live[event["addr"]] = event["size"]
                    held += event["size"]
                elif event["action"] == "free_completed":
                    self.assertEqual(live.pop(event["addr"]), event["size"])
                    held -= event["size"]
                peak = max(peak, held)
            self.assertEqual([e["time_us"] for e in events], sorted(e["time_us"] for e in events))
            self.assertLess(abs(peak / rank["peak_memory_bytes"] - 1), 0.02)
            names = {event["frames"][0]["name"] for event in events}
            self.assertLessEqual({"parameters", "gradients", "optimizer", "activations"}, names)


class BadInput(Trace):
    def test_names_the_file_and_the_byte(self):
        cut = self.write("cut.json", '{"traceEvents": [{"ph": "X", "name": "k')
        self.ends(debubble("trace", cut), BAD_INPUT, says="cut.json: error: the text ends inside")
        self.ends(debubble("trace", self.folder / "absent.json"), BAD_INPUT, says="no such file")
        self.ends(debubble("trace", self.folder), BAD_INPUT)
        self.ends(debubble("trace", self.write("a.json", "[" * 1000)), BAD_INPUT,
                  says="nested too deeply")

    def test_needs_a_trace_to_write_one(self):
        empty = self.write("empty.json", '{"schemaVersion": 1, "traceEvents": []}')
        self.ends(debubble("trace", empty), DONE)
        self.ends(debubble("trace", empty, "--out", self.folder / "out.json"), BAD_INPUT,
                  says="no passes were found")
        self.assertFalse((self.folder / "out.json").exists())

    def test_sets_keys_of_a_scenario_only(self):
        empty = self.write("empty.json", '{"schemaVersion": 1, "traceEvents": []}')
        self.ends(debubble("trace", empty, "--set", "schedule=gpipe"), BAD_INPUT,
                  says="add --scenario")

    def test_overwrites_nothing_that_it_read(self):
        _, folder = self.kineto_of("two-rank-gpt")
        rank = folder / "rank-0.json"
        self.ends(debubble("trace", folder, "--out", rank), BAD_INPUT)


if __name__ == "__main__":
    unittest.main()
