"""What a shell asks: lists, completion, the manual, and how much is said."""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import unittest

from program import BAD_INPUT, PROGRAM, ProgramTest, debubble

SOURCES = pathlib.Path(__file__).resolve().parents[2]
TALES = ["tales", "tales-deepseek", "tales-experts", "tales-qwen3"]  # shipped scenarios


class Lists(ProgramTest):
    FOLDERS = {"scenarios": "scenarios", "models": "models/zoo", "clusters": "scenarios/clusters",
               "frameworks": "scenarios/frameworks"}

    def test_name_every_shipped_file(self):
        for kind, folder in self.FOLDERS.items():
            names = self.done("list", kind, "--names").stdout.split()
            self.assertEqual(names, sorted(f.stem for f in (SOURCES / folder).glob("*.yaml")))

    def test_say_what_each_one_is(self):
        self.assertRegex(self.done("list", "scenarios").stdout, r"(?m)^tales +\w.*")
        self.assertRegex(self.done("list", "schedules").stdout, r"(?m)^zb-h1 +\w.*\[.*\]")

    def published(self):
        """The rows of the table of published plans: name, published and predicted seconds."""
        text = self.done("list", "scenarios").stdout
        table = text[text.index("published plan"):].splitlines()[1:]
        return {row.split()[0]: (float(row.split()[1]), float(row.split()[3])) for row in table}

    def test_of_scenarios_have_every_published_step_beside_the_predicted_one(self):
        rows = self.published()
        having = [f.stem for f in (SOURCES / "scenarios").glob("*.yaml")
                  if re.search(r"(?m)^published:", f.read_text())]
        self.assertEqual(list(rows), sorted(having))
        self.assertGreaterEqual(set(having), {"deepseek-v3", "llama3-405b", "llama3-70b-fp8", "qwen3-235b",
                                              "gpt-oss-120b", "kimi-k2"})
        # 180,000 GPU hours for 10^12 tokens, and 1,664 tokens a second on each of 64 GPUs
        self.assertAlmostEqual(rows["deepseek-v3"][0], 15360 * 4096 / (1e12 / 180e3 / 3600 * 2048), 2)
        self.assertAlmostEqual(rows["llama3-70b-fp8"][0], 256 * 8192 / (1664 * 64), 3)
        step = json.loads(self.done("simulate", "llama3-70b-fp8", "--json", "-").stdout)["step_time_s"]
        self.assertAlmostEqual(rows["llama3-70b-fp8"][1], step, 3)

    def test_of_schedules_are_those_that_can_be_written(self):
        names = self.done("list", "schedules", "--names").stdout.split()
        self.assertIn("1f1b", names)
        self.assertEqual(len(names), len(set(names)))

    def test_know_no_other_kind(self):
        self.ends(debubble("list", "trees"), BAD_INPUT, says="scenarios")


