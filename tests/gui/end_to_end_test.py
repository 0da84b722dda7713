"""The window as a user operates it: under a display of its own, with keys and a mouse.

Skipped, with the reason, where Xvfb or xdotool is absent."""

import collections
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

GUI = os.environ["DEBUBBLE_GUI_PROGRAM"]
DEADLINE = 90
YAML_EDITOR = "debubble::gui::YamlEditor"
MISSING = [tool for tool in ("Xvfb", "xdotool") if shutil.which(tool) is None]


def wait_for(condition, what):
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        if result := condition():
            return result
        time.sleep(0.1)
    raise AssertionError(f"waited {DEADLINE} s in vain for {what}")


class Display(unittest.TestCase):
    """A display without a window manager, and a window on it."""

    SCREEN = (1400, 900)
    SCALE = 1

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="debubble-gui-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        read_end, write_end = os.pipe()
        self.display = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "{}x{}x24".format(*self.SCREEN),
             "-noreset"],
            pass_fds=[write_end], stderr=subprocess.DEVNULL)
        os.close(write_end)
        self.addCleanup(self.end, self.display)
        with os.fdopen(read_end) as number:
            self.environment = os.environ | {
                "LC_ALL": "C.UTF-8", "LANGUAGE": "", "DISPLAY": f":{number.readline().strip()}", "XDG_CONFIG_HOME": str(self.folder),
                "QT_SCALE_FACTOR": str(self.SCALE), "XDG_DATA_HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder),
                "DEBUBBLE_GUI_STATE": str(self.folder / "state.json")}
        self.environment.pop("QT_QPA_PLATFORM", None)

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def start(self, *arguments):
        window = subprocess.Popen([GUI, *arguments], env=self.environment, cwd=self.folder)
        self.addCleanup(self.end, window)
        return window

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *words], env=self.environment, text=True,
                              capture_output=True, timeout=DEADLINE).stdout.split()

    def window_named(self, title):
        return wait_for(lambda: self.xdotool("search", "--onlyvisible", "--name", title),
                        f"a window named {title!r}")[0]

    def kept(self):
        """The files of unsaved plans that the window keeps."""
        return [f.read_text() for f in self.folder.rglob("unsaved-*.json")]

    def state(self):
        """The state of the window by its own report; see gui/widgets/state_file.h."""
        file = self.folder / "state.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def wait_for_state(self, what, **wanted):
        return wait_for(lambda: (state := self.state()) and
                        all(state.get(key) == value for key, value in wanted.items()) and state,
                        f"{what}; the last state was {self.state()}")


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class EndToEnd(Display):
    def test_a_plan_is_changed_swept_executed_and_compared(self):
        settings = self.folder / "debubble"
        settings.mkdir()
        (settings / "debubble.ini").write_text("[run]\nsteps=2\n")
        self.start("tales")
        handle = self.window_named("^tales - debubble$")
        self.xdotool("windowfocus", "--sync", handle)
        state = self.wait_for_state("a plan on the screen", view="single", painted=True)
        self.assertEqual(state["schedule"], "zb-h1")
        self.assertGreater(state["passes"]["W"], 0)

        self.xdotool("key", "ctrl+d")  # the list of schedules
        wait_for(lambda: self.state()["popup"], "the list of schedules")
        self.xdotool("key", "e")  # one letter, since a slow machine forgets the previous one
        self.xdotool("key", "Return")
        wait_for(lambda: any("schedule: eager-1f1b" in text for text in self.kept()), "the new schedule")
        state = self.wait_for_state("the new plan on the screen", schedule="eager-1f1b", painted=True)
        self.assertEqual(state["passes"]["W"], 0)
        self.assertTrue(state["ghost"], "the plan before is not drawn below the new one")

        self.assertEqual(state["sweep_points"], 0)
        self.xdotool("key", "ctrl+g")
        rows = wait_for(lambda: list(self.folder.rglob("sweeps/tales-*.csv")), "a sweep")[0]
        done = wait_for(lambda: self.state()["sweep_rows"], "the end of the sweep")
        with rows.open(newline="") as file:
            plans = list(csv.DictReader(file))
        self.assertEqual(len(plans), done)
        # All cuts of two ranks, each with every microbatch, and schedules where there is a pipeline.
        of_stage = collections.Counter((plan["parallel.zero_stage"], plan["parallel.pipeline"]) for plan in plans)
        self.assertEqual(set(of_stage), {("1", "1"), ("1", "2"), ("2", "1"), ("3", "1")})
        plans = [plan for plan in plans if plan["parallel.zero_stage"] == "1"]
        cuts = collections.Counter((plan["parallel.tensor"], plan["parallel.pipeline"]) for plan in plans)
        self.assertEqual(set(cuts), {("1", "1"), ("2", "1"), ("1", "2")})
        self.assertEqual({plan["training.micro_batch"] for plan in plans}, {"1", "2", "4", "8", "16"})
        self.assertEqual(cuts["1", "1"], cuts["2", "1"])
        schedules = {plan["schedule"] for plan in plans if plan["parallel.pipeline"] == "2"}
        self.assertGreaterEqual(len(schedules), 4)
        self.assertEqual(cuts["1", "2"], cuts["1", "1"] * len(schedules))
        state = wait_for(lambda: (state := self.state())["sweep_points"] and state, "points in the plot")
        self.assertLessEqual(state["sweep_points"], done)

        self.assertEqual(len(list(self.folder.rglob("executed.trace.json"))), 0)
        self.xdotool("key", "F5")
        wait_for(lambda: list(self.folder.rglob("runs/*/executed.trace.json")), "a trace of the run")
        report = wait_for(lambda: list(self.folder.rglob("runs/*/run.json")), "the run's report")[0]
        self.assertEqual(len(json.loads(report.read_text())["losses"]), 2)
        self.wait_for_state("the comparison on the screen", view="comparison", painted=True)

    def test_a_command_is_found_by_its_name_and_carried_out(self):
        window = self.start("gpt2-xl")
        handle = self.window_named("^gpt2-xl - debubble$")
        self.xdotool("windowfocus", "--sync", handle)
        self.wait_for_state("a plan on the screen", view="single", painted=True)
        self.xdotool("key", "ctrl+shift+p")
        self.wait_for_state("the list of commands", popup="commands")
        self.xdotool("type", "--delay", "20", "quit")
        self.xdotool("key", "Return")
        self.assertEqual(window.wait(DEADLINE), 0)

    def test_the_language_is_the_systems(self):
        self.environment["LC_ALL"] = "de_DE.UTF-8"
        window = self.start("gpt2-xl")
        self.xdotool("windowfocus", "--sync", self.window_named("^gpt2-xl - debubble$"))
        self.wait_for_state("a plan on the screen", view="single", painted=True)
        self.xdotool("key", "ctrl+shift+p")
        self.wait_for_state("the list of commands", popup="commands")
        self.xdotool("type", "--delay", "20", "beenden")
        self.xdotool("key", "Return")
        self.assertEqual(window.wait(DEADLINE), 0)

    def test_what_is_typed_into_the_text_is_kept_over_a_crash(self):
        (self.folder / "plan.yaml").write_text(
            "include: gpt2-xl\n# the end\n")
        window = self.start("plan.yaml")
        handle = self.window_named("^plan - debubble$")
        self.xdotool("windowfocus", "--sync", handle)
        self.wait_for_state("a plan on the screen", view="single", painted=True)
        self.xdotool("key", "ctrl+t")
        self.wait_for_state("the cursor in the text", focus=YAML_EDITOR)
        self.xdotool("key", "ctrl+End")
        self.xdotool("type", "--delay", "20", "schedule: gpipe")
        wait_for(lambda: any("schedule: gpipe" in text for text in self.kept()),
                 "the kept text")
        window.kill()
        window.wait()
        self.assertEqual((self.folder / "plan.yaml").read_text(), "include: gpt2-xl\n# the end\n")
        self.start("plan.yaml")
        self.window_named("^plan - debubble$")
        self.assertTrue(any("schedule: gpipe" in text for text in self.kept()))


