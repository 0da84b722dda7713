"""The Python package beside the command line: the same figures, the same words, and nothing shared between threads."""

import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import debubble as db

PROGRAM = os.environ["DEBUBBLE_PROGRAM"]
PLAN = {
    "model": "gpt2",
    "cluster": "dgx-a100-80gb",
    "gpus": 8,
    "parallel": {"tensor": 1, "pipeline": 2, "data": "auto"},
    "schedule": "1f1b",
    "training": {"global_batch": 64, "micro_batch": 2, "seq_length": 1024},
}
GRID = {"parallel.pipeline": [1, 2, 5], "training.micro_batch": [1, 4], "schedule": ["gpipe", "zb-h1"]}


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class Predictions(unittest.TestCase):
    def test_are_those_of_the_command_line(self):
        for name in ("gpt2-xl", "gpt2-xl-zb-v", "gpt3-175b"):
            said = json.loads(program("simulate", name, "--json", "-").stdout)
            self.assertEqual(db.simulate(name).step_time, said["step_time_s"])
            got = db.simulate(name, trace=True)
            for key, value in said.items():
                self.assertEqual(got.raw[key], value, key)
            self.assertEqual(got.step_time, said["step_time_s"])
            self.assertEqual(got.mfu, said["mfu"])
            for rank, row in zip(got.ranks, said["ranks"]):
                self.assertAlmostEqual(rank.busy + rank.exposed + rank.optimizer + rank.idle, got.step_time, places=6)
                self.assertEqual(rank.peak_memory, row["peak_memory_bytes"])

    def test_take_keys_as_a_scenario_does(self):
        said = json.loads(
            program("simulate", "gpt2-xl-1f1b", "--set", "parallel.zero_stage=1", "--set",
                    "schedule={name: zb-auto, memory_limit: [3, 4, 3, 2]}", "--set", "cluster.gpu.memory=40 GiB", "--json",
                    "-").stdout)
        got = db.simulate("gpt2-xl-1f1b", parallel={"zero_stage": 1}, cluster={"gpu": {"memory": "40 GiB"}},
                          schedule={"name": "zb-auto", "memory_limit": [3, 4, 3, 2]})
        self.assertEqual(got.step_time, said["step_time_s"])

    def test_take_dictionaries_texts_and_paths(self):
        of_map = db.simulate(PLAN)
        text = json.dumps(PLAN, indent=1)
        self.assertEqual(db.simulate(text).step_time, of_map.step_time)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.yaml"
            path.write_text(text)
            self.assertEqual(db.simulate(path).step_time, of_map.step_time)
            self.assertEqual(db.simulate(str(path)).step_time, of_map.step_time)

    def test_of_an_anchor_and_of_a_bill(self):
        got = db.simulate(PLAN, bill=True, anchor="5,000 tps")
        self.assertAlmostEqual(got.raw["anchored"]["tokens_per_s"], 5000 * 8, delta=1)
        parts = got.raw["bill"]
        self.assertTrue(parts)

    def test_show_themselves(self):
        got = db.simulate(PLAN, name="a <b> plan")
        self.assertIn("a <b> plan", repr(got))
        shown = got._repr_html_()
        self.assertTrue(shown.startswith("<iframe srcdoc="))
        self.assertNotIn("<b>", shown)


class Mistakes(unittest.TestCase):
    def test_have_the_words_and_the_places_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.yaml"
            path.write_text("model: gpt2\nclustr: dgx-a100-80gb\ntraining: {micro_batch: none}\n")
            with self.assertRaises(db.InputError) as raised:
                db.simulate(path)
            said = program("simulate", str(path)).stderr
        self.assertIn(str(raised.exception), said)
        lines = {(place.line, place.column) for place in raised.exception.places}
        self.assertIn((2, 1), lines)
        self.assertTrue(any(place.source_line.startswith("training") for place in raised.exception.places))
        self.assertIsInstance(raised.exception, ValueError)

    def test_of_values_and_names(self):
        for wrong in (
            lambda: db.simulate("gpt2-xxl"),
            lambda: db.simulate("gpt2-xl", parallel={"tensor": "many"}),
            lambda: db.simulate({"model": "gpt2", "gpus": {}}),
            lambda: db.sweep(PLAN, {"parallel.tensr": [1]}),
            lambda: db.sweep(PLAN, {"parallel.tensor": []}),
            lambda: db.search(PLAN, GRID, objective="beauty"),
            lambda: db.model("nonsense"),
            lambda: db.schedule("zb-h9", ranks=4),
            lambda: db.schedule("zb-h1", ranks=-4),
            lambda: db.import_job("/nowhere/run.sh"),
            lambda: db.read_trace("/nowhere/trace.json"),
            lambda: db.validate("0F0,0B0,\x00\n"),
        ):
            with self.assertRaises(db.InputError):
                wrong()


