"""debubble compare: a predicted trace against an executed one."""

import hashlib
import json
import unittest
import xml.dom.minidom

from program import BAD_INPUT, DONE, NO, ProgramTest, debubble

LISTS = ["0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1",
         "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1"]
HASH = hashlib.sha256(("".join(line.replace(",", " ") + "\n" for line in LISTS) +
                       "placement\n0 \n1 \n").encode()).hexdigest()
LINK = 100_000


def one_step(stages, begin=0):
    """1F1B over two ranks, two microbatches; stages are (F, B) in ns, links take 0.1 ms."""
    (f0, b0), (f1, b1) = stages
    spans = []

    def run(rank, lane, action, at, length, **more):
        spans.append((rank, lane, action, begin + at, begin + at + length, more))
        return at + length

    def message(action, sender, at):
        run(sender, "send", f"{sender}SEND_{action}", at, LINK, peer=1 - sender, bytes=4096)
        return run(1 - sender, "recv", f"{1 - sender}RECV_{action}", at, LINK, peer=sender,
                   bytes=4096)

    first = run(0, "compute", "0F0", 0, f0)
    there0 = message("F0", 0, first)
    second = run(0, "compute", "0F1", first, f0)
    there1 = message("F1", 0, second)
    back0 = run(1, "compute", "1B0", run(1, "compute", "1F0", there0, f1), b1)
    end0 = run(0, "compute", "0B0", max(second, message("B0", 1, back0)), b0)
    last = run(1, "compute", "1F1", max(back0, there1), f1)
    back1 = run(1, "compute", "1B1", last, b1)
    run(0, "compute", "0B1", max(end0, message("B1", 1, back1)), b0)
    return spans


def trace(spans, source, **header):
    events = [{"ph": "M", "name": "process_name", "pid": rank + 1,
               "args": {"rank": rank, "replica": 0}} for rank in (0, 1)]
    for rank, lane, action, begin, end, more in spans:
        events.append({"ph": "X", "name": action, "cat": lane, "pid": rank + 1,
                       "args": {"action": action, "begin_ns": begin, "end_ns": end, **more}})
    fields = {"version": 1, "source": source, "scenario": "two-stages", "program_hash": HASH,
              "tensor": 1, "context": 1, "data": 1, "pipeline": 2, "folded": True, "peaks": [],
              "program": {"name": "1f1b", "placement": "0\n1\n", "csv": "\n".join(LISTS) + "\n"}}
    fields.update(header)
    return json.dumps({"debubble": fields, "traceEvents": events})


GOLDEN = """\
two-stages: simulated compared with executed, program 6a22a9fd23b5
  simulated: sim.json
  executed: run.json

                   simulated      replayed      executed     simulated      replayed
                                                                 error         error
step time           9.200 ms      9.800 ms      9.800 ms        -6.1 %        +0.0 %
makespan            9.200 ms      9.800 ms      9.800 ms        -6.1 %        +0.0 %
bubble                34.8 %        35.7 %        35.7 %       -0.9 pt       +0.0 pt
span bubble           34.8 %        38.8 %        38.8 %       -4.0 pt       +0.0 pt
replayed: the program played with the executed durations. Its error is of order, overlap and gaps
  between actions; what the simulated one has beyond it is of the prices.

idle, mean per rank      simulated      executed         error
  warm-up                 0.550 ms      0.550 ms        +0.0 %
  cool-down               1.050 ms      1.050 ms        +0.0 %
  waits for a stage       1.500 ms      1.800 ms       -16.7 %
  waits for a link        0.100 ms      0.100 ms        +0.0 %

  ms                busy                      exposed           optimizer                idle  place
rank      sim.     exec.    error      sim.     exec.      sim.     exec.      sim.     exec.  s. e.
   0     6.000     6.000   +0.0 %     0.000     0.000     0.000     0.000     3.200     3.800   1  2
   1     6.000     6.600   -9.1 %     0.000     0.000     0.000     0.000     3.200     3.200   2  1
place 1 is the busiest rank

kind               count       simulated        executed    mean error      bias
F                      4     4000.000 us     4200.000 us         4.8 %    -4.8 %
B                      4     8000.000 us     8400.000 us         4.8 %    -4.8 %
SEND                   4      400.000 us      400.000 us         0.0 %    +0.0 %
RECV                   4      400.000 us      400.000 us         0.0 %    +0.0 %

stage              count       simulated        executed    mean error      bias
stage 0                4     6000.000 us     6000.000 us         0.0 %    +0.0 %
stage 1                4     6000.000 us     6600.000 us         9.1 %    -9.1 %

greatest differences        rank     simulated      executed    difference       error
1B0                            1      2.000 ms      2.200 ms     -0.200 ms      -9.1 %
1B1                            1      2.000 ms      2.200 ms     -0.200 ms      -9.1 %
1F0                            1      1.000 ms      1.100 ms     -0.100 ms      -9.1 %
1F1                            1      1.000 ms      1.100 ms     -0.100 ms      -9.1 %

order: what was executed is the program: 16 actions on 2 ranks, each stream in the order of its
  list, every dependency met
"""


