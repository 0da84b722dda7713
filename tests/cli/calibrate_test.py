"""`debubble calibrate`: this machine as a cluster file."""

import json
import unittest

from program import BAD_INPUT, WORLD, ProgramTest, debubble, why_no_gpu

SCENARIO = """
model: {name: tiny, family: gpt2, layers: 2, hidden: 16, heads: 2, vocab: 260, max_positions: 16,
        dropout: 0}
cluster: this-machine
gpus: 2
parallel: {pipeline: 2}
schedule: 1f1b
framework: debubble
training: {global_batch: 4, micro_batch: 1, seq_length: 16, precision: fp32, data: {text: TEXT}}
"""


class Calibrate(ProgramTest):
    def setUp(self):
        super().setUp()
        text = self.write("text.txt", "one two three four five six seven. " * 40)
        self.scenario = self.write("tiny.yaml", SCENARIO.replace("TEXT", str(text)))

    def calibrate(self, *options):
        return debubble("calibrate", "--scenario", self.scenario, "--steps", 10, *options)

    def test_writes_a_cluster_that_prices_the_scenario_and_knows_its_peak(self):
        here = self.folder / "here.yaml"
        told = self.ends(self.calibrate("--out", here, "--threads", 1), 0).stdout
        self.assertIn("measuring tiny: gpipe on 2 ranks, 4 microbatches\n", told)
        self.assertTrue(told.endswith(f"wrote {here}; debubble simulate SCENARIO --set "
                                      f"cluster={here} --set framework=debubble\n"), told)
        lines = here.read_text().splitlines()
        self.assertEqual(lines[:3], ["schema: debubble/cluster", "version: 1", 'name: "here"'])
        self.assertRegex(lines[3], r"^source: \"debubble calibrate --device cpu: .* kernels, "
                                   r"1 thread per rank, 2 ranks as threads at once; ")
        for key in ["gpu:", "  threads: 1", "node_link:", "network:", "origins:",
                    "  - provenance: measured", "measured:", "  operators:",
                    "      part: backward_input", "      part: backward_weight"]:
            self.assertIn(key, lines)

        sets = ["--set", f"cluster={here}"]
        predicted = json.loads(
            self.done("simulate", self.scenario, *sets, "--json", "-").stdout)
        sources = {row["source"] for row in predicted["provenance"] if row["origin"] == "measured"}
        self.assertTrue(any("debubble calibrate" in source or "1 thread per rank" in source
                            for source in sources), predicted["provenance"])
        self.assertNotIn("not measured", " ".join(map(str, predicted["notes"])))
        executed = json.loads(self.done("run", self.scenario, *sets, "--steps", 2, "--threads", 1,
                                        "--json", "-").stdout)
        self.assertGreater(executed["mfu"], 0)
        self.assertEqual(executed["provenance"][1]["origin"], "measured")
        self.assertIn("of cluster 'here'", executed["provenance"][1]["source"])

    def test_takes_a_learning_rate_whose_end_the_data_would_say(self):
        rate = "training.lr_schedule={name: cosine, warmup_steps: 1000}"
        self.ends(self.calibrate("--out", self.folder / "here.yaml", "--threads", 1, "--set", rate,
                                 "--set", "training.epochs=3"), 0)

    def report_of(self, hidden, *options):
        """What a training of two ranks that saves, or goes on, says of it."""
        out = self.folder / "report.json"
        saves = self.folder / f"saves-{hidden}"
        self.done("run", self.scenario, "--set", f"model.hidden={hidden}", "--set",
                  f"training.checkpoint={{dir: {saves}, every: 2, keep: 1}}", "--threads", 1, *options, "--json", out)
        kept = self.folder / f"report-{len(list(self.folder.glob('report-*')))}.json"
        kept.write_text(out.read_text())
        return kept

    def test_takes_saves_loads_and_starts_from_what_runs_measured(self):
        first = self.report_of(16, "--steps", 4, "--resume", "never")
        second = self.report_of(16, "--steps", 6, "--resume", "auto")
        large = self.report_of(256, "--steps", 4, "--resume", "never")
        overheads = [json.loads(file.read_text())["overheads"] for file in (first, second, large)]
        self.assertEqual([one["saves"] for one in overheads], [2, 1, 2])
        self.assertIsNone(overheads[0]["loaded_bytes"])
        self.assertEqual(overheads[1]["loaded_bytes"], overheads[0]["saved_bytes"])
        self.assertGreater(overheads[2]["saved_bytes"], 10 * overheads[0]["saved_bytes"])
        self.assertGreater(overheads[0]["start_s"], 0.01)

        here = self.folder / "here.yaml"
        told = self.ends(debubble("calibrate", "--run", first, second, large, "--scenario", self.scenario,
                                  "--out", here), 0).stdout
        self.assertRegex(told, r"a start takes .*; saves at .* GB/s and .* each; loads at .* GB/s \(of one size")
        self.assertIn("reliability: {checkpoint: {write_bandwidth:", here.read_text())
        run = json.loads(self.done("simulate", self.scenario, "--set", f"cluster={here}", "--set",
                                   "training.tokens=1B", "--set", "reliability.failures_per_job_day=24",
                                   "--json", "-").stdout)["run"]
        starts = sorted(one["start_s"] for one in overheads)
        self.assertAlmostEqual(run["restart_s"] - run["checkpoint"]["load_s"], starts[1], delta=1e-4)
        self.assertAlmostEqual(run["checkpoint"]["load_s"],
                               run["checkpoint"]["bytes"] / overheads[1]["loaded_bytes"] * overheads[1]["load_s"],
                               delta=0.01 * run["checkpoint"]["load_s"])

        alone = self.ends(debubble("calibrate", "--run", first, "--scenario", self.scenario, "--out", here), 0)
        self.assertIn("a fixed time cannot be told", alone.stdout)
        self.assertIn("no run went on after one (--resume)", alone.stdout)

    def test_says_which_report_of_a_run_is_none(self):
        here = self.folder / "here.yaml"
        for text, says in [
            ("{}", "this is no report of 'debubble run --json'"),
            ("[1]", "map"),
            ('{"overheads": {"load_s": 1}}', "'start_s' is missing"),
            ('{"overheads": {"start_s": -1}}', "'start_s'"),
            ('{"overheads": {"start_s": 1, "save_s": 1, "saved_bytes": 0}}', "'saved_bytes'"),
            ("{", "report.json:1"),
        ]:
            with self.subTest(text):
                report = self.write("report.json", text)
                self.ends(debubble("calibrate", "--run", report, "--scenario", self.scenario, "--out", here),
                          BAD_INPUT, says=says)
                self.assertFalse(here.exists())
        self.ends(debubble("calibrate", "--run", self.folder / "none.json", "--scenario", self.scenario, "--out", here),
                  BAD_INPUT, says="none.json")

    def test_mistakes_get_a_sentence_and_nothing_is_written(self):
        before = self.left_behind()
        out = ["--out", self.folder / "here.yaml"]
        for options, code, says in [
            ([], BAD_INPUT, "--out is required"),
            ([*out, "--device", "tpu"], BAD_INPUT, "--device is 'tpu'; it can be cpu or cuda"),
            ([*out, "--device", "cuda"], WORLD, why_no_gpu()),
            ([*out, "--steps", "5"], BAD_INPUT, "--steps"),
            ([*out, "--threads", "0"], BAD_INPUT, "--threads"),
            ([*out, "--ranks", "0"], BAD_INPUT, "--ranks"),
            ([*out, "--deadline", "0"], BAD_INPUT, "--deadline"),
            ([*out, "--deadline", "nan"], BAD_INPUT, "'nan' is not a number from 0.001 to 1000000"),
            ([*out, "--kernels", "magic"], BAD_INPUT, "magic"),
            ([*out, "--scenario", "nobodys"], BAD_INPUT, "unknown scenario 'nobodys'"),
            ([*out, "--ranks", "7"], BAD_INPUT, "7"),
            ([*out, "--set", "seq_length"], BAD_INPUT, "--set takes key=value"),
            ([*out, "--set", "training.sequence=8"], BAD_INPUT, "unknown key 'sequence'"),
            ([*out, "--set", "parallel.zero_stage=3"], BAD_INPUT, "calibrate with 0, 1 or 2"),
            ([*out, "--outt", "x"], BAD_INPUT, "did you mean '--out'?"),
            (["--out", self.folder], BAD_INPUT, "is a folder; --out names a file"),
        ]:
            with self.subTest(options):
                self.ends(self.calibrate(*options), code, says=says)
                self.assertEqual(self.left_behind(), before)


if __name__ == "__main__":
    unittest.main()
