"""The program as a whole: help, versions, slips of the finger, exit codes."""

import subprocess
import unittest

from program import BAD_INPUT, DONE, PROGRAM, WORLD, ProgramTest, debubble

OWN_VERBS = ["simulate", "sweep", "search", "schedule", "validate", "model", "compare", "import",
             "export"]
SIBLING_VERBS = ["run", "data", "calibrate", "sample", "gui"]


class Help(ProgramTest):
    def test_lists_every_verb(self):
        text = self.done("--help").stdout
        for verb in OWN_VERBS + SIBLING_VERBS:
            self.assertIn(f"  {verb} ", text)

    def test_of_every_verb_has_an_example(self):
        for verb in OWN_VERBS:
            with self.subTest(verb):
                self.assertIn(f"debubble {verb} ", self.done(verb, "--help").stdout)

    def test_is_what_nothing_at_all_gets(self):
        result = debubble()
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("Usage:", result.stdout)

    def test_version_is_one_line(self):
        self.assertRegex(self.done("--version").stdout, r"^debubble \d+\.\d+\.\d+\n$")


class Slips(ProgramTest):
    CASES = [
        (["simulat", "x"], "unknown verb 'simulat'; did you mean 'simulate'?"),
        (["frobnicate"], "unknown verb 'frobnicate'; known: simulate, "),
        (["simulate", "x", "--jsn", "-"], "simulate takes no '--jsn'; did you mean '--json'?"),
        (["schedule", "--rank=4"], "schedule takes no '--rank'; did you mean '--ranks'?"),
        (["schedule", "--ranks", "many"], "--ranks"),
        (["schedule", "--ranks", "-3"], "--ranks"),
        (["schedule", "--ranks", "99999999999999999999"], "--ranks"),
        (["schedule", "--name"], "--name"),
        (["simulate"], "SCENARIO is required"),
        (["sweep", "x"], "--out is required"),
        (["--jsn"], "error:"),
    ]

    def test_get_a_sentence_and_exit_code_2(self):
        for arguments, says in self.CASES:
            with self.subTest(arguments):
                self.ends(debubble(*arguments), BAD_INPUT, says=says)


class Siblings(ProgramTest):
    def test_get_the_arguments_as_they_are(self):
        """With a stand-in for the sibling next to a copy of the program."""
        copy = self.folder / "debubble"
        copy.write_bytes(open(PROGRAM, "rb").read())
        copy.chmod(0o755)
        result = subprocess.run([copy, "run", "x"], capture_output=True, text=True)
        self.ends(result, WORLD, says="'run' needs the program debubble-exec")
        sibling = self.write("debubble-exec", '#!/bin/sh\necho "$@"\nexit 7\n')
        sibling.chmod(0o755)
        result = subprocess.run([copy, "run", "a b", "--steps", "3"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (7, "run a b --steps 3\n"))


class Output(ProgramTest):
    LONG = ["schedule", "--name", "gpipe", "--ranks", "8", "--micro-batches", "20000"]

    def test_that_nobody_reads_to_the_end_is_no_error(self):
        program = subprocess.Popen([PROGRAM, *self.LONG], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        program.stdout.read(10)
        program.stdout.close()
        self.assertEqual(program.stderr.read(), b"")
        program.stderr.close()
        program.wait(60)

    def test_to_a_full_disk_is_an_error_of_the_world(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, *self.LONG], stdout=full, stderr=subprocess.PIPE,
                                    text=True)
        self.assertEqual(result.returncode, WORLD)
        self.assertIn("No space left", result.stderr)

    def test_of_more_than_a_limit_is_an_error_of_the_world(self):
        result = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$0" "$@"', PROGRAM, "simulate",
                                 "gpt2-xl", "--quiet", "--json", self.folder / "x.json"],
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, WORLD)
        self.assertIn("File too large", result.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_into_a_folder_that_cannot_be_is_an_error_of_the_world(self):
        self.write("file", "")
        out = self.folder / "file" / "x.csv"
        self.ends(debubble(*self.LONG, "--out", out), WORLD, says="x.csv")
        self.assertEqual(self.left_behind(), ["file"])


if __name__ == "__main__":
    unittest.main()
