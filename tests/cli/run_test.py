"""debubble run: trains a tiny model by the Program that simulate prices."""

import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from program import BAD_INPUT, DONE, PROGRAM, WORLD, ProgramTest, debubble, why_no_gpu
from tiny_gpt import write_tiny_gpt

STEPS = 4
SHAPES = pathlib.Path(__file__).parents[2] / "scenarios/data/shapes/train"
EXPERTS = ("{name: tiny, family: llama, layers: 4, hidden: 16, heads: 4, ffn: 24, vocab: 260, "
           "max_positions: 64, experts: 4, experts_per_token: 2}")
ROUTED = ("{name: tiny, family: deepseek, layers: 4, hidden: 16, heads: 4, ffn: 12, vocab: 260, "
          "max_positions: 64, experts: 8, experts_per_token: 2, shared_ffn: 20, router: sigmoid, "
          "router_groups: 4, router_groups_chosen: 2, router_scaling: 2.5, "
          "router_bias_correction: true, layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 3}]}")
# Open MPI keeps its allocations until the end: leaks are looked for among threads.
MPI = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def needs_mpi(test):
    module = pathlib.Path(PROGRAM).with_name("debubble_mpi.so")
    return unittest.skipUnless(shutil.which("mpirun") and module.exists(), "there is no MPI")(test)


def lines_of(metrics):
    """Those of steps and evaluations: the first says of which plan they are."""
    header, *lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    assert header["schema"] == "debubble/metrics", header
    return [line for line in lines if "schema" not in line]


class RunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.scenario = write_tiny_gpt(self.folder)

    def run_it(self, *options, steps=STEPS, code=DONE, says="", **how):
        more = [] if steps is None else ["--steps", steps]
        return self.ends(debubble("run", self.scenario, *more, *options, **how), code, says=says)

    def report(self, *options, steps=STEPS, **how):
        sets = [word for option in options for word in ("--set", option)]
        return json.loads(self.run_it(*sets, "--json", "-", steps=steps, **how).stdout)

    def one_rank(self, **how):
        return self.report("parallel.pipeline=1", "gpus=1", **how)

    def one_rank_of(self, model, **how):
        return self.report(model, "parallel.pipeline=1", "gpus=1", **how)["losses"]


