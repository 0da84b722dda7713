"""`debubble sweep --worker` on two hosts with a folder in common."""

import os
import subprocess
import time
import unittest

from program import DONE, PROGRAM, WORLD, ProgramTest
from sweep_kill_test import GRID
from two_hosts import on_two_hosts


class TwoHosts(ProgramTest):
    def setUp(self):
        super().setUp()
        self.grid = self.write("grid.yaml", GRID)
        self.alone = self.folder / "alone.csv"
        self.done("sweep", self.grid, "--out", self.alone, "-j", "2", "--quiet")

    def start(self, host, place, out):
        return subprocess.Popen(
            [*host.enter(), PROGRAM, "sweep", self.grid, "--out", out, "--worker", place, "-j", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True)

    def end(self, worker, code=DONE):
        _, stderr = worker.communicate(timeout=300)
        self.assertEqual(worker.returncode, code, stderr)
        return stderr

    def journal(self, out, index):
        return out.with_name(f"{out.name}.worker-{index}")

    def rows(self, out, index):
        journal = self.journal(out, index)
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def until(self, is_so, what):
        ends = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), ends, what)
            time.sleep(0.01)

    def on_both(self, body):
        self.assertEqual(on_two_hosts(lambda hosts, _: body(hosts) or 0), 0)

    def test_make_the_file_that_one_process_makes(self):
        def body(hosts):
            out = self.folder / "shared.csv"
            workers = [self.start(host, f"{i}/2", out) for i, host in enumerate(hosts)]
            for worker in workers:
                self.end(worker)
            self.assertEqual(out.read_bytes(), self.alone.read_bytes())

        self.on_both(body)

    def test_do_what_a_lost_host_has_left(self):
        def body(hosts):
            out = self.folder / "shared.csv"
            lost = self.start(hosts[0], "0/2", out)
            self.until(lambda: self.rows(out, 0) > 20, "the first worker writes rows")
            for pid in subprocess.run(["ip", "netns", "pids", hosts[0].name], text=True,
                                      capture_output=True, check=True).stdout.split():
                os.kill(int(pid), 9)
            lost.communicate()
            self.assertFalse(out.exists())
            self.end(self.start(hosts[1], "1/2", out))
            self.assertEqual(out.read_bytes(), self.alone.read_bytes())

        self.on_both(body)

    def test_refuse_to_be_the_same_worker(self):
        def body(hosts):
            out = self.folder / "shared.csv"
            first = self.start(hosts[0], "0/2", out)
            self.until(lambda: self.rows(out, 0) > 5, "the first worker writes rows")
            second = self.start(hosts[1], "0/2", out)
            self.assertIn("another sweep is writing it", self.end(second, WORLD))
            self.end(first)

        self.on_both(body)


if __name__ == "__main__":
    unittest.main()