class Completion(ProgramTest):
    def offered(self, *words):
        return self.done("complete", *words).stdout.split()

    def test_offers_verbs(self):
        self.assertEqual(self.offered("sim"), ["simulate"])
        self.assertIn("run", self.offered(""))

    def test_offers_the_options_of_a_verb(self):
        self.assertEqual(self.offered("simulate", "--tr"), ["--trace"])
        self.assertIn("--costs", self.offered("schedule", "--"))

    def test_offers_the_options_of_a_verb_of_another_program(self):
        if not pathlib.Path(PROGRAM).with_name("debubble-exec").exists():
            self.skipTest("built without debubble-exec")
        self.assertEqual(self.offered("run", "--rende"), ["--rendezvous"])
        self.assertEqual(self.offered("run", "tale"), TALES)

    def test_offers_what_is_shipped(self):
        self.assertEqual(self.offered("simulate", "tale"), TALES)
        self.assertEqual(self.offered("model", "vit-b"), ["vit-base"])
        self.assertIn("zb-h1", self.offered("schedule", "--name", "z"))
        self.assertEqual(self.offered("list", "clu"), ["clusters"])

    def test_offers_the_words_of_an_option(self):
        self.assertEqual(self.offered("schedule", "--format", ""), ["csv", "text", "json"])

    def test_offers_keys_and_their_words(self):
        self.assertEqual(self.offered("simulate", "x", "--set", "parallel.zero"),
                         ["parallel.zero_stage=", "parallel.zero_bucket_size_in_m="])
        self.assertEqual(self.offered("simulate", "x", "--set", "training.recompute="),
                         [f"training.recompute={word}" for word in ("none", "selective", "full", "selective-op",
                                                                 "auto")])
        self.assertEqual(self.offered("help", "training.lr_schedule.min"),
                         ["training.lr_schedule.min_lr"])

    def test_leaves_files_to_the_shell(self):
        self.assertEqual(self.offered("simulate", "x", "--json", ""), [])

    def in_bash(self, line):
        script = f"""
            source {SOURCES}/sim/completion/debubble.bash
            COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
            _debubble 2> /dev/null; printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        path = f"{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": path}).stdout.split()

    def test_works_in_bash(self):
        self.assertEqual(self.in_bash("debubble simulate tale"), TALES)
        self.assertEqual(self.in_bash("debubble simulate x --set training.recompute=s"),
                         ["selective", "selective-op"])


class Manual(ProgramTest):
    def test_has_a_page_for_every_verb_and_for_the_keys(self):
        self.done("help", "--man", self.folder)
        pages = {page.name for page in (self.folder / "man1").iterdir()}
        for verb in ["simulate", "sweep", "schedule", "compare", "help", "list"]:
            self.assertIn(f"debubble-{verb}.1", pages)
        keys = (self.folder / "man5/debubble-scenario.5").read_text()
        self.assertIn("parallel.zero_stage", keys)

    def test_is_what_man_formats(self):
        if not shutil.which("groff"):
            self.skipTest("there is no groff")
        self.done("help", "--man", self.folder)
        for page in self.folder.glob("man?/*"):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", page],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)


class HowMuchIsSaid(ProgramTest):
    PLAN = ["simulate", "tales"]

    def on_a_terminal(self, *arguments):
        leader, follower = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        done = subprocess.Popen([PROGRAM, *arguments], stdout=follower, env=environment)
        os.close(follower)
        said = b""
        try:
            while part := os.read(leader, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        os.close(leader)
        self.assertEqual(done.wait(60), 0)
        return said

    def test_has_no_colours_if_a_person_wants_none(self):
        self.assertIn(b"\x1b[", self.on_a_terminal(*self.PLAN))
        self.assertNotIn(b"\x1b[", self.on_a_terminal(*self.PLAN, "--no-color"))

    def test_is_nothing_with_quiet_but_what_was_asked_for(self):
        result = self.done(*self.PLAN, "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        result = self.done(*self.PLAN, "--quiet", "--json", "-")
        self.assertGreater(json.loads(result.stdout)["step_time_s"], 0)

    def test_leaves_the_exit_code_and_errors(self):
        self.ends(debubble("simulate", "no-such", "--quiet"), BAD_INPUT, says="unknown scenario")


class Choices(ProgramTest):
    """What training.recompute: auto says while it chooses for long."""

    LONG = ["simulate", "deepseek-v3", "--set", "training.recompute=auto",
            "--set", "cluster.gpu.memory=800 GiB"]

    def said_of(self, *arguments):
        """What it writes to a terminal until it counts choices, and to standard output."""
        leader, follower = pty.openpty()
        run = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=follower)
        os.close(follower)
        said = b""
        try:
            while b"choices" not in said and (part := os.read(leader, 65536)):
                said += part
        except OSError:  # it has ended
            pass
        run.kill()
        result = run.stdout.read()
        run.stdout.close()
        run.wait(60)
        os.close(leader)
        return said.decode(), result

    def test_are_counted_on_a_terminal_and_not_in_the_results(self):
        said, result = self.said_of(*self.LONG, "--json", "-")
        self.assertRegex(said, r"^\r\x1b\[Kdeepseek-v3: recompute auto: \d+ of \d+ choices")
        self.assertEqual(result, b"")

    def test_of_a_point_are_counted_beside_the_points(self):
        grid = self.write("grid.yaml", "model: deepseek-v3\ncluster: hgx-h800\nnodes: 256\n"
                          "parallel: {pipeline: 16, expert: 64, data: auto}\n"
                          "training: {global_batch: 15360, micro_batch: 1, seq_length: 4096, "
                          "recompute: auto}\nsweep: {schedule: [1f1b, zb-h1]}\n")
        for verb in (["sweep", grid, "--out", self.folder / "out.csv"], ["search", grid]):
            said, _ = self.said_of(*map(str, verb))
            self.assertRegex(said, r"recompute auto: \d+ of \d+ choices")


class Outputs(ProgramTest):
    def test_name_their_schema_version_and_plan(self):
        for arguments, schema in [
                (["simulate", "tales", "--json", "-"], "debubble/prediction"),
                (["search", "gpt2-xl-sweep", "--json", "-"], "debubble/search"),
                (["model", "gpt2", "--json", "-"], "debubble/model"),
                (["schedule", "--name", "1f1b", "--ranks", "2", "--micro-batches", "4", "--format",
                  "json"], "debubble/schedule")]:
            answer = json.loads(self.done(*arguments).stdout)
            self.assertEqual((answer["schema"], answer["version"]), (schema, 1))
            self.assertEqual("plan" in answer, arguments[0] in ("simulate", "search"))

    def test_echo_the_plan(self):
        answer = json.loads(self.done("simulate", "tales", "--json", "-").stdout)
        plan = answer["plan"]
        self.assertEqual(plan["cluster"], "this-machine")
        self.assertEqual(plan["parallel"]["pipeline"], len(answer["ranks"]))
        batch = plan["training"]
        self.assertEqual(batch["global_batch"], batch["micro_batch"] * batch["micro_batches"] *
                         plan["parallel"]["data"])
        changed = self.done("simulate", "tales", "--set", "schedule=gpipe", "--json", "-").stdout
        self.assertEqual(json.loads(changed)["plan"]["schedule"]["name"], "gpipe")

    def test_of_a_trace_echo_it_too(self):
        trace = self.folder / "t.json"
        answer = self.done("simulate", "tales", "--trace", trace, "--json", "-")
        header = json.loads(trace.read_text())["debubble"]
        self.assertEqual((header["schema"], header["version"]), ("debubble/trace", 1))
        self.assertEqual(header["plan"], json.loads(answer.stdout)["plan"])


class APictureOfASchedule(ProgramTest):
    ORDER = ["schedule", "--name", "zb-h1", "--ranks", "4", "--micro-batches", "8"]

    def test_is_drawn_with_its_costs(self):
        svg = self.folder / "order.svg"
        text = self.done(*self.ORDER, "--costs", "1,1,1,0", "--svg", svg, "--format", "json").stdout
        figures = json.loads(text)
        self.assertIn(f"makespan {figures['makespan']:g}", svg.read_text())
        self.assertTrue(svg.read_text().startswith("<"))

    def test_needs_no_costs(self):
        drawn = self.done(*self.ORDER, "--svg", "-").stdout
        self.assertTrue(drawn.startswith("<"))
        self.assertEqual(drawn, self.done(*self.ORDER, "--costs", "1,1,1,0", "--svg", "-").stdout)


if __name__ == "__main__":
    unittest.main()