class Training(RunTest):
    def test_the_loss_falls(self):
        losses = self.report(steps=12)["losses"]
        self.assertEqual(len(losses), 12)
        self.assertAlmostEqual(losses[0], 5.56, delta=0.1)  # ln 260: it knows nothing
        self.assertLess(losses[-1], 4)

    def test_experts_learn_the_same_in_every_layout(self):
        model = f"model={EXPERTS}"
        losses = self.one_rank_of(model, steps=8)
        self.assertLess(losses[-1], losses[0] - 0.1)
        for sets in [("schedule=zb-v",), ("gpus=2", "parallel={data: 2, zero_stage: 3}"),
                     ("gpus=4", "parallel={data: 2, pipeline: 2, zero_stage: 1}")]:
            for mine, expected in zip(self.report(model, *sets, steps=8)["losses"], losses):
                self.assertAlmostEqual(mine, expected, delta=1e-5 * expected, msg=sets)

    def test_routers_are_balanced_alike_in_every_layout(self):
        sets = (f"model={ROUTED}", "training.moe_aux_loss_coeff=0.1",
                "training.moe_z_loss_coeff=0.01", "training.moe_router_bias_update_rate=0.02")
        expected = self.report(*sets, "parallel.pipeline=1", "gpus=1", steps=8)
        self.assertEqual([layer["layer"] for layer in expected["layer_loads"]], [1, 2, 3])
        for layer in expected["layer_loads"]:
            self.assertGreater(layer["load"], 1)
            self.assertGreaterEqual(layer["largest_load"], layer["load"])
        metrics = self.folder / "steps.jsonl"
        report = json.loads(self.run_it(
            *(word for key in (*sets, "gpus=4", "parallel={data: 2, pipeline: 2, zero_stage: 1}")
              for word in ("--set", key)),
            "--metrics", metrics, "--json", "-", steps=8).stdout)
        for mine, wanted in zip(report["losses"], expected["losses"]):
            self.assertAlmostEqual(mine, wanted, delta=1e-5 * wanted)
        self.assertEqual(report["layer_loads"], expected["layer_loads"])
        for step in lines_of(metrics):
            self.assertGreater(step["aux_loss"], 0.2)  # three layers', each at least its coefficient
            self.assertGreater(step["z_loss"], 0)
            self.assertGreaterEqual(step["expert_load"], 1)

    def test_every_layout_computes_the_same_losses(self):
        expected = self.one_rank()["losses"]
        four = "parallel.pipeline=4"
        for sets in [(), ("schedule=gpipe",), ("schedule=zb-h1",), ("schedule=zb-v",),
                     ("schedule={name: interleaved-1f1b, stages_per_rank: 2}",),
                     ("schedule=v-half",),
                     ("schedule={name: seq-1f1b, slices: 2}",),
                     ("schedule=dualpipe",),
                     ("gpus=4", four, "schedule=zb-h1"),
                     ("schedule=zb-h2",),
                     ("gpus=2", "parallel={tensor: 2}"),
                     ("gpus=2", "parallel={tensor: 2, sequence: true}"),
                     ("gpus=4", "parallel={data: 2, pipeline: 2, zero_stage: 1}"),
                     ("gpus=4", "parallel={data: 2, pipeline: 2, zero_stage: 2}"),
                     ("gpus=4", "parallel={data: 2, pipeline: 2, zero_stage: 3, wrap: stage}"),
                     ("gpus=8", "parallel={data: 2, pipeline: 2, tensor: 2, zero_stage: 3}"),
                     ("training.recompute=full",), ("training.offload={layers: 8}",)]:
            with self.subTest(sets=sets):
                report = self.report(*sets)
                self.assertTrue(report["executed_in_order"])
                self.assertEqual(report["proven_steps"], STEPS)
                self.assertEqual(len(report["losses"]), STEPS)
                for loss, wanted in zip(report["losses"], expected):
                    self.assertAlmostEqual(loss, wanted, delta=2e-4 * wanted)

    def test_a_program_from_elsewhere_gets_what_training_needs_beyond_it(self):
        """Lowered for a model without tied embeddings; and computes and gathers, as by PyTorch."""
        lowered = self.folder / "lowered.csv"
        self.done("schedule", "--name", "zb-v", "--ranks", 2, "--stages-per-rank", 2,
                  "--micro-batches", 4, "--lower", "--format", "csv", "--out", lowered)
        computes = ",".join("{0}" + name for name in "F0 F1 F2 F3 B0 B1 B2 B3".split())
        row = f"{{0}}UNSHARD,{computes},{{0}}REDUCE_GRAD,{{0}}RESHARD\n"
        gathers = self.write("gathers.csv", row.format(0) + row.format(1))
        expected = self.one_rank()["losses"]
        for order in [f"{{csv: {lowered}, placement: v}}", f"{{csv: {gathers}}}"]:
            with self.subTest(order):
                for loss, wanted in zip(self.report(f"schedule={order}")["losses"], expected):
                    self.assertAlmostEqual(loss, wanted, delta=2e-4 * wanted)

    def expect_what_threads_compute(self, *how):
        result = self.run_it(*how, "--json", self.folder / "processes.json", env=MPI)
        self.assertEqual(result.stdout.count("step 1/"), 1, "one rank shows the steps")
        self.assertIn("on 2 processes", result.stdout)
        processes = json.loads((self.folder / "processes.json").read_text())
        self.assertEqual(processes["losses"], self.report()["losses"])
        self.assertTrue(processes["executed_in_order"])

    def test_processes_compute_what_threads_do(self):
        self.expect_what_threads_compute("--comm", "tcp")
        self.expect_what_threads_compute("--launch", 2)

    @needs_mpi
    def test_processes_of_mpi_compute_what_threads_do(self):
        self.expect_what_threads_compute("--comm", "mpi", "--launch", 2)

    def test_one_rank_over_tcp_needs_no_other_process(self):
        result = self.run_it("--comm", "tcp", "--set", "gpus=1", "--set", "parallel.pipeline=1")
        self.assertIn("on 1 thread,", result.stdout)