class WithoutADisplay(unittest.TestCase):
    ENVIRONMENT = {k: v for k, v in os.environ.items()
                   if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}

    def run_gui(self, *arguments):
        return subprocess.run([GUI, *arguments], env=self.ENVIRONMENT, text=True,
                              capture_output=True, timeout=DEADLINE)

    def test_says_so_in_one_sentence_and_ends_with_3(self):
        done = self.run_gui("gpt2-xl")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertIn("--export", done.stderr)

    def test_writes_every_format(self):
        with tempfile.TemporaryDirectory() as folder:
            for ending, start in {"svg": b"<", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"rank,",
                                  "json": b"{", "html": b"<!DOCTYPE html>", "gif": b"GIF89a"}.items():
                file = pathlib.Path(folder) / f"plan.{ending}"
                done = self.run_gui("--export", str(file), "gpt2-xl-zb-v")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(file.read_bytes().startswith(start), ending)

    def test_two_plans_are_a_race_and_links_have_lanes(self):
        with tempfile.TemporaryDirectory() as folder:
            race, links = (pathlib.Path(folder) / name for name in ("race.gif", "links.svg"))
            for arguments in (("--export", race, "--size", "640x360", "gpt2-xl-gpipe", "gpt2-xl-1f1b"),
                              ("--export", links, "--links", "gpt3-175b")):
                done = self.run_gui(*map(str, arguments))
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(race.read_bytes()[6:10], (640).to_bytes(2, "little") + (360).to_bytes(2, "little"))
            self.assertEqual(links.read_text().count(">network links<"), 8)

    def test_an_ending_that_is_not_known_is_the_persons_mistake(self):
        self.assertEqual(self.run_gui("--export", "plan.bmp", "gpt2-xl").returncode, 2)


class Desktop(unittest.TestCase):
    FOLDER = pathlib.Path(__file__).parents[2] / "gui" / "desktop"

    def accepted_by(self, tool, *words):
        if shutil.which(tool) is None:
            self.skipTest(f"not installed: {tool}")
        done = subprocess.run([tool, *words], text=True, capture_output=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_entry_of_the_menu_is_valid(self):
        self.accepted_by("desktop-file-validate", *map(str, self.FOLDER.glob("*.desktop")))

    def test_the_description_of_the_program_is_valid(self):
        self.accepted_by("appstreamcli", "validate", "--no-net",
                         *map(str, self.FOLDER.glob("*.metainfo.xml")))


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class At200Percent(Display):
    SCREEN = (1920, 1080)
    SCALE = 2

    def test_nothing_of_the_first_window_lies_off_the_screen(self):
        self.start("gpt2-xl-1f1b")
        handle = self.window_named("^gpt2-xl-1f1b - debubble$")
        self.wait_for_state("a plan on the screen", view="single", painted=True)
        place = dict(line.split("=") for line in self.xdotool("getwindowgeometry", "--shell", handle))
        left, top, width, height = (int(place[key]) for key in ("X", "Y", "WIDTH", "HEIGHT"))
        self.assertGreaterEqual(left, 0)
        self.assertGreaterEqual(top, 0)
        self.assertLessEqual(left + width, self.SCREEN[0])
        self.assertLessEqual(top + height, self.SCREEN[1])
        self.assertGreaterEqual(width * height, 0.8 * self.SCREEN[0] * self.SCREEN[1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