class Timelines(unittest.TestCase):
    def test_have_the_seconds_of_the_ranks(self):
        got = db.simulate("gpt2-xl-zb-v")
        table = got.timeline()
        self.assertEqual(set(table["lane"]) - {"compute", "send", "recv", "collective", "copy"}, set())
        for rank in got.ranks:
            busy = sum(end - begin - exposed
                       for of, lane, action, begin, end, exposed in zip(
                           table["rank"], table["lane"], table["action"], table["begin_ns"], table["end_ns"],
                           table["exposed_ns"])
                       if of == rank.rank and lane == "compute" and action == "compute")
            self.assertAlmostEqual(busy / 1e9, rank.busy, places=6)
        passes = [row for row in table.to_dicts() if row["pass"]]
        self.assertEqual({row["pass"] for row in passes}, {"F", "I", "W"})
        self.assertTrue(all(row["microbatch"] >= 0 for row in passes))

    def test_a_pair_is_two_rows_of_equal_times(self):
        table = db.simulate("gpt2-xl-dualpipe-v").timeline()
        pairs = [row for row in table.to_dicts() if row["action"] == "overlap"]
        self.assertTrue(pairs)
        self.assertEqual(len(pairs) % 2, 0)
        for first, second in zip(pairs[::2], pairs[1::2]):
            self.assertEqual((first["rank"], first["begin_ns"], first["end_ns"]),
                             (second["rank"], second["begin_ns"], second["end_ns"]))
            self.assertEqual((first["pass"], second["exposed_ns"]), ("F", 0))

    def test_memory_reaches_the_peak(self):
        got = db.simulate("gpt2-xl-1f1b", trace=True)
        for rank in got.ranks:
            table = got.memory(rank=rank.rank)
            classes = [name for name in table if name != "at_ns"]
            most = max(sum(values) for values in zip(*(table[name] for name in classes)))
            self.assertLessEqual(abs(most - rank.peak_memory), 0.02 * rank.peak_memory)
            self.assertEqual(list(table["at_ns"]), sorted(table["at_ns"]))


class Grids(unittest.TestCase):
    def test_have_the_rows_of_the_command_line(self):
        table = db.sweep(PLAN, GRID)
        self.assertEqual(table.rows, 12)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.yaml"
            path.write_text(json.dumps({**PLAN, "sweep": GRID}))
            out = pathlib.Path(folder) / "rows.csv"
            self.assertEqual(program("sweep", str(path), "--out", str(out)).returncode, 0)
            with open(out, newline="") as file:
                said = list(csv.DictReader(file))
        for row, text in zip(table.to_dicts(), said):
            self.assertEqual(row["fits"], text["fits"] == "true")
            self.assertEqual(str(row["parallel.pipeline"]), text["parallel.pipeline"])
            self.assertEqual(row["step_time_s"], float(text["step_time_s"]) if text["step_time_s"] else None)
            if row["step_time_s"] is None:
                self.assertTrue(row["reason"])

    def test_continue_from_their_file_and_stop_where_they_are_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.csv"
            with self.assertRaises(db.Stopped):
                db.sweep(PLAN, GRID, out=out, jobs=1, progress=lambda done, total: done < 3)
            kept = len(out.read_text().splitlines()) - 1
            self.assertLess(kept, 12)
            seen = []
            table = db.sweep(PLAN, GRID, out=out, jobs=1, progress=lambda done, total: seen.append((done, total)))
            self.assertEqual(table.rows, 12)
            self.assertEqual(seen[-1], (12, 12))
            self.assertLessEqual(len(seen), 12 - kept + 1)

    def test_an_error_of_the_progress_comes_through(self):
        class Mine(Exception):
            pass

        def fail(done, total):
            raise Mine(done)

        with self.assertRaises(Mine):
            db.sweep(PLAN, GRID, progress=fail)

    def test_the_best_is_that_of_the_whole_sweep(self):
        found = db.search(PLAN, GRID)
        rows = [row for row in db.sweep(PLAN, GRID).to_dicts() if row["fits"]]
        best = max(rows, key=lambda row: row["tokens_per_s"])
        self.assertEqual(found.best.tokens_per_s, best["tokens_per_s"])
        self.assertEqual({key: best[key] for key in found.point}, dict(found.point))
        again = db.simulate(PLAN, **{key: value for key, value in found.point.items()})
        self.assertEqual(again.step_time, found.best.step_time)
        self.assertEqual(found.best.timeline().rows, again.timeline().rows)
        self.assertLess(db.search(PLAN, GRID, objective="peak_memory").best.peak_memory, found.best.peak_memory + 1)

    def test_a_measured_step_corrects_every_plan(self):
        own = db.simulate(PLAN)
        line = f"{own.tokens_per_s / 8 / 2:.3f} tps"  # of a step twice as long
        for log in (line, [line]):
            plain, corrected = db.sweep(PLAN, GRID).to_dicts(), db.sweep(PLAN, GRID, anchor=log).to_dicts()
            self.assertEqual(len(plain), len(corrected))
            for before, after in zip(plain, corrected):
                if before["step_time_s"] is not None:
                    self.assertAlmostEqual(after["step_time_s"] / before["step_time_s"], 2, delta=1e-3)
        found = db.search(PLAN, GRID, anchor=line)
        self.assertEqual(dict(found.point), dict(db.search(PLAN, GRID).point))
        self.assertAlmostEqual(found.best.raw["anchored"]["step_time_s"] / found.best.step_time, 2, delta=1e-3)

    def test_a_grid_that_nothing_fits_has_no_best(self):
        found = db.search("gpt3-175b", {"parallel.pipeline": [1]}, parallel={"tensor": 1}, gpus=8)
        self.assertIsNone(found.best)