class Report(RunTest):
    def test_has_the_keys_and_the_hash_of_the_prediction(self):
        predicted = json.loads(self.done("simulate", self.scenario, "--json", "-").stdout)
        measured = self.report()
        self.assertEqual(set(predicted) - set(measured),
                         {"step_time_range_s", "memory_range_bytes", "memory_verdict", "groups"}, "a run was measured")
        self.assertEqual(measured["schedule_hash"], predicted["schedule_hash"])
        self.assertEqual(measured["parameters"], predicted["parameters"])
        self.assertEqual([set(rank) - {"core_share"} for rank in measured["ranks"]],
                         [set(rank) for rank in predicted["ranks"]])
        for rank in measured["ranks"]:
            self.assertEqual(sum(rank["memory"].values()), rank["peak_memory_bytes"])
            self.assertGreater(rank["busy_s"], 0)
            self.assertGreater(rank["core_share"], 0)
            self.assertLess(rank["core_share"], 1.01)

    def test_tells_the_mfu_where_the_peak_rate_is_known(self):
        unknown = self.report()
        self.assertIsNone(unknown["mfu"])
        self.assertIn("has GPUs, but this ran on a processor", unknown["mfu_reason"])
        self.assertIn("\nno MFU: cluster 'dgx-a100-40gb'", self.run_it().stdout)

        here = ["--set", "cluster=this-machine"]
        metrics = self.folder / "metrics.jsonl"
        for threads, sets, hardware in [(1, [], 1), (2, [], 1),
                                        (1, ["--set", "training.recompute=full"], 1.2)]:
            with self.subTest(threads=threads, sets=sets):
                told = json.loads(self.run_it(*here, *sets, "--threads", threads, "--json", "-",
                                              "--metrics", metrics).stdout)
                peak = 220e9 * threads  # scenarios/clusters/this-machine.yaml, fp32
                self.assertAlmostEqual(told["mfu"] * peak / 1e12 / told["tflops_per_gpu"], 1)
                self.assertGreaterEqual(told["hfu"], hardware * told["mfu"])
                self.assertLess(told["mfu_causal"], told["mfu"])
                self.assertIsNone(told["mfu_reason"])
                self.assertEqual([row["what"] for row in told["provenance"]],
                                 ["step", "peak rate"])
                rows = lines_of(metrics)
                for row in rows:
                    flops = told["tflops_per_gpu"] * told["step_time_s"] / row["step_time_s"]
                    self.assertAlmostEqual(row["mfu"] * peak / 1e12 / flops, 1)
        self.assertRegex(self.run_it(*here).stdout, r"tokens/s  MFU \d+\.\d %")

    def test_tells_communication_inside_passes_apart(self):
        for layout in ["{tensor: 2}", "{data: 2, zero_stage: 3}"]:
            for rank in self.report(f"parallel={layout}")["ranks"]:
                self.assertGreater(rank["exposed_comm_s"], 0)
        trace = self.folder / "trace.json"
        self.run_it("--set", "parallel={tensor: 2}", "--trace", trace)
        stood = [event for event in json.loads(trace.read_text())["traceEvents"]
                 if event.get("args", {}).get("exposed_ns", 0) > 0]
        self.assertGreaterEqual(len(stood), 2 * 4 * 2, "every pass on both ranks")

    def test_a_schedule_made_from_costs_is_the_predicted_one(self):
        schedule = ["--set", "schedule=v-min"]
        predicted = json.loads(
            self.done("simulate", self.scenario, *schedule, "--json", "-").stdout)
        for how in [], ["--comm", "tcp"]:
            report = self.folder / "report.json"
            self.run_it(*schedule, *how, "--json", report)
            self.assertEqual(json.loads(report.read_text())["schedule_hash"],
                             predicted["schedule_hash"])

    def test_its_trace_lies_beside_the_predicted_one(self):
        predicted, executed = self.folder / "sim.json", self.folder / "run.json"
        self.done("simulate", self.scenario, "--trace", predicted)
        self.run_it("--trace", executed)
        result = self.done("compare", predicted, executed)
        self.assertIn("step", result.stdout)

    def test_metrics_are_a_line_of_json_per_step(self):
        metrics = self.folder / "metrics.jsonl"
        self.run_it("--metrics", metrics)
        lines = lines_of(metrics)
        self.assertEqual([line["step"] for line in lines], list(range(1, STEPS + 1)))
        self.assertEqual(set(lines[0]) >= {"loss", "grad_norm", "lr", "tokens_per_s"}, True)

    def test_each_step_is_a_line_where_nobody_watches(self):
        shown = self.run_it().stdout
        self.assertIn(f"step {STEPS}/{STEPS}  loss ", shown)
        self.assertNotIn("\r", shown)
        self.assertRegex(shown, "the executed order equals program [0-9a-f]{12} "
                                f"in all {STEPS} steps on every rank\n")


