"""`debubble sweep` and `debubble search`: grids, their rows, their best plan."""

import csv
import json
import signal
import subprocess
import time
import unittest

from program import BAD_INPUT, DONE, NO, PROGRAM, WORLD, ProgramTest, debubble

PLAN = """\
model: gpt2
cluster: dgx-a100-80gb
gpus: 8
parallel: {tensor: 1, pipeline: 2, data: auto}
schedule: 1f1b
training: {global_batch: 64, micro_batch: 2, seq_length: 1024}
"""
GRID = PLAN + """\
sweep:
  parallel.tensor: [1, 2, 5]
  parallel.pipeline: [1, 2, 4]
  training.micro_batch: [1, 4]
  schedule: [gpipe, 1f1b, {name: interleaved-1f1b, stages_per_rank: 2}, zb-h1]
"""
SCALARS = ["step_time_s", "tokens_per_s", "samples_per_s", "mfu", "mfu_causal", "hfu",
           "tflops_per_gpu", "memory_left_of_requested_bytes",
           "bubble", "span_bubble", "makespan_s", "parameters", "replicas", "schedule_hash"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def table_after(text, title):
    """The lines of the table after this line, without the line of keys that are the same in all rows."""
    lines = text.split(f"{title}\n")[1].split("\n\n")[0].splitlines()
    return lines[1:] if lines[0].startswith("all with ") else lines


class SweepTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "results.csv"
        self.grid = self.write("grid.yaml", GRID)

    def sweep(self, *more, code=DONE, says=""):
        return self.ends(debubble("sweep", self.grid, "--out", self.out, *more), code, says=says)


class Sweep(SweepTest):
    def test_has_a_row_for_every_point_in_grid_order(self):
        self.sweep()
        points = [(row["parallel.tensor"], row["parallel.pipeline"], row["training.micro_batch"])
                  for row in rows_of(self.out)]
        self.assertEqual(len(points), 3 * 3 * 2 * 4)
        self.assertEqual(points, sorted(points))

    def test_has_the_columns_of_the_contract(self):
        self.sweep()
        header = self.out.read_text().splitlines()[0].split(",")
        self.assertEqual(header[:4], ["parallel.tensor", "parallel.pipeline",
                                      "training.micro_batch", "schedule"])
        self.assertEqual(header[-3:], ["fits", "pareto", "reason"])
        for row in rows_of(self.out):
            self.assertEqual(row["schema"], "debubble/sweep 2")
            self.assertEqual(row["plan"] != "", row["step_time_s"] != "", row)
        for key in SCALARS:
            self.assertIn(key, header)

    def test_says_of_impossible_points_why(self):
        self.sweep()
        impossible = [row for row in rows_of(self.out) if not row["step_time_s"]]
        self.assertTrue(impossible)
        for row in impossible:
            self.assertEqual((row["fits"], row["pareto"]), ("false", "false"))
            self.assertTrue(row["reason"])
            if row["parallel.tensor"] == "5":
                product = 5 * int(row["parallel.pipeline"])
                self.assertIn(f"needs a multiple of {product} GPUs, not 8", row["reason"])

    def test_says_which_points_are_the_same_plan(self):
        self.grid.write_text(PLAN + "sweep: {training.recompute: [none, selective, full]}\n")
        self.sweep()
        none, selective, full = rows_of(self.out)
        self.assertEqual(selective["step_time_s"], none["step_time_s"])
        self.assertIn("same plan as training.recompute=none", selective["reason"])
        self.assertEqual(none["reason"] + full["reason"], "")

    def test_gives_what_simulate_gives(self):
        self.sweep()
        for row in [row for row in rows_of(self.out) if row["step_time_s"]][::5]:
            keys = list(row)[:4]
            sets = [part for key in keys for part in ("--set", f"{key}={row[key]}")]
            plain = self.write("plain.yaml", PLAN)
            one = json.loads(self.done("simulate", plain, *sets, "--json", "-").stdout)
            for key in SCALARS:
                with self.subTest(key, point=[row[k] for k in keys]):
                    if isinstance(one[key], str):
                        self.assertEqual(row[key], one[key])
                    else:
                        self.assertEqual(float(row[key]), float(one[key]))
            self.assertEqual(int(row["peak_memory_bytes"]),
                             max(rank["peak_memory_bytes"] for rank in one["ranks"]))

    def test_fits_where_what_the_allocator_reserves_does(self):
        one = ["--set", "parallel.tensor=2", "--set", "training.micro_batch=4"]
        plain = self.write("plain.yaml", PLAN)
        whole = json.loads(self.done("simulate", plain, *one, "--json", "-").stdout)
        asked = max(rank["peak_memory_bytes"] for rank in whole["ranks"])
        reserved = max(rank["reserved_memory_bytes"] for rank in whole["ranks"])
        self.assertGreater(reserved, asked)
        self.assertGreater(whole["headroom_bytes"], 1 << 29)
        for memory in ((asked + reserved) // 2 + whole["headroom_bytes"],
                       reserved + whole["headroom_bytes"]):
            limit = f"cluster: {{base: dgx-a100-80gb, gpu: {{memory: {memory} B}}}}"
            plain.write_text(PLAN.replace("cluster: dgx-a100-80gb", limit))
            self.grid.write_text(GRID.replace("cluster: dgx-a100-80gb", limit))
            self.out.unlink(missing_ok=True)
            text = self.sweep().stdout
            row, = (row for row in rows_of(self.out) if row["schedule"] == "1f1b" and
                    (row["parallel.tensor"], row["parallel.pipeline"],
                     row["training.micro_batch"]) == ("2", "2", "4"))
            fits = memory >= reserved + whole["headroom_bytes"]
            self.assertEqual(row["fits"], "true" if fits else "false")
            self.assertEqual("the allocator reserves" in row["reason"], not fits)
            self.assertEqual(row["tight"], "true" if fits else "false")
            if fits:  # with nothing left, and among the fastest
                self.assertIn("0.00 GiB, cannot be told", text)
                self.assertEqual(row["memory_left_bytes"], "0")
                one_way = json.loads(self.done("simulate", plain, *one, "--json", "-").stdout)
                self.assertEqual(one_way["memory_left_bytes"], 0)
            self.ends(debubble("simulate", plain, *one), DONE if fits else NO,
                      says="" if fits else "the allocator reserves")
            best = max((row for row in rows_of(self.out) if row["fits"] == "true"),
                       key=lambda row: float(row["tokens_per_s"]))
            found = json.loads(self.done("search", self.grid, "--json", "-").stdout)
            self.assertEqual(found["point"], {key: best[key] for key in found["point"]})

    def test_shows_what_tells_plans_apart_as_simulate_does(self):
        text = self.sweep().stdout
        for title in ("MFU", "causal", "bubble", "exposed", "peak memory", "left", "unvalidated"):
            self.assertIn(title, table_after(text, "the best 10:")[0])
        plain = self.write("plain.yaml", PLAN)
        for row in [row for row in rows_of(self.out) if row["step_time_s"]][::7]:
            sets = [part for key in list(row)[:4] for part in ("--set", f"{key}={row[key]}")]
            one = json.loads(self.done("simulate", plain, *sets, "--json", "-").stdout)
            for key in ("exposed_comm_s", "optimizer_s", "idle_s"):
                mean = sum(rank[key] for rank in one["ranks"]) / len(one["ranks"])
                self.assertAlmostEqual(float(row[key]), mean, places=9)
            asked = max(rank["peak_memory_bytes"] for rank in one["ranks"])
            self.assertEqual(int(row["memory_left_of_requested_bytes"]),
                             one["memory_limit_bytes"] - one["headroom_bytes"] - asked)
            self.assertEqual(row["memory_left_bytes"], "")  # too little held to play an allocator
            for kind, time in one["communication"].items():
                for key in ("exposed_s", "hidden_s", "bytes"):
                    self.assertAlmostEqual(float(row[f"{kind}_{key}"]), time[key], places=9)
            said = " ".join(one["notes"])
            for feature in row["unvalidated"].split("; "):
                self.assertIn(feature, said)
            self.assertEqual("schedule zb-h1" in row["unvalidated"],
                             row["schedule"] == "zb-h1" and row["parallel.pipeline"] != "1")

    def test_marks_exactly_the_plans_that_no_other_beats(self):
        self.sweep()
        fitting = [row for row in rows_of(self.out) if row["fits"] == "true"]
        for row in fitting:
            def better(other):
                speed = float(other["tokens_per_s"]) - float(row["tokens_per_s"])
                memory = int(row["peak_memory_bytes"]) - int(other["peak_memory_bytes"])
                return speed >= 0 and memory >= 0 and (speed > 0 or memory > 0)
            self.assertEqual(row["pareto"] == "true", not any(map(better, fitting)), row)

    def test_shows_the_best_for_each_value_of_a_key(self):
        text = self.sweep("--by", "schedule").stdout
        table = table_after(text, "the best for each schedule:")[1:]
        rows = [row for row in rows_of(self.out) if row["fits"] == "true"]
        values = list(dict.fromkeys(row["schedule"] for row in rows))
        self.assertEqual(len(table), len(values))
        for line, value in zip(table, values):
            best = max(float(row["tokens_per_s"]) for row in rows if row["schedule"] == value)
            self.assertIn(value, line)
            self.assertIn(f"{best:.6g}", line)
        found = self.done("search", self.grid, "--by", "schedule", "--json",
                          self.folder / "by.json").stdout
        self.assertIn("best by tokens_per_s for each schedule:\n", found)
        plans = json.loads((self.folder / "by.json").read_text())["best"]
        self.assertEqual([plan["point"]["schedule"] for plan in plans], values)
        for plan in plans:
            best = max(float(row["tokens_per_s"]) for row in rows
                       if row["schedule"] == plan["point"]["schedule"])
            self.assertAlmostEqual(plan["prediction"]["tokens_per_s"] / best, 1, places=9)
        self.ends(debubble("search", self.grid, "--by", "schedul"), BAD_INPUT,
                  says="did you mean 'schedule'?")

    def test_leaves_schedules_out_that_the_software_lacks(self):
        self.grid.write_text(GRID.replace("gpus: 8", "gpus: 8\nframework: megatron-2026"))
        text = self.sweep().stdout
        for row in rows_of(self.out):
            if row["schedule"] in ("gpipe", "zb-h1") and row["parallel.tensor"] != "5":
                self.assertEqual(row["reason"], f"megatron-2026 has no {row['schedule']}")
                self.assertEqual(row["step_time_s"], "")
        self.assertIn("24 points ask for a schedule that the framework's software lacks", text)
        best = json.loads(self.done("search", self.grid, "--json", "-").stdout)
        self.assertIn("1f1b", best["point"]["schedule"])
        said = self.done("search", self.grid).stdout
        self.assertIn("24 of schedules that the framework's software lacks", said)
        self.ends(debubble("sweep", self.grid, "--out", self.out, "--any-schedule"), BAD_INPUT,
                  says="holds other results")
        self.out.unlink()
        self.assertNotIn("software lacks", self.sweep("--any-schedule").stdout)
        self.assertTrue(all(row["step_time_s"] for row in rows_of(self.out)
                            if row["schedule"] == "gpipe" and row["parallel.tensor"] != "5"))

    def test_gives_the_same_bytes_on_any_number_of_threads(self):
        self.sweep("-j", 1)
        first = self.out.read_bytes()
        self.out.unlink()
        self.sweep("-j", 3)
        self.assertEqual(self.out.read_bytes(), first)

    def test_shows_the_best_ten(self):
        text = self.sweep().stdout
        self.assertIn("the best 10:", text)
        best = max(float(r["tokens_per_s"]) for r in rows_of(self.out) if r["fits"] == "true")
        first = table_after(text, "the best 10:")[1]
        self.assertIn(f"{best:.6g}", first)

    def test_says_once_what_all_rows_share(self):
        text = self.sweep().stdout
        lines = text.split("the best 10:\n")[1].splitlines()
        best = sorted((row for row in rows_of(self.out) if row["fits"] == "true" and not row["twin_of"]),
                      key=lambda row: -float(row["tokens_per_s"]))[:10]
        shared = [key for key in list(best[0])[:4] if len({row[key] for row in best}) == 1]
        self.assertTrue(shared)
        self.assertEqual(lines[0], "all with " + ", ".join(f"{key} {best[0][key]}" for key in shared))
        for key in list(best[0])[:4]:
            self.assertEqual(key in lines[1], key not in shared, key)

    def test_writes_no_control_characters_where_there_is_no_terminal(self):
        result = self.sweep()
        self.assertNotIn("\r", result.stderr)
        self.assertNotIn("\033", result.stdout + result.stderr)

    def test_says_no_if_nothing_fits(self):
        self.grid.write_text(PLAN.replace("gpt2\n", "gpt3-175b\n") +
                             "sweep: {parallel.pipeline: [1, 2]}\n")
        self.sweep(code=NO)
        for row in rows_of(self.out):
            self.assertEqual(row["fits"], "false")
            self.assertTrue(row["reason"])


class Twins(SweepTest):
    """Points that make one plan. Equal step times alone do not: gpipe, 1f1b and chunks of one."""

    GRID = PLAN.replace("gpus: 8", "gpus: 2") + """\
sweep:
  parallel.sequence: [false, true]
  parallel.zero_stage: [0, 1, 2]
  training.recompute: [none, selective, full]
  schedule: [1f1b, seq-1f1b, gpipe, {name: interleaved-1f1b, stages_per_rank: 1}]
"""
    KEYS = ["parallel.sequence", "parallel.zero_stage", "training.recompute", "schedule"]

    def setUp(self):
        super().setUp()
        self.grid.write_text(self.GRID)

    def test_are_the_points_with_one_program_and_equal_figures(self):
        self.sweep()
        first = {}
        for row in rows_of(self.out):
            figures = tuple(value for key, value in row.items() if key not in
                            self.KEYS + ["plan", "twin_of", "pareto", "reason", "unvalidated"])
            self.assertIn(row["schedule_hash"], figures)
            original = first.setdefault(figures, row)
            named = dict(row)
            if row["twin_of"]:
                named.update(part.split("=") for part in row["twin_of"].split("; "))
            self.assertEqual([named[key] for key in self.KEYS],
                             [original[key] for key in self.KEYS])
            self.assertEqual(bool(row["twin_of"]), original is not row)
        plans = {(row["training.recompute"], row["schedule"]) for row in first.values()}
        self.assertEqual(len(first), 2 * 3)  # none and full; of the schedules one is 1f1b itself
        self.assertIn(("none", "1f1b"), plans)
        self.assertIn(("none", "gpipe"), plans)

    def test_are_neither_listed_nor_on_the_frontier_but_counted(self):
        text = self.sweep().stdout
        rows = rows_of(self.out)
        twins = [row for row in rows if row["twin_of"]]
        self.assertEqual(len(twins), 72 - 6)
        self.assertEqual({row["pareto"] for row in twins}, {"false"})
        self.assertIn("72 points: 72 fit", text)
        self.assertIn("66 of those that fit are duplicates of others", text)
        changed = sum("parallel.sequence=" in row["twin_of"] for row in twins)
        self.assertIn(f"parallel.sequence in {changed}", text)
        self.assertIn("the best 6:", text)

    def test_of_the_best_plan_are_what_search_names(self):
        self.sweep()
        rows = rows_of(self.out)
        found = json.loads(self.done("search", self.grid, "--json", "-").stdout)
        best, = (row for row in rows
                 if {key: row[key] for key in self.KEYS} == found["point"])
        self.assertEqual(best["twin_of"], "")
        equal = [row for row in rows if row is not best and
                 (row["schedule_hash"], row["step_time_s"], row["peak_memory_bytes"]) ==
                 (best["schedule_hash"], best["step_time_s"], best["peak_memory_bytes"])]
        self.assertEqual(len(found["twins"]), len(equal))
        for named, row in zip(found["twins"], equal):
            self.assertEqual(dict(part.split("=") for part in named.split("; ")),
                             {key: row[key] for key in self.KEYS if row[key] != best[key]})
        text = self.done("search", self.grid).stdout
        self.assertIn(f"the same plan: {found['twins'][0]}\n", text)
        self.assertIn(f"and {len(equal) - 3} more points that make the same plan", text)

    def test_are_found_in_a_sweep_that_was_interrupted(self):
        self.sweep()
        whole = self.out.read_bytes()
        self.out.write_bytes(b"".join(whole.splitlines(keepends=True)[:40]))
        self.sweep()
        self.assertEqual(self.out.read_bytes(), whole)


class PlacesOfMistakes(SweepTest):
    def test_stand_where_the_grid_has_them(self):
        self.grid.write_text(PLAN + "sweep:\n  parallel.tensr: [1, 2]\n"
                             "  schedule: [gpipe, 1f1bb, {name: gpipe, schedule: 2}]\n")
        stderr = self.ends(debubble("sweep", self.grid, "--out", self.out), BAD_INPUT).stderr
        self.assertIn("grid.yaml:8:3: error: unknown key 'tensr' of 'parallel'", stderr)
        self.assertIn("grid.yaml:9:21: error: unknown schedule '1f1bb'", stderr)
        self.assertIn("grid.yaml:9:28: error: unknown key 'schedule' of 'schedule'", stderr)
        self.assertNotIn("--set", stderr)

    def test_in_values_that_no_plan_can_have_stand_there_too(self):
        self.grid.write_text(PLAN + "sweep:\n  cluster.gpu.memory: [40 GiB, 80 gib]\n"
                             "  training.micro_batch: [1, 4, 2x, -2]\n  parallel: [{tensor: 0}]\n"
                             "  parallel.sequence: [yes]\n  training.seq_length: {from: 512, to: 1024, factor: 1.3}\n")
        stderr = self.ends(debubble("sweep", self.grid, "--out", self.out), BAD_INPUT).stderr
        self.assertIn("grid.yaml:8:32: error: 'memory': ", stderr)
        self.assertIn("grid.yaml:9:32: error: 'micro_batch' must be a whole number, not '2x'", stderr)
        self.assertIn("grid.yaml:9:36: error: 'micro_batch' must be at least 1, not -2", stderr)
        self.assertIn("grid.yaml:10:14: error: 'tensor' must be at least 1, not 0", stderr)
        self.assertIn("grid.yaml:11:23: error: 'sequence' must be true or false, not 'yes'", stderr)
        self.assertIn("grid.yaml:12:3: error: 'seq_length' must be a whole number, not '665.6'", stderr)
        self.assertNotIn("--set", stderr)
        self.assertEqual(self.left_behind(), ["grid.yaml"])

    def test_of_keys_that_set_the_same(self):
        for sweep, says in [
            ("  sweep: [1]\n", "8:3: error: a grid cannot sweep 'sweep', which is the grid itself"),
            ("  include: [a, b]\n", "8:3: error: a grid cannot sweep 'include', which is read before its points"),
            ("  parallel: [{tensor: 1}, {tensor: 2}]\n  parallel.tensor: [4]\n",
             "9:3: error: 'parallel.tensor' is swept twice: values of 'parallel' give it too"),
            ("  parallel.tensor: [4]\n  parallel: [{pipeline: 1}]\n",
             "9:3: error: 'parallel' replaces what 'parallel.tensor' sets: sweep it before 'parallel.tensor'"),
        ]:
            with self.subTest(says):
                self.grid.write_text(PLAN + "sweep:\n" + sweep)
                self.sweep(code=BAD_INPUT, says="grid.yaml:" + says)
        self.grid.write_text(PLAN + "sweep:\n  parallel: [{pipeline: 1}, {pipeline: 2}]\n  parallel.tensor: [1, 2]\n")
        self.sweep()
        self.assertEqual(len(rows_of(self.out)), 4)

    def test_of_conditions_without_a_value(self):
        self.grid.write_text(GRID + "  where: [parallel.pipeline > 0, 8 / (parallel.tensor - 1) > 2]\n")
        self.sweep(code=BAD_INPUT, says="grid.yaml:12:34: error: 8 / 0 has no value where parallel.tensor is 1")


class Resuming(SweepTest):
    def test_a_finished_sweep_does_nothing(self):
        self.sweep()
        before = self.out.read_bytes(), self.out.stat().st_mtime_ns
        self.assertIn("72 points were already in", self.sweep().stderr)
        self.assertEqual((self.out.read_bytes(), self.out.stat().st_mtime_ns), before)

    def test_goes_on_after_every_possible_tear(self):
        self.sweep()
        whole = self.out.read_bytes()
        rows = whole.splitlines(keepends=True)
        head = sum(map(len, rows[:5]))
        for cut in [0, 1, len(rows[0]) - 1, len(rows[0]), *range(head, head + len(rows[5]), 17)]:
            with self.subTest(cut=cut):
                self.out.write_bytes(whole[:cut])
                self.sweep()
                self.assertEqual(self.out.read_bytes(), whole)

    def test_finds_rows_in_any_order_and_ignores_repeated_ones(self):
        self.sweep()
        whole = self.out.read_bytes()
        header, *rows = whole.splitlines(keepends=True)
        self.out.write_bytes(header + b"".join(rows[40:3:-1]) + rows[4] + rows[5])
        self.sweep()
        self.assertEqual(self.out.read_bytes(), whole)

    def test_takes_a_grid_that_has_grown(self):
        self.sweep()
        self.grid.write_text(GRID.replace("[1, 4]", "[1, 4, 8]"))
        self.assertIn("72 points were already", self.sweep().stderr)
        grown = self.out.read_bytes()
        self.out.unlink()
        self.sweep()
        self.assertEqual(self.out.read_bytes(), grown)

    def test_refuses_rows_of_another_scenario_whose_checked_points_are_the_same(self):
        grid = PLAN.replace("gpus: 8", "gpus: 2\nframework: {base: megatron-2024}") + """\
sweep:
  parallel.pipeline: [2, 1]
  parallel.zero_stage: [0, 1]  # matters with replicas only: of the points, to the last one
"""
        self.grid.write_text(grid)
        self.sweep()
        before = self.out.read_bytes()
        waits = "framework.overlap_param_gather=false"
        says = "what --set says has changed since they were made; remove the file"
        for _ in range(2):
            self.sweep("--set", waits, code=BAD_INPUT, says=says)
        self.grid.write_text(grid.replace("megatron-2024", "megatron-2024, overlap_param_gather: false"))
        self.sweep(code=BAD_INPUT, says="the scenario has changed since")
        self.assertEqual(self.out.read_bytes(), before)
        self.grid.write_text(grid)
        self.assertIn("4 points were already in", self.sweep().stderr)
        self.out.unlink()
        self.sweep("--set", waits)
        self.assertNotEqual(self.out.read_bytes(), before)
        self.sweep("--set", waits)

    def test_checks_rows_that_say_nothing_of_their_scenario_by_some_of_them(self):
        self.sweep()
        (self.folder / "results.csv.scenario").unlink()
        self.assertIn("72 points were already in", self.sweep().stderr)
        self.grid.write_text(GRID.replace("seq_length: 1024", "seq_length: 512"))
        self.sweep(code=BAD_INPUT, says="has changed")

    def test_does_not_write_to_standard_output(self):
        self.ends(debubble("sweep", self.grid, "--out", "-"), BAD_INPUT, says="name a file")
        self.assertEqual(self.left_behind(), ["grid.yaml"])

    def test_refuses_what_is_not_its_own(self):
        self.sweep()
        cases = [
            (GRID.replace("parallel.pipeline: [1, 2, 4]", "training.seq_length: [512]"),
             "holds other results: its columns are"),
            (GRID.replace("[1, 2, 5]", "[1, 2]"), "the point 5, 1, 1, gpipe is not in this grid"),
            (GRID.replace("seq_length: 1024", "seq_length: 512"), "has changed"),
        ]
        before = self.out.read_bytes()
        for text, says in cases:
            with self.subTest(says):
                self.grid.write_text(text)
                self.sweep(code=BAD_INPUT, says=says)
                self.assertEqual(self.out.read_bytes(), before)
        for content in ["something else\n", "a,b\n1,2\n", "\x00" * 50, '"' * 31 + "\n"]:
            with self.subTest(content):
                self.out.write_text(content)
                self.sweep(code=BAD_INPUT, says="holds other results")
                self.assertEqual(self.out.read_text(), content)

    def test_ctrl_c_ends_in_order_and_the_next_run_goes_on(self):
        self.sweep()
        whole = self.out.read_bytes()
        self.out.unlink()
        process = subprocess.Popen([PROGRAM, "sweep", self.grid, "--out", self.out, "-j", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not self.out.exists() or self.out.read_bytes().count(b"\n") < 3:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        if process.returncode != 0:  # else it was done before the signal came
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertIn("the same command continues from there", stderr)
            self.assertEqual(stdout, "")
            self.assertTrue(self.out.read_bytes().endswith(b"\n"))
        self.sweep()
        self.assertEqual(self.out.read_bytes(), whole)

    def test_two_at_once_do_not_write_one_file(self):
        import fcntl
        with open(self.out, "wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.sweep(code=WORLD, says="another sweep is writing it")


class Search(SweepTest):
    OBJECTIVES = {"tokens_per_s": ("tokens_per_s", max), "mfu": ("mfu", max),
                  "step_time_s": ("step_time_s", min), "peak_memory": ("peak_memory_bytes", min)}

    def test_finds_the_winner_of_the_full_sweep(self):
        tight = GRID.replace("cluster: dgx-a100-80gb",
                             "cluster: {base: dgx-a100-80gb, gpu: {memory: 6 GiB}}")
        for text in (GRID, tight, GRID.replace("model: gpt2\n", "model: gpt2-xl-colossal\n")):
            self.grid.write_text(text)
            self.out.unlink(missing_ok=True)
            self.sweep()
            fitting = [row for row in rows_of(self.out) if row["fits"] == "true"]
            for objective, (key, best_of) in self.OBJECTIVES.items():
                with self.subTest(objective, grid=text):
                    best = best_of(fitting, key=lambda row: float(row[key]))  # the first of equals
                    found = json.loads(self.done("search", self.grid, "--objective", objective,
                                                 "--json", "-").stdout)
                    self.assertEqual(found["point"], {k: best[k] for k in found["point"]})
                    self.assertEqual(len(found["point"]), 4)
                    self.assertLess(found["predicted"], found["points"])

    def test_of_llama3_70b_on_64_h100_agrees_with_the_plan_that_nvidia_publishes(self):
        # Megatron-Bridge, LLAMA3_70B_PRETRAIN_CONFIG_H100_BF16_V2: TP 4, PP 4, CP 2, 5 chunks.
        published = json.loads(self.done("simulate", "llama3-70b-sweep", "--json", "-").stdout)
        found = json.loads(self.done("search", "llama3-70b-sweep", "--json", "-").stdout)
        best = found["prediction"]
        self.assertLessEqual(published["step_time_s"], 1.01 * best["step_time_s"])
        point = {key: found["point"][f"parallel.{key}"] for key in ("tensor", "pipeline",
                                                                    "context")}
        self.assertEqual(point, {"tensor": "4", "pipeline": "4", "context": "2"})
        self.assertIn("interleaved-1f1b", found["point"]["schedule"])
        self.assertFalse(best["tight"])

    def test_says_no_if_nothing_fits(self):
        self.grid.write_text(PLAN.replace("gpt2\n", "gpt3-175b\n") +
                             "sweep: {parallel.pipeline: [1, 2]}\n")
        self.ends(debubble("search", self.grid), NO, says="no plan of the grid fits")

    def test_says_where_the_plan_as_it_is_written_is_beyond_the_made_grid(self):
        """V-Min holds half of the activations of what the grid tries, and alone fits."""
        self.grid.write_text("model: gpt2-xl\ncluster: {base: dgx-a100-80gb, gpu: {memory: 30 GiB}}\ngpus: 4\n"
                             "parallel: {tensor: 1, pipeline: 4, data: 1, zero_stage: 1}\nschedule: v-min\n"
                             "training: {global_batch: 128, micro_batch: 8, seq_length: 1024, precision: bf16}\n"
                             "framework: pytorch-eager\n")
        held = [word for key in ("parallel.tensor=1", "parallel.pipeline=4", "training.recompute=none",
                                 "training.micro_batch=8") for word in ("--set", key)]
        self.ends(debubble("simulate", self.grid, *held), DONE)
        self.ends(debubble("search", self.grid, *held), NO, says="as it is written, the scenario takes ")
        self.assertNotIn("as it is written", debubble("search", self.grid).stdout)


class Layouts(SweepTest):
    TIGHT = ["--set", "cluster.gpu.memory=4 GiB"]

    def layouts(self, *more, code=DONE):
        plan = self.write("plan.yaml", PLAN)
        json_file = self.folder / "layouts.json"
        said = self.ends(debubble("search", plan, "--layouts", "--json", json_file, *more), code)
        return said.stdout, json.loads(json_file.read_text())

    def test_show_the_best_beside_the_uniform_and_the_balanced_one(self):
        said, found = self.layouts()
        self.assertTrue(found["fits"])
        self.assertEqual([row["name"] for row in found["layouts"]], ["uniform", "balanced", "best"])
        steps = {row["name"]: row["step_time_s"] for row in found["layouts"]}
        self.assertLessEqual(steps["balanced"], steps["uniform"])
        self.assertLessEqual(steps["best"], steps["balanced"])
        self.assertEqual(said.count("debubble simulate"), 1)

    def test_of_which_none_fits_are_the_fastest_and_the_smallest(self):
        said, found = self.layouts(*self.TIGHT, code=NO)
        self.assertFalse(found["fits"])
        rows = {row["name"]: row for row in found["layouts"]}
        self.assertEqual(list(rows), ["uniform", "balanced", "fastest", "smallest"])
        self.assertFalse(any(row["fits"] for row in rows.values()))
        for key, name in (("step_time_s", "fastest"), ("peak_memory_bytes", "smallest")):
            self.assertEqual(min(row[key] for row in rows.values()), rows[name][key])
        self.assertIn("no cut fits: the smallest exceeds the memory by ", said)
        for name in ("fastest", "smallest"):
            layers = ", ".join(map(str, rows[name]["layers_per_stage"]))
            self.assertIn(f"--set 'parallel.partition=[{layers}]'", said)
        self.assertNotIn("best", said.replace("best one", ""))


class Mistakes(SweepTest):
    def test_get_a_sentence_and_exit_code_2(self):
        for text, more, says in [
            (PLAN, [], "has no grid"),
            (GRID, ["--set", "schedule=gpipe"], "the grid sweeps this key"),
            (GRID, ["--set", "nonsense"], "nonsense"),
            (GRID.replace("parallel.tensor:", "parallel.tensr:"), [], "did you mean 'tensor'?"),
            (GRID.replace("zb-h1", "zb-h11"), [], "did you mean 'zb-h1'?"),
            (GRID, ["-j", "0"], "--jobs"),
        ]:
            with self.subTest(says):
                self.grid.write_text(text)
                self.sweep(*more, code=BAD_INPUT, says=says)
                self.assertEqual(self.left_behind(), ["grid.yaml"])

    def test_of_the_objective_are_told(self):
        for days in ["0", "-1", "nan", "soon"]:
            self.ends(debubble("search", self.grid, "--tokens", "1B", "--days", days), BAD_INPUT,
                      says=f"'{days}' is not a number from 0.001 to 1000000")
        self.ends(debubble("search", self.grid, "--objective", "token_per_s"), BAD_INPUT,
                  says="did you mean 'tokens_per_s'?")


if __name__ == "__main__":
    unittest.main()
