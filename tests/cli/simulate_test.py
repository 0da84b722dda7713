"""`debubble simulate`: the JSON's contract, its sums, files and exit codes."""

import csv
import json
import os
import pickle
import subprocess
import unittest

from program import BAD_INPUT, DONE, NO, PROGRAM, WORLD, ProgramTest, debubble

PLAN = """\
model: gpt2
cluster: dgx-a100-80gb
gpus: 4
parallel: {tensor: 1, pipeline: 2, data: auto}
schedule: 1f1b
training: {global_batch: 32, micro_batch: 2, seq_length: 1024, precision: bf16}
"""
KEYS = ["step_time_s", "tokens_per_s", "samples_per_s", "mfu", "mfu_causal", "hfu",
        "tflops_per_gpu", "bubble",
        "span_bubble", "makespan_s", "parameters", "replicas", "ranks", "fits", "scenario",
        "schedule_hash", "provenance"]
RANK_KEYS = ["rank", "stage_ids", "busy_s", "idle_s", "exposed_comm_s", "peak_memory_bytes",
             "peak_op", "memory"]
MEMORY_KEYS = ["parameters", "gradients", "optimizer", "activations", "buffers", "workspace"]


class SimulateTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.plan = self.write("plan.yaml", PLAN)

    def figures(self, *more, code=DONE):
        return json.loads(self.ends(debubble("simulate", self.plan, *more, "--json", "-"),
                                    code).stdout)