class Epochs(RunTest):
    """The number of steps is known once the data is open: 2000 bytes are 124 samples."""
    EPOCHS, STEPS = 2, 62
    COSINE = "training.lr_schedule={name: cosine, warmup_steps: 2, warmup_start_factor: 0.1}"
    SAMPLES_MORE = 64

    def rates(self, *sets, options=(), steps=None):
        metrics = self.folder / "rates.jsonl"
        metrics.unlink(missing_ok=True)  # which a resumed run goes on with
        words = [word for key in (self.COSINE, *sets) for word in ("--set", key)]
        self.run_it(*words, *options, "--metrics", metrics, steps=steps)
        return [line["lr"] for line in lines_of(metrics)]

    def test_say_where_a_cosine_ends(self):
        rates = self.rates(f"training.epochs={self.EPOCHS}")
        self.assertEqual(len(rates), self.STEPS)
        for step, rate in enumerate(rates):
            expected = (0.01 * (0.1 + 0.9 * step / 2) if step < 2 else
                        0.005 * (1 + math.cos(math.pi * (step - 2) / (self.STEPS - 2))))
            self.assertAlmostEqual(rate, expected, delta=1e-12)
        self.assertEqual(rates, self.rates(f"training.steps={self.STEPS}"))

    def test_end_a_cosine_where_a_run_that_is_cut_short_does_not(self):
        rates = self.rates(f"training.epochs={self.EPOCHS}")
        self.assertEqual(self.rates(f"training.epochs={self.EPOCHS}", steps=9), rates[:9])

    def test_resume_with_the_same_end(self):
        keys = [f"training.epochs={self.EPOCHS}",
                f"training.checkpoint={{dir: {self.folder / 'saved'}}}"]
        rates = self.rates(*keys, options=["--resume", "never"])
        self.assertEqual(self.rates(*keys, options=["--resume", "never"], steps=9), rates[:9])
        newest = self.folder / "saved" / f"step_{self.STEPS}"
        shutil.rmtree(newest)
        self.assertEqual(self.rates(*keys), rates[9:])

    def test_of_other_data_do_not_end_a_resumed_rate_elsewhere(self):
        keys = [f"training.epochs={self.EPOCHS}",
                f"training.checkpoint={{dir: {self.folder / 'saved'}}}"]
        self.rates(*keys, steps=3)
        text = self.folder / "text.txt"
        text.write_text(text.read_text() + "x" * 16 * self.SAMPLES_MORE)
        more = [word for key in (self.COSINE, *keys) for word in ("--set", key)]
        longer = self.STEPS + self.EPOCHS * self.SAMPLES_MORE // 4
        self.run_it(*more, steps=None, code=BAD_INPUT,
                    says=f"step_3 ends after {self.STEPS} steps, and 2 epochs of this data are "
                         f"{longer}: choose by 'training.lr_schedule.total_steps'")
        told = [f"training.lr_schedule.total_steps={self.STEPS}", "training.lr_schedule.min_lr=0"]
        self.assertEqual(len(self.rates(*keys, *told, steps=5)), 2)

    def test_that_steps_replace_move_the_end_of_a_resumed_rate_in_words(self):
        """The cosine has its end from --steps, which a resumed run has another of."""
        keys = [word for key in (self.COSINE,
                                 f"training.checkpoint={{dir: {self.folder / 'saved'}, every: 10}}")
                for word in ("--set", key)]
        self.run_it(*keys, steps=13)
        shutil.rmtree(self.folder / "saved" / "step_13")

        def rate(end):  # of step 11
            return 0.005 * (1 + math.cos(math.pi * (10 - 2) / (end - 2)))

        told = self.run_it(*keys, steps=15).stdout
        self.assertIn(f"the learning rate ends after 15 steps, and that of {self.folder}/saved/"
                      f"step_10 was to end after 13: step 11 has {rate(15):.6g}, and would have "
                      f"had {rate(13):.6g}; 'training.lr_schedule.total_steps' says", told)
        self.assertNotIn("was to end", self.run_it(*keys, "--resume", "never", steps=15).stdout)
        shutil.rmtree(self.folder / "saved" / "step_15")
        self.assertNotIn("was to end", self.run_it(*keys, steps=15).stdout, "the same end")

    def test_that_are_shorter_than_the_warm_up_are_refused(self):
        self.run_it("--set", "training.epochs=1", "--set",
                    "training.lr_schedule={name: linear, warmup_steps: 31}", steps=None,
                    code=BAD_INPUT, says="'lr_schedule.warmup_steps' is 31, but the schedule ends "
                                         "after 31 steps")

    def test_of_the_llama_tutorial_run_as_it_ships(self):
        """Its recipe and layout; the network is as deep and not as wide."""
        model = ("model={name: narrow, family: llama, layers: 12, hidden: 16, heads: 2, "
                 "kv_heads: 1, ffn: 32, vocab: 257, max_positions: 16}")
        text = self.write("long.txt", "one two three four five six. " * 1000)
        metrics = self.folder / "llama.jsonl"
        self.done("run", "llama-pipeline", "--set", model, "--set", f"training.data={{text: {text}}}",
                  "--set", "training.seq_length=16", "--set", "training.global_batch=4",
                  "--steps", 2, "--metrics", metrics, cwd=self.folder)
        rates = [line["lr"] for line in lines_of(metrics)]
        for step, rate in enumerate(rates):
            self.assertAlmostEqual(rate, 1e-3 * (0.1 + 0.9 * step / 1000), delta=1e-15)
        self.assertEqual(len(rates), 2)

    @unittest.skipUnless(SHAPES.exists(), "the pictures are not here")
    def test_of_the_vit_tutorial_run_as_it_ships(self):
        """Its recipe and layout; its network would take minutes. 96 pictures are nine steps of 32."""
        model = ("model={name: small, family: vit, layers: 2, hidden: 16, heads: 2, vocab: 4, "
                 "image_size: 16, patch_size: 8, dropout: 0}")
        metrics = self.folder / "vit.jsonl"
        self.done("run", "vit-hybrid", "--set", model, "--set", f"training.data={{images: {SHAPES}}}",
                  "--set", "training.lr_schedule={name: cosine, warmup_steps: 3}", "--metrics", metrics,
                  cwd=self.folder)
        rates = [line["lr"] for line in lines_of(metrics)]
        self.assertEqual(len(rates), 9)
        self.assertAlmostEqual(max(rates), 2e-4, delta=1e-15)
        self.assertLess(rates[-1], 4e-5)


