"""What docs/python.md shows runs as it stands there, block after block."""

import contextlib
import io
import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Page(unittest.TestCase):
    def test_every_block_runs(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 5)
        names: dict[str, object] = {}
        for block in blocks:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, str(PAGE), "exec"), names)


if __name__ == "__main__":
    unittest.main()