class Threads(unittest.TestCase):
    def test_share_nothing(self):
        names = ["gpt2-xl", "gpt2-xl-zb-v", "gpt2-xl-1f1b", "gpt3-175b"] * 4
        alone = {name: db.simulate(name, trace=True).raw for name in set(names)}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for name, raw in zip(names, pool.map(lambda name: db.simulate(name, trace=True).raw, names)):
                self.assertEqual(raw, alone[name])


class Others(unittest.TestCase):
    def test_schedules_are_those_of_the_command_line(self):
        said = program("schedule", "--name", "zb-h1", "--ranks", "4", "--micro-batches", "8", "--format", "csv").stdout
        got = db.schedule("zb-h1", ranks=4, micro_batches=8)
        self.assertEqual(got.csv, said)
        self.assertTrue(db.validate(got))
        self.assertEqual(len(got.rows()), 4)
        self.assertIn("<svg", got._repr_html_())
        verdict = db.validate(db.schedule("dualpipe-v", ranks=2, micro_batches=4))
        self.assertTrue(verdict.valid)
        self.assertIn("own", verdict.transports)

    def test_an_order_that_waits_for_itself_is_none(self):
        verdict = db.validate("0B0,0F0\n1F0,1B0\n")
        self.assertFalse(verdict)
        self.assertTrue(verdict.violations)

    def test_models(self):
        got = db.model("llama3-8b", stages=2)
        self.assertEqual(got.parameters, 8_030_261_248)
        self.assertEqual(got.active_parameters, got.parameters)
        self.assertEqual(set(got.layers()["stage"]), {0, 1})

    def test_plans_are_compared_part_by_part(self):
        a, b = db.simulate("gpt2-xl-1f1b"), db.simulate("gpt2-xl-zb-v")
        rows = {row["figure"]: row for row in db.compare(a, b).to_dicts()}
        self.assertAlmostEqual(rows["step_time_s"]["difference"], b.step_time - a.step_time)
        parts = sum(rows[part]["a"] for part in ("busy_s", "exposed_comm_s", "optimizer_s", "idle_s"))
        self.assertAlmostEqual(parts, a.step_time, places=6)

    def test_files_are_those_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for option, ending in (("--svg", "svg"), ("--csv", "csv"), ("--trace", "trace.json"), ("--html", "html")):
                said, got = pathlib.Path(folder) / f"said.{ending}", pathlib.Path(folder) / f"got.{ending}"
                program("simulate", "gpt2-xl-1f1b", option, str(said))
                db.simulate("gpt2-xl-1f1b").save(got)
                self.assertEqual(got.read_bytes(), said.read_bytes(), option)
            with self.assertRaises(db.InputError):
                db.simulate("gpt2-xl-1f1b").save(pathlib.Path(folder) / "a.gif")
            with self.assertRaises(db.WorldError):
                db.simulate("gpt2-xl-1f1b").save("/proc/nowhere/a.svg")

    def test_traces_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.trace.json"
            db.simulate("gpt2-xl-1f1b").save(path)
            got = db.read_trace(path)
        self.assertEqual(list(got.timeline()["begin_ns"]), list(db.simulate("gpt2-xl-1f1b").timeline()["begin_ns"]))

    def test_tables_are_frames_where_there_are_such(self):
        table = db.simulate("gpt2-xl").timeline()
        self.assertEqual(len(table.to_csv().splitlines()), table.rows + 1)
        try:
            import pandas
        except ImportError:
            return
        frame = table.to_pandas()
        self.assertEqual(frame.shape, (table.rows, len(table)))
        self.assertEqual(pandas.api.interchange.from_dataframe(table).shape, frame.shape)


if __name__ == "__main__":
    unittest.main()