class Checkpoints(RunTest):
    def keys(self, every=2):
        return ["--set", f"training.checkpoint={{dir: {self.folder / 'saved'}, every: {every}}}"]

    def losses(self, *options, steps):
        return json.loads(self.run_it(*options, "--json", "-", steps=steps).stdout)["losses"]

    def test_a_resumed_run_goes_on_bit_by_bit(self):
        whole = self.losses(steps=4)
        self.assertEqual(self.losses(*self.keys(), steps=2), whole[:2])
        self.assertEqual(self.losses(*self.keys(), steps=4), whole[2:])
        again = self.run_it(*self.keys(), steps=4)
        self.assertIn("nothing was run", again.stdout)
        self.assertEqual(self.losses(*self.keys(), "--resume", "never", steps=1), whole[:1])

    def test_a_resumed_run_says_that_its_data_is_other_than_before(self):
        self.run_it(*self.keys(), steps=2)
        self.assertNotIn("different data", self.run_it(*self.keys(), steps=3).stdout)
        text = self.folder / "text.txt"
        text.write_text(text.read_text().replace("three", "eight", 1))
        said = r"step_3 was trained on different data: on (\d+) samples with the fingerprint " \
               r"([0-9a-f]{24}), and this run has \1 samples with the fingerprint (?!\2)"
        self.assertRegex(self.run_it(*self.keys(), steps=4).stdout, said)
        self.assertNotIn("different data", self.run_it(*self.keys(), steps=5).stdout)

    def test_a_run_goes_on_under_another_layout(self):
        whole = self.losses(steps=4)
        self.losses(*self.keys(), steps=2)
        alone = ["--set", "parallel.pipeline=1", "--set", "gpus=1"]
        for loss, wanted in zip(self.losses(*self.keys(), *alone, steps=4), whole[2:]):
            self.assertAlmostEqual(loss, wanted, delta=2e-4 * wanted)

    def test_a_signal_saves_and_stops(self):
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(signal=how):
                shutil.rmtree(self.folder / "saved", ignore_errors=True)
                self.stops_at(how)

    def stops_at(self, how):
        command = [PROGRAM, "run", str(self.scenario), "--steps", "1000000", *self.keys(10**6)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            for line in run.stdout:
                if line.startswith("step 3/"):
                    break
            run.send_signal(how)
            rest = run.stdout.read()
            self.assertEqual(run.wait(timeout=60), WORLD, "who waits for it sees that it is not done")
        self.assertIn("stopped by a signal after step ", rest)
        self.assertIn("; the same command goes on from there\n", rest)
        saved = [path.name for path in (self.folder / "saved").iterdir()]
        self.assertEqual(len(saved), 1, saved)
        step = int(saved[0].removeprefix("step_"))
        self.assertIn(f"going on after step {step}",
                      self.run_it(*self.keys(), steps=step + 1).stdout)

    def diverges(self, *options, steps=20, optimizer="{name: sgd, lr: 1e18}"):
        """Ends by the signal; returns the step that the run names, and its output."""
        result = self.run_it(*options, "--set", f"training.optimizer={optimizer}", steps=steps,
                             code=WORLD)
        told = result.stderr
        self.assertRegex(told, r"^error: step \d+: .*; the training has diverged at a learning "
                               r"rate of 1e\+\d+; .*\n$")
        return int(told.split()[2].rstrip(":")), result

    def test_a_diverged_run_ends_and_names_the_last_checkpoint(self):
        saved = self.folder / "saved"
        step, result = self.diverges(*self.keys(every=1))
        last = f"the last complete checkpoint is {saved}/step_{step - 1}\n"
        self.assertIn(last, result.stderr)
        self.assertEqual(len(list(saved.iterdir())), step - 1)
        again, result = self.diverges(*self.keys(every=1))
        self.assertEqual(again, step, "it goes on from the checkpoint and diverges where it did")
        self.assertIn(last, result.stderr)
        self.assertIn(f"going on after step {step - 1}", result.stdout)

    def test_one_run_at_a_time_saves_in_a_folder(self):
        command = [PROGRAM, "run", str(self.scenario), "--steps", "1000000", *self.keys(10**6)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
            try:
                for line in first.stdout:
                    if line.startswith("step 1/"):
                        break
                self.run_it(*self.keys(), code=WORLD, says="another run is saving its checkpoints there")
            finally:
                first.kill()
        self.run_it(*self.keys())

    def test_a_folder_of_damaged_checkpoints_is_no_place_to_begin(self):
        self.losses(*self.keys(), steps=2)
        for ranks in (self.folder / "saved" / "step_2").glob("rank_*.safetensors"):
            ranks.write_bytes(ranks.read_bytes()[:-9])
        self.run_it(*self.keys(), code=BAD_INPUT, says="holds no checkpoint that is whole")
        told = self.run_it(*self.keys(), "--resume", "never").stdout
        self.assertIn("step_2 belongs to an earlier training", told)

    def test_a_diverged_run_leaves_what_was_saved_before(self):
        self.losses(*self.keys(), steps=2)
        before = sorted((self.folder / "saved").rglob("*"))
        _, result = self.diverges(*self.keys(every=10**6), "--resume", "never")
        self.assertIn("; no checkpoint was saved before it\n", result.stderr)
        self.assertEqual(sorted((self.folder / "saved").rglob("*")), before)
        self.run_it(*self.keys(), steps=3)

    def test_weights_that_are_not_finite_are_not_saved(self):
        """They fit into fp32, but not into the fp16 that passes compute with."""
        step, result = self.diverges(*self.keys(every=1), "--set", "training.precision=fp16",
                                     optimizer="{name: adamw, lr: 1e6}")
        self.assertEqual(step, 1)
        self.assertIn("it has produced weights that are not finite", result.stderr)
        self.assertFalse((self.folder / "saved").exists())


    def at_work(self, *options):
        """A run that goes on for ever, once it has made a step."""
        command = [PROGRAM, "run", str(self.scenario), "--steps", "1000000", *map(str, options)]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.stdout.close)
        for line in run.stdout:
            if line.startswith("step "):
                return run
        self.fail(run.stderr.read())

    @unittest.skipUnless(pathlib.Path("/proc/self/maps").exists(), "no /proc")
    def test_a_resumed_run_holds_nothing_of_its_checkpoint(self):
        self.losses(*self.keys(), steps=2)
        process = pathlib.Path("/proc") / str(self.at_work(*self.keys(10**6)).pid)
        saved = str(self.folder / "saved")
        self.assertNotIn("safetensors", (process / "maps").read_text())
        opened = [os.path.realpath(file) for file in (process / "fd").iterdir()]
        self.assertEqual([name for name in opened if name.endswith(".safetensors")], [])
        self.assertTrue(any(name.startswith(saved) for name in opened), "its lock is there")


    def test_tokens_that_are_cut_while_they_are_read_are_told(self):
        tokens = self.folder / "tokens.bin"
        count = 1 << 20
        header = [20240520, 1, count] + [0] * 253
        tokens.write_bytes(b"".join(word.to_bytes(4, "little") for word in header) +
                           b"\7\0" * count)
        run = self.at_work("--set", f"training.data={{tokens: {tokens}}}")
        os.truncate(tokens, 1024)
        out, told = run.communicate(timeout=60)
        self.assertEqual(run.returncode, WORLD, told)
        self.assertIn(f"{tokens}: was cut to 1024 bytes while it was read; it had 2098176", told)


class Evaluations(RunTest):
    def setUp(self):
        super().setUp()
        other = self.write("other.txt", "seven eight nine " * 30)
        self.scenario.write_text(self.scenario.read_text().replace(
            "data: {text:", f"data: {{eval: {other}, text:"))

    def evaluated(self, *options, steps=5, how=("eval_interval=2",)):
        sets = [word for key in how for word in ("--set", "training." + key)]
        return json.loads(self.run_it(*sets, *options, "--json", "-", steps=steps).stdout)

    def test_come_after_every_interval_and_at_the_end(self):
        metrics = self.folder / "metrics.jsonl"
        shown = self.run_it("--set", "training.eval_interval=2", "--metrics", metrics,
                            steps=5).stdout.splitlines()
        whole = [line.split(":")[0] for line in shown if line.startswith("evaluation after ")]
        self.assertEqual(whole, [f"evaluation after step {step}" for step in (2, 4, 5)])
        self.assertTrue(shown[shown.index(next(line for line in shown if " step 4:" in line)) - 1]
                        .startswith("step 4/5"), shown)
        rows = lines_of(metrics)
        self.assertEqual([row["step"] for row in rows if "loss" in row], [1, 2, 3, 4, 5])
        tested = [row for row in rows if "eval_loss" in row]
        self.assertEqual([row["step"] for row in tested], [2, 4, 5])

        report = self.evaluated()
        self.assertEqual([e["loss"] for e in report["evaluations"]],
                         [row["eval_loss"] for row in tested])
        self.assertEqual(report["evaluation"], report["evaluations"][-1])
        self.assertGreater(tested[0]["eval_loss"], tested[-1]["eval_loss"], "it has learnt")
        self.assertEqual({row["eval_targets"] for row in tested}, {17 * 30 // 16 * 16})

    def test_leave_the_training_as_it_is(self):
        for layout in [(), ("parallel={data: 2}", "schedule=1f1b"),
                       ("parallel={data: 2, zero_stage: 3}",),
                       ("gpus=4", "parallel={pipeline: 2, data: 2, zero_stage: 2}"),
                       ("gpus=4", "parallel={pipeline: 2, data: 2, zero_stage: 3, wrap: stage}"),
                       ("schedule=zb-v", "training.dropout=0.1"),
                       ("schedule=zb-h2", "training.clip_norm=0.1")]:
            with self.subTest(layout):
                options = [word for key in layout for word in ("--set", key)]
                without = self.evaluated(*options, how=())
                self.assertEqual(len(without["evaluations"]), 1)
                often = self.evaluated(*options, how=("eval_interval=1",))
                self.assertEqual(often["losses"], without["losses"])
                self.assertEqual(often["evaluation"], without["evaluation"])

    def test_are_the_same_in_a_resumed_run(self):
        keys = ["--set", f"training.checkpoint={{dir: {self.folder / 'saved'}, every: 2}}"]
        whole = self.evaluated()
        self.evaluated(*keys, steps=2)
        rest = self.evaluated(*keys)
        self.assertEqual(rest["losses"], whole["losses"][2:])
        self.assertEqual(rest["evaluations"], whole["evaluations"][1:])

    def test_may_look_at_some_batches_only(self):
        some = self.evaluated(how=("eval_iters=2",))["evaluation"]
        self.assertEqual(some["targets"], 2 * 4 * 16)
        every = self.evaluated(how=("eval_iters=1000",))["evaluation"]
        self.assertEqual(every, self.evaluated(how=())["evaluation"])
        self.run_it("--set", "training.data.eval=", "--set", "training.eval_iters=2",
                    code=BAD_INPUT)


class Images(ProgramTest):
    def test_classes_that_the_images_have_none_of_are_told(self):
        run = ["run", "shapes", "--steps", 1, "--set", "gpus=1", "--set", "parallel={data: 1}"]
        told = "the images have 4 classes (cross, disc, square, triangle), and shapes-vit distinguishes"
        self.assertNotIn(told, self.done(*run).stdout)
        more = self.done(*run, "--set", "model.vocab=7")
        self.assertIn(f"{told} 7: model.vocab could be 4", more.stdout)


class Refusals(RunTest):
    def refused(self, *options, says, steps=STEPS, code=BAD_INPUT):
        self.run_it(*options, steps=steps, code=code, says=says)

    def test_what_cannot_run_is_told_in_a_sentence(self):
        self.refused("--set", "training.data={text: /nowhere/at/all}", says="/nowhere/at/all")
        self.refused(steps=None, says="--steps")
        self.refused("--set", "training.precision.recipe=fp8-current", "--set", "cluster=hgx-h100",
                     says="fp8-current")
        self.refused("--set", "gpus=16", "--set", "parallel.pipeline=8", says="8 stages")
        self.refused("--comm", "pigeons", says="pigeons")
        self.refused("--launch", 3, says="2 ranks")
        self.refused("--kernels", "magic", says="magic")
        for number in ["nan", "inf", "-1", "0", "300s"]:
            self.refused(f"--deadline={number}", says=f"'{number}' is not a number from 0.001")
        for option in ["--json", "--trace", "--metrics"]:
            self.refused(option, self.scenario, says=f"{option} would overwrite")
            self.refused(option, self.folder / "text.txt", says=f"{option} would overwrite")
        self.refused("--json", "x", "--trace", "./x", says="--json and --trace both write ./x")
        self.refused("--resume", self.folder / "nothing", says="does not exist")
        self.refused("--trace", self.folder, says="is a folder", code=WORLD)
        self.refused("--trace", "/dev/null/trace.json", says="/dev/null", code=WORLD)
        self.refused("--set", "training.checkpoint={dir: /dev/null/here, every: 1}",
                     says="/dev/null/here", code=WORLD)
        self.refused("--set", "model={name: large, family: llama, layers: 64, hidden: 65536, "
                     "heads: 512, vocab: 260, max_positions: 64}",
                     says="by the prediction the 2 ranks need", code=WORLD)
        self.refused("--stepz", 3, says="did you mean '--steps'")
        if not pathlib.Path("/dev/nvidiactl").exists():
            self.refused("--device", "cuda", says=why_no_gpu(), code=WORLD)
        self.refused("--comm", "nccl", says="add --device cuda")
        left = [name for name in self.left_behind() if not name.endswith(".tokens.bin")]
        self.assertEqual(left, ["text.txt", "tiny.yaml"], "beside the tokens nothing is kept")

    def test_a_rank_that_its_job_has_not_is_refused(self):
        env = {**os.environ, "RANK": "5", "WORLD_SIZE": "2"}
        self.run_it("--comm", "tcp", code=BAD_INPUT, says="RANK is '5'", env=env)

    def test_a_signal_ends_the_wait_for_other_ranks(self):
        env = {**os.environ, "RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": "29547"}
        waiting = subprocess.Popen([PROGRAM, "run", str(self.scenario), "--steps", "1"], env=env,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            with self.assertRaises(subprocess.TimeoutExpired):
                waiting.wait(3)
            waiting.terminate()
            self.assertEqual(waiting.wait(30), -signal.SIGTERM)
        finally:
            waiting.kill()
            waiting.communicate()

    @needs_mpi
    def test_more_processes_than_ranks_are_refused(self):
        how = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        result = subprocess.run(
            ["mpirun", "-n", "3", PROGRAM, "run", str(self.scenario), "--steps", "1"],
            capture_output=True, text=True, timeout=120, env={**MPI, **how})
        self.assertNotEqual(result.returncode, DONE)
        self.assertIn("the scenario has 2 ranks", result.stderr)


if __name__ == "__main__":
    unittest.main()