class Json(SimulateTest):
    def test_holds_the_keys_of_the_contract(self):
        got = self.figures()
        for key in KEYS:
            self.assertIn(key, got)
        for rank in got["ranks"]:
            for key in RANK_KEYS:
                self.assertIn(key, rank)
            self.assertEqual(sorted(rank["memory"]), sorted(MEMORY_KEYS))
        self.assertEqual([rank["rank"] for rank in got["ranks"]], [0, 1])
        self.assertEqual([rank["stage_ids"] for rank in got["ranks"]], [[0], [1]])
        self.assertEqual((got["parameters"], got["replicas"]), (124_439_808, 2))

    def test_memory_sums_to_the_peak(self):
        for plan in ([], ["--set", "schedule=zb-h1"], ["--set", "parallel.pipeline=4"]):
            for rank in self.figures(*plan)["ranks"]:
                with self.subTest(plan, rank=rank["rank"]):
                    self.assertEqual(sum(rank["memory"].values()), rank["peak_memory_bytes"])

    def test_memory_of_deepseek_v3_is_the_sum_by_hand(self):
        # docs/accuracy.md, "DeepSeek-V3's memory by hand"; widths are those of arXiv:2412.19437, section 4.2
        hidden, layers, tokens = 7168, 4, 4096
        latent = (hidden * 1536 + 1536 + 1536 * 128 * 192 + hidden * (512 + 64) + 512
                  + 512 * 128 * (128 + 128) + 128 * 128 * hidden)
        expert = 3 * hidden * 2048
        dense = layers * (2 * hidden + latent + 256 * hidden + expert)
        experts = layers * 256 // 64 * expert
        figures = json.loads(self.done("simulate", "deepseek-v3-bf16", "--json", "-").stdout)
        rank = figures["ranks"][7]
        held = rank["memory"]
        self.assertEqual(held["parameters"], 2 * (dense + experts))
        self.assertEqual(held["gradients"], 4 * (dense + experts))
        # 128 replicas share the dense state, and the 2 of each expert that of experts
        self.assertEqual(held["optimizer"], 12 * -(-dense // 128) + 12 * experts // 2)
        # Nine microbatches keep the inputs of four layers; one layer is made again.
        inputs = 9 * layers * 2 * tokens * hidden
        rows = 2 * 8 * tokens * hidden
        again = (201_356 * tokens             # latent attention, tests/models/build/latent_test.cpp
                 + 2 * 2 * tokens * hidden    # the stream after it, and its norm
                 + 2 * 3 * 2048 * 8 * tokens  # gate, value and their product, of eight experts
                 + 2 * 3 * 2048 * tokens      # the same of the shared expert
                 + 3 * rows)                  # rows sorted, out of the experts, and back
        self.assertLess(abs(held["activations"] - inputs - again), 0.03 * (inputs + again))

    def test_deepseek_v3_fits_by_the_types_of_its_report(self):
        plan = json.loads(self.done("simulate", "deepseek-v3", "--json", "-").stdout)
        self.assertTrue(plan["fits"])
        # 17 microbatches of four layers, each of 4,096 tokens and the bytes of a token that docs/jobs/plan-deepseek-v3.md
        # adds up; the rest is what one pair of a forward and a backward has beside them.
        kept = 17 * 4 * 4096 * 159_296
        held = plan["ranks"][7]["memory"]["activations"]
        self.assertGreater(held, kept)
        self.assertLess(held, 1.06 * kept)
        for key in ("activations", "param_gather"):
            wide = debubble("simulate", "deepseek-v3", "--set", f"training.precision.{key}=bf16", "--json", "-")
            self.assertFalse(json.loads(wide.stdout)["fits"], key)

    def test_speeds_follow_from_the_step_time(self):
        got = self.figures()
        self.assertAlmostEqual(got["samples_per_s"] * got["step_time_s"], 32, 9)
        self.assertAlmostEqual(got["tokens_per_s"] * got["step_time_s"], 32 * 1024, 6)
        self.assertGreaterEqual(got["hfu"], got["mfu"])
        self.assertLess(got["mfu"], 1)
        self.assertLessEqual(got["makespan_s"], got["step_time_s"])
        for rank in got["ranks"]:
            self.assertLessEqual(rank["busy_s"] + rank["exposed_comm_s"], got["step_time_s"])
            self.assertGreaterEqual(rank["idle_s"], -1e-9)

    def test_is_the_same_bytes_every_time(self):
        first, second = (self.done("simulate", self.plan, "--json", "-").stdout for _ in "12")
        self.assertEqual(first, second)

    def test_of_several_is_an_array(self):
        other = self.write("other.yaml", PLAN.replace("1f1b", "gpipe"))
        got = json.loads(self.done("simulate", self.plan, other, "--json", "-").stdout)
        self.assertEqual(got[0], self.figures())
        self.assertEqual(len(got), 2)
        self.assertNotEqual(got[0]["schedule_hash"], got[1]["schedule_hash"])

    def test_follows_set(self):
        self.assertEqual(len(self.figures("--set", "parallel.pipeline=4")["ranks"]), 4)
        two = self.figures("--set", "parallel.pipeline=1", "--set", "training.micro_batch=4")
        self.assertEqual(len(two["ranks"]), 1)

class Anchors(SimulateTest):
    """Pickles that Python wrote; what they hold at most is known by the order of their events."""

    def snapshot(self, protocol):
        gib = 2**30
        block = {"stream": 0, "time_us": 0, "frames": [{"filename": "a.py", "line": 1, "name": "f"}]}
        events = [{"action": action, "addr": 1, "size": size * gib, **block}
                  for action, size in [("segment_alloc", 12), ("alloc", 4), ("alloc", 6),
                                       ("free_requested", 6), ("free_completed", 6)]]
        path = self.folder / f"snapshot{protocol}.pickle"
        path.write_bytes(pickle.dumps(
            {"segments": [{"device": 0, "allocated_size": 4 * gib, "total_size": 12 * gib, "active_size": 4 * gib,
                           "blocks": [{"size": 4 * gib, "state": "active_allocated"}]}],
             "device_traces": [events, []], "allocator_settings": {"expandable_segments": False, "ratio": 0.5}},
            protocol=protocol))
        return str(path)

    def test_a_memory_snapshot_is_read_whatever_pickles_version(self):
        held = max(sum(rank["memory"][of] for of in ("parameters", "gradients", "optimizer", "buffers"))
                   for rank in self.figures()["ranks"])
        ratios = set()
        for protocol in (2, 3, 4, 5):
            anchored = self.figures("--anchor", self.snapshot(protocol))["anchored"]
            self.assertIsNone(anchored["time_ratio"])
            ratios.add((anchored["memory_ratio"], anchored["allocator_ratio"]))
            # Its own plan has what was measured: 10 GiB allocated, 12 reserved.
            self.assertAlmostEqual(anchored["memory_bytes"], 12 * 2**30, delta=2**20)
        self.assertEqual(len(ratios), 1)
        self.assertGreater(held, 0)

    def test_a_pickle_that_would_run_something_is_refused(self):
        path = self.folder / "bad.pickle"
        path.write_bytes(b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x05touch\x85R.")
        ran = self.ends(debubble("simulate", self.plan, "--anchor", str(path)), BAD_INPUT)
        self.assertIn("nothing that it names is executed", ran.stderr)

    def test_a_log_beside_a_profile_has_the_steps_time(self):
        trace = str(self.folder / "run.trace.json")
        own = self.figures("--trace", trace)
        anchored = self.figures("--anchor", trace, "--anchor", "elapsed time per iteration (ms): 5000.0")["anchored"]
        self.assertAlmostEqual(anchored["step_time_s"], 5.0, places=6)
        self.assertAlmostEqual(anchored["parts"]["compute_ratio"], 1, places=3)
        self.assertAlmostEqual(anchored["time_ratio"], 5 / own["step_time_s"], places=6)

    def test_a_grid_is_corrected_as_its_plans_are(self):
        grid = self.write("grid.yaml", PLAN + "sweep:\n  training.micro_batch: [1, 2]\n")
        out = self.folder / "rows.csv"
        self.ends(debubble("sweep", grid, "--out", str(out), "--anchor", "2,000 tps"), DONE)
        own = self.figures()
        with open(out, newline="") as file:
            rows = {row["training.micro_batch"]: row for row in csv.DictReader(file)}
        self.assertAlmostEqual(float(rows["2"]["tokens_per_s"]), 2000 * 4, delta=0.1)
        beside = self.figures("--set", "training.micro_batch=1")
        self.assertAlmostEqual(float(rows["1"]["step_time_s"]) / beside["step_time_s"],
                               float(rows["2"]["step_time_s"]) / own["step_time_s"], places=6)
        again = self.ends(debubble("sweep", grid, "--out", str(out)), BAD_INPUT)
        self.assertIn("--anchor", again.stderr)


class Expectations(SimulateTest):
    def expects(self, words, code):
        return self.ends(debubble("simulate", self.plan, "--expect", words), code).stderr

    def test_hold_or_are_said(self):
        figures = self.figures()
        step, tokens = figures["step_time_s"], figures["tokens_per_s"]
        self.assertEqual(self.expects(f"step<{1.01 * step}s, peak<70GiB, fits, tokens_per_s>{int(0.99 * tokens):,}", DONE), "")
        said = self.expects(f"step<{0.99 * step} s, mfu>=99%, fits", NO)
        self.assertIn("does not meet step<", said)
        self.assertIn("does not meet mfu>=99%: it is", said)
        self.assertNotIn("fits", said.replace("does not", ""))
        self.assertIn("peak<1MiB", self.expects("peak<1MiB", NO))
        self.assertIn("fits: it does not", self.ends(
            debubble("simulate", self.plan, "--set", "cluster.gpu.memory=1 GiB", "--expect", "fits"), NO).stderr)

    def test_tell_held_from_reserved_memory(self):
        ranks = self.figures()["ranks"]
        for name, key in (("peak", "peak_memory_bytes"), ("reserved", "reserved_memory_bytes")):
            most = max(rank[key] for rank in ranks)
            self.assertEqual(self.expects(f"{name}<={most} B", DONE), "", name)
            self.assertIn(f"{name}<{most} B: it is", self.expects(f"{name}<{most} B", NO))

    def test_of_shares_are_not_read_as_percents(self):
        said = self.expects("mfu>40", BAD_INPUT)
        self.assertIn("a share is a number from 0 to 1, or has a %: 40 is 4000 %; for 40 % write 40%", said)

    def test_that_say_nothing_are_refused(self):
        for words in ("", "stepp<3s", "step<3", "step", "peak<many", "mfu>x%", "step<", "<3s"):
            self.expects(words, BAD_INPUT)


class WrongValues(SimulateTest):
    def refused(self, change):
        return self.ends(debubble("simulate", self.plan, "--set", change), BAD_INPUT).stderr

    def test_of_memory_and_layers_are_said_once_and_with_their_place(self):
        self.assertIn("--set:1:20: error: 'memory' must be more than 0, not '0 GiB'", self.refused("cluster.gpu.memory=0 GiB"))
        for key in ("recompute", "offload"):
            said = self.refused(f"training.{key}={{layers: 0}}")
            self.assertIn("error: 'layers' must be at least 1, not 0", said)
            self.assertNotIn("needs 'modules'", said)
            self.assertIn(f"'{key}' needs 'modules', 'layers' or both", self.refused(f"training.{key}={{}}"))
        self.assertIn("plan.yaml:4:33: error: 4500 layers exceed the 4096 that a stage may hold",
                      self.refused("model.layers=9000"))


class Moved(SimulateTest):
    def kept(self, name, *more):
        path = str(self.folder / name)
        self.ends(debubble("simulate", self.plan, *more, "--json", path), DONE)
        return path

    def test_nothing_moves_between_equal_plans(self):
        ran = self.ends(debubble("compare", self.kept("a.json"), self.kept("b.json")), DONE)
        self.assertIn("no figure has moved", ran.stdout)
        self.assertIn("the plans are equal", ran.stdout)

    def test_a_change_of_plan_is_seen_part_by_part(self):
        before, after = self.kept("a.json"), self.kept("b.json", "--set", "schedule=gpipe")
        ran = self.ends(debubble("compare", before, after, "--json", "-"), NO)
        said = json.loads(ran.stdout)
        rows = {row["figure"]: row for row in said["figures"]}
        for side in ("before", "after"):
            self.assertAlmostEqual(sum(row[side] for row in said["figures"] if row["is_part"]),
                                   rows["step_time_s"][side], places=6)
        classes = ("parameters", "gradients", "optimizer", "activations", "buffers", "workspace")
        for side, of in (("before", before), ("after", after)):
            with open(of) as file:
                ranks = json.load(file)["ranks"]
            for key in ("peak_memory_bytes", "reserved_memory_bytes"):
                self.assertEqual(rows[key][side], max(rank[key] for rank in ranks))
            self.assertEqual(sum(rows[f"{one}_bytes"][side] for one in classes), rows["peak_memory_bytes"][side])
        self.assertIn("schedule.name: 1f1b -> gpipe", said["plan"])
        self.assertTrue(said["moved"])

    def test_what_is_no_prediction_is_refused(self):
        before = self.kept("a.json")
        other = self.write("other.json", "{}")
        self.ends(debubble("compare", before, other), BAD_INPUT)
        broken = self.write("broken.json", '{"schema": "debubble/prediction", "step_time_s": 1')
        self.ends(debubble("compare", broken, before), BAD_INPUT)
        empty = self.write("empty.json", '{"schema": "debubble/prediction", "step_time_s": 1, "ranks": []}')
        self.ends(debubble("compare", empty, before), BAD_INPUT)


class Files(SimulateTest):
    def test_are_written_whole_and_nothing_beside_them(self):
        svg, trace, figures = (self.folder / name for name in ("p.svg", "p.trace.json", "p.json"))
        text = self.done("simulate", self.plan, "--svg", svg, "--trace", trace,
                         "--json", figures).stdout
        self.assertIn("MFU", text)
        self.assertTrue(svg.read_text().startswith("<"))
        self.assertIn("</svg>", svg.read_text())
        self.assertIn("traceEvents", json.loads(trace.read_text()))
        self.assertEqual(json.loads(figures.read_text()), self.figures())
        self.assertEqual(self.left_behind(), ["p.json", "p.svg", "p.trace.json", "plan.yaml"])

    def test_of_several_go_to_a_folder_by_name(self):
        other = self.write("other.yaml", PLAN.replace("1f1b", "gpipe"))
        out = self.folder / "out"
        self.done("simulate", self.plan, other, "--out", out)
        self.assertEqual(sorted(p.name for p in out.iterdir()),
                         ["other.svg", "other.trace.json", "plan.svg", "plan.trace.json"])

    def test_are_the_same_bytes_every_time(self):
        files = [[self.folder / f"{run}{end}" for end in (".svg", ".trace.json")] for run in "12"]
        for svg, trace in files:
            self.done("simulate", self.plan, "--svg", svg, "--trace", trace)
        for first, second in zip(*files):
            self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_are_not_touched_by_a_mistake(self):
        svg = self.write("p.svg", "old")
        self.ends(debubble("simulate", self.plan, "--set", "parallel.pipeline=64", "--svg", svg),
                  BAD_INPUT)
        self.assertEqual(svg.read_text(), "old")
        self.assertEqual(self.left_behind(), ["p.svg", "plan.yaml"])


class Limits(SimulateTest):
    def refuses(self, *settings, says):
        options = [word for setting in settings for word in ("--set", setting)]
        self.ends(debubble("simulate", self.plan, *options), BAD_INPUT, says=says)

    def test_of_rates_are_told_at_their_place(self):
        self.refuses("cluster.gpu.fp16_flops=1 FLOP/s",
                     says="--set:1:24: error: 'fp16_flops': '1 FLOP/s' is less than 1e6 FLOP/s")
        self.refuses("cluster.network.nic_bandwidth=1e300 GB/s", says="is more than 1e18 B/s")
        self.refuses("cluster.node_link.latency=1e6 s", says="is more than 10,000 seconds")
        self.refuses("cluster.gpu.memory=1e17 B", says="'memory' must be at most 1000 TB")

    def test_of_time_are_an_error_and_never_wrap(self):
        slow = ["cluster.gpu.fp16_flops=1e6 FLOP/s", "cluster.gpu.memory_bandwidth=1 B/s",
                "cluster.node_link.bandwidth=1 B/s"]
        for setting in slow:
            with self.subTest(setting=setting):
                self.refuses(setting, says="seconds, and a step may take at most 1e+06 (eleven days)")

    def test_of_many_slow_actions_are_an_error_too(self):
        self.refuses("cluster.gpu.kernel_overhead=1e4 s", says="seconds, and a step may take at most")

    def test_of_actions_are_told_before_any_is_written(self):
        self.refuses("training.global_batch=1000000", "training.micro_batch=1", "gpus=8",
                     "parallel.pipeline=8",
                     says="a step of about 24000000 computes (8 stages x 1000000 microbatches x 1 "
                          "slices, forward and both parts of backward) exceeds the limit of "
                          "20000000")


class Provenance(SimulateTest):
    def rows(self, *settings):
        options = [word for setting in settings for word in ("--set", setting)]
        figures = json.loads(self.done("simulate", self.plan, *options, "--json", "-").stdout)
        return {row["what"]: row for row in figures["provenance"]}

    BARE = ("cluster={gpu: {sms: 108, memory: 80 GiB, memory_bandwidth: 2 TB/s, "
            "fp16_flops: 312 TFLOP/s}, node_link: {bandwidth: 300 GB/s}, "
            "network: {nic_bandwidth: 25 GB/s}, gpus_per_node: 4}")

    def test_lists_the_defaults_that_were_read(self):
        rows = self.rows(self.BARE)
        self.assertEqual(rows["gpu.gemm_efficiency"]["origin"], "assumed")
        self.assertRegex(rows["gpu.gemm_efficiency"]["source"], r"^not given, so 0\.825: fitted")
        self.assertRegex(rows["node_link.latency"]["source"], r"^not given, so 2\.8 us: ")
        self.assertNotIn("network.latency", rows, "all GPUs are in one node")
        self.assertNotIn("gpu.host_link", rows, "nothing is offloaded")

    def test_lists_what_only_some_plans_read(self):
        rows = self.rows(self.BARE, "cluster.gpus_per_node=2", "training.offload_optimizer=true")
        for constant in ["network.latency", "network.efficiency", "gpu.host_link",
                         "host_adam_parameters_per_s"]:
            self.assertEqual(rows[constant]["origin"], "assumed", constant)

    def test_says_nothing_of_defaults_that_the_file_gives(self):
        rows = self.rows(self.BARE, "cluster.gpu.gemm_efficiency=0.5")
        self.assertEqual(rows["gpu.gemm_efficiency"]["source"], "set in --set")


class ManyRanks(SimulateTest):
    def memory_of(self, ranks):
        """Most memory that a prediction of that many ranks takes."""
        scenario = self.write("ranks.yaml", f"""
model: {{family: gpt2, layers: {ranks}, hidden: 1024, heads: 16, vocab: 50304, max_positions: 1024}}
cluster: dgx-a100-80gb
gpus: {ranks}
parallel: {{pipeline: {ranks}}}
training: {{global_batch: 4, micro_batch: 1, seq_length: 1024, precision: bf16}}
""")
        program = subprocess.Popen([PROGRAM, "simulate", scenario], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(program.returncode, DONE)
        return usage.ru_maxrss

    def test_take_memory_in_proportion(self):
        self.assertLess(self.memory_of(2048), 6 * self.memory_of(512))


class Answers(SimulateTest):
    def test_no_if_it_does_not_fit_and_by_how_much(self):
        big = ["--set", "model=gpt3-175b", "--set", "parallel.pipeline=4"]
        result = self.ends(debubble("simulate", self.plan, *big), NO, says="does not fit")
        self.assertRegex(result.stderr, r"rank \d")
        self.assertRegex(result.stderr, r"[0-9.]+ GiB")
        self.assertFalse(self.figures(*big, code=NO)["fits"])

    def test_headroom_is_a_key_of_the_framework_and_none_on_a_processor(self):
        asked = ["--set", "framework={base: megatron-2024, headroom: 3 GiB}"]
        self.assertEqual(self.figures(*asked)["headroom_bytes"], 3 << 30)
        self.assertGreater(self.figures()["headroom_bytes"], 0)
        here = ["--set", "cluster=this-machine"]
        self.assertEqual(self.figures(*asked, *here)["headroom_bytes"], 0)

    def test_mistakes_get_a_sentence_and_exit_code_2(self):
        bad = self.write("bad.yaml", PLAN.replace("schedule:", "shedule:").replace("bf16", "bf61"))
        for arguments, says in [
            ([bad], "bad.yaml:5:1: error: "),
            ([bad], "did you mean 'schedule'?"),
            ([bad], "bf61"),
            (["no-such-scenario"], "no-such-scenario"),
            ([self.folder / "none.yaml"], "no such file"),
            ([self.plan, "--set", "parallel.tensor=5"], "needs a multiple of 10 GPUs, not 4"),
            ([self.plan, "--set", "parallel.tensr=2"], "did you mean"),
            ([self.plan, self.plan, "--svg", "x.svg"], "--out DIR"),
            ([self.plan, self.plan, "--out", self.folder / "out"], "two scenarios are named"),
            ([self.plan, "--svg", "-", "--json", "-"], "only one of"),
        ]:
            with self.subTest(says):
                self.ends(debubble("simulate", *arguments), BAD_INPUT, says=says)
        self.assertEqual(self.left_behind(), ["bad.yaml", "plan.yaml"])

    def test_an_invalid_schedule_file_is_named(self):
        crossed = self.write("crossed.csv", "0F0,0F1,0B0,0B1\n1B0,1F0,1F1,1B1\n")
        plan = self.write("crossed.yaml", PLAN.replace("1f1b", "{csv: crossed.csv}"))
        self.ends(debubble("simulate", plan, "--set", "parallel.pipeline=2", "--set",
                           "training.global_batch=8"), NO,
                  says=f"{crossed}: not a valid schedule:\n1B0 comes before")

    def test_a_schedule_file_for_other_ranks_is_refused_at_its_row(self):
        rows = self.write("rows.csv", "0F0,0B0\n1F0,1B0\n2F0,2B0\n")
        plan = self.write("rows.yaml", PLAN.replace("1f1b", "{csv: rows.csv}"))
        self.ends(debubble("simulate", plan, "--set", "parallel.pipeline=2"), BAD_INPUT,
                  says=f"{rows}:3:1: error: it has 3 ranks, one per row, but parallel.pipeline is 2")

    def test_a_slower_host_takes_longer_over_an_offloaded_optimizer(self):
        times = [self.figures("--set", "training.offload_optimizer=true", "--set",
                              f"cluster.host_adam_parameters_per_s={rate}")["step_time_s"]
                 for rate in ("1e9", "1e8")]
        parameters = self.figures()["parameters"]
        self.assertGreater(times[1] - times[0], parameters * 8e-9)

    def test_sgd_holds_less_than_adam(self):
        adam = self.figures()
        held = {}
        for name, optimizer in [("momentum", "{name: sgd, momentum: 0.9}"), ("sgd", "sgd")]:
            figures = self.figures("--set", f"training.optimizer={optimizer}")
            held[name] = figures["ranks"][0]["memory"]["optimizer"]
            self.assertLess(figures["step_time_s"], adam["step_time_s"])
        self.assertEqual(held["momentum"], 2 * held["sgd"])
        self.assertEqual(adam["ranks"][0]["memory"]["optimizer"], 3 * held["sgd"])

    def test_mistakes_of_all_scenarios_are_told_at_once(self):
        names = [self.write(f"{n}.yaml", PLAN.replace("gpt2\n", "gtp2\n")) for n in "abc"]
        stderr = self.ends(debubble("simulate", *names), BAD_INPUT).stderr
        for name in names:
            self.assertIn(f"{name.name}:1:8", stderr)

    def test_a_plan_that_draws_make_impossible_is_refused_in_its_file(self):
        plan = self.write("drawn.yaml", """
            model: {base: llama2-7b, layers: 8}
            cluster: hgx-h100
            gpus: 8
            parallel: {pipeline: 2, context: 4, zero_stage: 1, dynamic_context_parallel: true}
            schedule: {name: interleaved-1f1b, stages_per_rank: 2}
            training: {global_batch: 3, micro_batch: 1, seq_length: 4096}
            imbalance: {draws: 2, sequence: {mean: 4096, spread: 0, global_batch_packing: true}}
            """)
        self.ends(debubble("simulate", plan), BAD_INPUT,
                  says=f"{plan}: error: the scheduler default_dynamic_cp makes 3 microbatches")

    def test_a_folder_that_cannot_be_is_the_worlds_fault(self):
        self.ends(debubble("simulate", self.plan, "--svg", self.plan / "x.svg"), WORLD)


if __name__ == "__main__":
    unittest.main()