class Compare(ProgramTest):
    def setUp(self):
        super().setUp()
        even = ((1_000_000, 2_000_000), (1_000_000, 2_000_000))
        slow = ((1_000_000, 2_000_000), (1_100_000, 2_200_000))
        self.write("sim.json", trace(one_step(even), "simulated"))
        self.run_spans = one_step(slow)
        self.write("run.json", trace(self.run_spans, "executed"))

    def compare(self, *arguments):
        return debubble("compare", "sim.json", *arguments, cwd=self.folder)

    def json_of(self, *arguments):
        return json.loads(self.compare(*arguments, "--json", "-").stdout)

    def test_prints_the_page_that_stands_here(self):
        self.maxDiff = None
        result = self.ends(self.compare("run.json"), DONE)
        self.assertEqual(result.stdout, GOLDEN)

    def test_of_a_trace_with_itself_has_no_error(self):
        answer = self.json_of("sim.json")
        self.assertEqual(answer["step_time_error"], 0)
        self.assertEqual(answer["replayed_step_time_error"], 0)
        self.assertEqual(answer["worst"], [])
        self.assertEqual({row["bias"] for row in answer["kinds"] + answer["stages"]}, {0})

    def test_refuses_traces_in_the_wrong_order(self):
        self.ends(debubble("compare", "run.json", "sim.json", cwd=self.folder), BAD_INPUT,
                  says="the executed trace is given first and the simulated one second, so the "
                       "errors would have the wrong sign; swap them: debubble compare "
                       "sim.json run.json")

    def test_of_two_of_a_kind_calls_them_first_and_second(self):
        for name, kind in [("sim.json", "simulated"), ("run.json", "executed")]:
            with self.subTest(kind=kind):
                page = self.done("compare", name, name, cwd=self.folder).stdout
                self.assertIn(": first compared with second, program", page)
                self.assertIn(f"  first: {name} ({kind})\n  second: {name} ({kind})\n", page)
                self.assertNotRegex(page, r"simulated +replayed|replayed +executed|rank +sim\.")
                self.assertIn("order: the second trace is the program", page)
        self.assertEqual(self.json_of("sim.json")["sources"],
                         {"simulated": "simulated", "executed": "simulated"})
        self.assertEqual(self.json_of("run.json")["sources"],
                         {"simulated": "simulated", "executed": "executed"})

    def test_says_where_a_slow_stage_was_mispriced(self):
        answer = self.json_of("run.json")
        self.assertEqual(answer["schedule_hash"], HASH)
        # First forward, link, two of the slow stage's microbatches, link, last backward.
        self.assertAlmostEqual(answer["executed"]["step_time_s"], 0.0098, 12)
        self.assertAlmostEqual(answer["simulated"]["step_time_s"], 0.0092, 12)
        self.assertAlmostEqual(answer["replayed"]["step_time_s"], 0.0098, 12)
        right, slow = answer["stages"]
        self.assertEqual(right["bias"], 0)
        self.assertAlmostEqual(slow["bias"], 6.0 / 6.6 - 1, 12)
        self.assertTrue(answer["order_checked"])
        self.assertEqual(answer["order_violations"], [])

    def test_takes_the_median_of_several_steps(self):
        stages = ((1_000_000, 2_000_000), (1_000_000, 2_000_000))
        spans = one_step(stages)
        for k, slower in ((1, 1.5), (2, 1.1)):
            spans += one_step((stages[0], tuple(int(t * slower) for t in stages[1])),
                              k * 20_000_000)
        self.write("three.json", trace(spans, "executed"))
        answer = self.json_of("three.json")
        self.assertEqual(answer["steps"], 3)
        self.assertAlmostEqual(answer["executed"]["makespan_s"], 0.0098, 12)

    def test_draws_both(self):
        self.ends(self.compare("run.json", "--svg", "both.svg"), DONE)
        picture = (self.folder / "both.svg").read_text()
        xml.dom.minidom.parseString(picture)
        self.assertIn("simulated: step 9.200 ms", picture)
        self.assertIn("executed: step 9.800 ms", picture)

    def test_ends_with_1_when_the_order_was_another(self):
        spans = [(r, l, {"1F0": "1F1", "1F1": "1F0"}.get(a, a), *more)
                 for r, l, a, *more in self.run_spans]
        self.write("run.json", trace(spans, "executed"))
        result = self.ends(self.compare("run.json"), NO)
        self.assertIn("order: what was executed is NOT the program:\n  rank 1 ran its computes in "
                      "another order: 1F1 where the program lists 1F0 (1 of 4)\n", result.stdout)

    def test_ends_with_1_when_the_programs_differ(self):
        other = json.loads(trace(self.run_spans, "executed", program_hash="f" * 64))
        del other["debubble"]["program"]
        self.write("other.json", json.dumps(other))
        result = self.ends(self.compare("other.json"), NO, says="sim.json and other.json cannot be "
                           "compared: the traces are of different programs: ")
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_refuses_what_is_no_trace(self):
        self.ends(self.compare("nowhere.json"), BAD_INPUT, says="nowhere.json")
        self.write("no.json", "{}")
        self.ends(self.compare("no.json"), BAD_INPUT, says="no \"debubble\" header")
        self.ends(self.compare("run.json", "--json", "-", "--svg", "-"), BAD_INPUT,
                  says="only one of --json and --svg")
        self.ends(self.compare(), BAD_INPUT, says="RUN_TRACE is required")

    def test_works_on_what_simulate_writes(self):
        for name in ("gpt2-xl-1f1b", "gpt2-xl-zb-v"):
            with self.subTest(name):
                self.done("simulate", name, "--trace", "t.json", cwd=self.folder)
                result = self.done("compare", "t.json", "t.json", "--json", "-", cwd=self.folder)
                answer = json.loads(result.stdout)
                self.assertEqual(answer["replayed_step_time_error"], 0)
                self.assertEqual(answer["worst"], [])


if __name__ == "__main__":
    unittest.main()
