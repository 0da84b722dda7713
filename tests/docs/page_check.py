"""A page's commands run, in a folder of their own, and what is wrong with the page."""

import csv
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from page import Command, File, matches, read_page

IN_TIME = 300  # seconds of a page, under sanitizers


def why_skipped(command, program):
    if command.needs and not program.with_name(command.needs).exists():
        return f"this build has no {command.needs}"
    return command.skip


class Run:
    """A page's commands, run one after the other by one shell in a folder of their own."""

    def __init__(self, page, folder, program):
        self.folder, self.logs = folder / "work", folder / "logs"
        self.folder.mkdir()
        self.logs.mkdir()
        (self.folder / "pictures").mkdir()
        (self.folder / "build/release").mkdir(parents=True)
        (self.folder / "build/release/bin").symlink_to(program.parent)
        script = [f"cd {self.folder}", "__status=0"]
        for number, step in enumerate(page.steps):
            if isinstance(step, File):
                (self.logs / f"{number}.file").write_text(step.text)
                script.append(f"cp {self.logs}/{number}.file {step.name}")
            elif not why_skipped(step, program):
                text = step.text if not step.script else f"( set -e\n{step.text}\n)"
                script += [f"(exit $__status); {{\n{text}\n}} > {self.logs}/{number}.out 2>&1",
                           f"__status=$?; echo $__status > {self.logs}/{number}.status"]
        (folder / "script").write_text("\n".join(script) + "\n")
        mine = {key: value for key, value in os.environ.items() if not key.startswith(("DEBUBBLE_", "SLURM_"))}
        environment = {**mine, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(self.folder),
                       "QT_QPA_PLATFORM": "offscreen"}
        self.shell = subprocess.run(["bash", folder / "script"], env=environment, stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, timeout=IN_TIME)

    def read(self, number, kind):
        path = self.logs / f"{number}.{kind}"
        return path.read_text(errors="replace") if path.exists() else None


