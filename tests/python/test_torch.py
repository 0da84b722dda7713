"""Orders as PyTorch's pipelining loads them."""

import unittest

import debubble as db
from debubble.torch import pipeline_order


class Orders(unittest.TestCase):
    def test_are_those_of_the_plan(self):
        got = pipeline_order(db.simulate("gpt2-xl-1f1b"))
        self.assertEqual(got.stages, [[0], [1], [2], [3]])
        self.assertEqual(sum(stage["layers"] for stage in got.content), 48)
        self.assertTrue(db.validate(got.csv))
        self.assertFalse(got.is_v)
        self.assertTrue(pipeline_order(db.simulate("gpt2-xl-zb-v")).is_v)

    def test_that_pytorch_cannot_run_are_refused(self):
        with self.assertRaises(db.InputError):
            pipeline_order(db.simulate("gpt2-xl-dualpipe-v"))
        with self.assertRaises(db.InputError):
            pipeline_order(db.simulate("gpt2-xl-1f1b"), transport="pigeons")

    def test_are_loaded_by_pytorch(self):
        try:
            from torch.distributed.pipelining.schedules import _Action
        except ImportError:
            self.skipTest("there is no PyTorch with pipelining")
        order = pipeline_order(db.simulate("gpt2-xl-zb-v"))
        for row in order.csv.splitlines():
            for cell in row.split(","):
                if cell:
                    self.assertEqual(str(_Action.from_str(cell)), cell)


if __name__ == "__main__":
    unittest.main()
