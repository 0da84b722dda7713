"""The tools that agents get, called as functions and, where the protocol's library is there, over the protocol."""

import asyncio
import importlib.util
import os
import sys
import unittest

import debubble as db
from debubble import serve


class Tools(unittest.TestCase):
    def test_simulate_gives_the_figures_and_no_more_ranks_than_one_can_read(self):
        said = serve.simulate("gpt2-xl", {"parallel.tensor": 1}, bill=True)
        self.assertEqual(said["step_time_s"], db.simulate("gpt2-xl", parallel={"tensor": 1}).step_time)
        self.assertIn("bill", said)
        self.assertLessEqual(len(said["ranks"]), 16)

    def test_sweeps_and_searches_agree(self):
        grid = {"parallel.pipeline": [1, 2, 4], "schedule": ["1f1b", "zb-h1"]}
        swept, found = serve.sweep("gpt2-xl-1f1b", grid), serve.search("gpt2-xl-1f1b", grid)
        self.assertEqual(swept["points"], 6)
        self.assertEqual(swept["best"][0]["tokens_per_s"], found["prediction"]["tokens_per_s"])

    def test_a_late_sweep_is_given_up(self):
        late = serve._deadline(-1)
        with self.assertRaises(db.Stopped):
            db.sweep("gpt2-xl-1f1b", {"training.micro_batch": [1, 2, 4]}, progress=late, jobs=1)
        with self.assertRaises(TimeoutError):
            serve._in_time(lambda: __import__("time").sleep(2), 0.01)

    def test_keys_are_explained(self):
        said = serve.explain_key("parallel.tensor")
        self.assertEqual([key["path"] for key in said["keys"]], ["parallel.tensor"])
        with self.assertRaises(db.InputError) as raised:
            serve.explain_key("parallel.tensr")
        self.assertIn("parallel.tensor", str(raised.exception))

    def test_compare_model_and_names(self):
        rows = serve.compare("gpt2-xl-1f1b", "gpt2-xl-1f1b", None, {"schedule": "gpipe"})["figures"]
        self.assertEqual(rows[0]["figure"], "step_time_s")
        self.assertEqual(serve.model("llama3-8b")["parameters"], 8_030_261_248)
        self.assertIn("zb-v", serve.names()["schedules"])


@unittest.skipUnless(importlib.util.find_spec("mcp"), "the library of the Model Context Protocol is not there")
class Protocol(unittest.TestCase):
    def test_a_client_lists_and_calls_the_tools(self):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        async def talk():
            server = StdioServerParameters(command=sys.executable, args=["-m", "debubble.serve"], env=dict(os.environ))
            async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                tools = {tool.name: tool for tool in (await session.list_tools()).tools}
                good = await session.call_tool("simulate", {"scenario": "gpt2-xl"})
                bad = await session.call_tool("simulate", {"scenario": "gpt2-xxl"})
                return tools, good, bad

        tools, good, bad = asyncio.run(asyncio.wait_for(talk(), 120))
        self.assertEqual(set(tools), {tool.__name__ for tool in serve.TOOLS})
        self.assertIn("scenario", tools["simulate"].input_schema["properties"])
        self.assertFalse(good.is_error)
        self.assertTrue(bad.is_error)
        self.assertIn("gpt2-xl", bad.content[0].text)


if __name__ == "__main__":
    unittest.main()