class PageCheck:
    """`mistakes` are sentences with their places. With `update`, the page gets what the program prints instead."""

    def __init__(self, path, name, program, help_, pictures, update=False):
        self.page, self.name, self.help = read_page(path), name, help_
        self.program, self.pictures, self.update = program, pictures, update
        self.mistakes, self.changed = [], []

    def check(self):
        begun, ran = time.time(), 0
        for line in self.page.untested:
            self.complain(line, "a command in a block that no test runs; use ```console or ```sh")
        self.check_mentions()
        with tempfile.TemporaryDirectory(prefix="debubble-docs-") as folder:
            run = Run(self.page, pathlib.Path(folder), self.program)
            for number, step in enumerate(self.page.steps):
                ran += self.check_step(number, step, run)
            for table in self.page.tables:
                self.check_table(table, run.folder)
            self.check_pictures(run.folder)
        if self.changed:
            rewrite(self.page, self.changed)
        if ran:
            print(f"{self.name}: {ran} commands ran in {time.time() - begun:.1f} s", flush=True)
        return self.mistakes

    def check_step(self, number, step, run):
        """True for a command that ran."""
        if isinstance(step, File):
            if step.script:
                self.check_not_run(step)
            return False
        why = why_skipped(step, self.program)
        if not why:
            self.check_ran(number, run)
            return True
        print(f"{self.name}:{step.line}: not run: {why}", flush=True)
        self.check_not_run(step)
        return False

    def stated_status(self, number):
        """The status that the page states for a command, by an `echo $?` after it."""
        after = self.page.steps[number + 1] if number + 1 < len(self.page.steps) else None
        if isinstance(after, Command) and after.text == "echo $?" and after.shown:
            return int(after.shown[0])
        return 0

    def complain(self, line, sentence):
        self.mistakes.append(f"{self.name}:{line}: {sentence}")

    def check_ran(self, number, run):
        step, output, status = self.page.steps[number], run.read(number, "out"), run.read(number, "status")
        wanted = self.stated_status(number)
        if status is None:
            self.complain(step.line, f"was not run: {run.shell.stderr}")
        elif int(status) != wanted:
            self.complain(step.line, f"'{step.text}' exits with {status.strip()}, not {wanted}:\n{output}")
        elif step.shown and not matches(step.shown, output):
            if self.update:
                self.changed.append((step, as_shown(step.shown, output)))
                return
            differences = "\n".join(difflib.unified_diff(step.shown, output.splitlines(), "the page", "the program",
                                                         lineterm="", n=1))
            self.complain(step.line, f"'{step.text}' prints something else (--update writes it):\n{differences}")

    def check_not_run(self, step):
        """A script that another machine runs."""
        syntax = subprocess.run(["bash", "-n"], input=step.text, capture_output=True, text=True)
        if syntax.returncode:
            self.complain(step.line, syntax.stderr)
        for mistake in self.help.mistakes(step.text):
            self.complain(step.line, mistake)

    def check_mentions(self):
        """Flags and verbs of the program that the prose names."""
        fenced = False
        for number, line in enumerate(self.page.lines):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            for code in [] if fenced else re.findall(r"`(debubble [^`]+)`", line):
                for mistake in self.help.mistakes(re.sub(r"\b(?:VERB|KEY)\b.*", "", code)):
                    self.complain(number + 1, mistake)

    def check_table(self, table, folder):
        path = folder / table.file
        if not path.exists():
            self.complain(table.line, f"no command of the page has written {table.file}")
            return
        names = columns(path) if table.kind == "columns" else keys(path)
        listed = {name: re.compile(re.escape(name).replace(r"\*", ".+")) for name in table.names}
        for name in sorted(names):
            if not any(pattern.fullmatch(name) for pattern in listed.values()):
                self.complain(table.line, f"the table lacks '{name}' of {table.file}")
        for name, pattern in listed.items():
            if not any(map(pattern.fullmatch, names)):
                self.complain(table.line, f"{table.file} has no '{name}'")

    def check_pictures(self, folder):
        for drawn in sorted((folder / "pictures").glob("*.svg")):
            kept = self.pictures / drawn.name
            if self.update:
                shutil.copy(drawn, kept)
            elif not kept.exists() or kept.read_bytes() != drawn.read_bytes():
                self.complain(1, f"docs/pictures/{drawn.name} is not what the page's command draws; --update")


def keys(path):
    """The paths of a document's keys, as `ranks[].memory`; of JSON lines those of all lines."""
    text = path.read_text()
    try:
        documents = [json.loads(text)]
    except ValueError:
        documents = [json.loads(line) for line in text.splitlines()]
    found = set()

    def walk(value, place):
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{place}.{key}" if place else key)
        elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
            for inner in value:
                walk(inner, place + "[]")
        else:
            found.add(place)

    for document in documents:
        walk(document, "")
    return found


def columns(path):
    with path.open(newline="") as file:
        return set(next(csv.reader(file)))


def as_shown(shown, output):
    """The output, with what the page leaves out left out again: a line of "..." stays between the lines that are
    most like those of the page, and what is new between two lines that the page shows one after the other is shown."""
    lines = [line.rstrip() for line in output.splitlines()]
    if not any("..." in line for line in shown):
        return lines
    new, at, left_out = [], 0, False
    for line in shown:
        if line.strip() == "...":
            new.append(line)
            left_out = True
            continue
        near = max(range(at, len(lines)), default=None,
                   key=lambda n: difflib.SequenceMatcher(None, line, lines[n]).ratio())
        if near is not None:
            new += [] if left_out else lines[at:near]
            new.append(line if matches([line], lines[near]) else lines[near])
            at = near + 1
        left_out = False
    return new if left_out else new + lines[at:]


def rewrite(page, changed):
    lines = list(page.lines)
    for step, new in sorted(changed, key=lambda change: -change[0].shown_at):
        lines[step.shown_at:step.shown_at + len(step.shown)] = new
    page.path.write_text("\n".join(lines) + "\n")
