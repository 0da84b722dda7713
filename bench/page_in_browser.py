#!/usr/bin/env python3
"""What a page takes in a real browser (Debian's chromium, without a window): from the request to the first picture, and the
script of each frame of a zoom from the whole step to a thousandth of it and back.

    bench/page_in_browser.py PAGE...

The first picture by the clock, of which a machine with other work shows more; a frame in processor time of the page's thread, the
median of three zooms."""

import contextlib
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "page"))
import browser  # noqa: E402

WHEN_READY = """new MutationObserver((_, o) => { if ('ready' in document.documentElement.dataset) {
    window.readyAt = performance.now(); o.disconnect(); } }).observe(document, {attributes: true, subtree: true});"""
FRAME = """const view = debubble.timeline, whole = view.axis.whole, share = Math.pow(1000, (Math.abs(arguments[0]) - 60) / 60);
view.axis.begin = whole * 0.4 * (1 - share); view.axis.end = view.axis.begin + whole * share;
for (let i = 0; i < arguments[1]; ++i) view.draw();"""
AT_ONCE = 5  # draws of a frame that are measured together
ZOOMS = 3


class PageThread:
    """The processor time of the thread that runs a page's script, in milliseconds."""

    def __init__(self, driver):
        self.driver = driver
        of_parent = {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
                of_parent.setdefault(parent, []).append(int(stat.parent.name))
        open_, renderers = [driver.service.process.pid], []
        for pid in open_:
            open_.extend(of_parent.get(pid, []))
            if b"--type=renderer" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                renderers.append(pid)
        self.clocks = [pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat") for pid in renderers]

    def now(self):
        return sum(int(clock.read_text().split()[0]) for clock in self.clocks if clock.exists()) / 1e6

    def of(self, frame, draws):
        before = self.now()
        self.driver.execute_script(FRAME, frame, draws)
        return self.now() - before

    def frame(self, frame):
        """One draw: what several take, without what asking for it takes."""
        return (self.of(frame, AT_ONCE + 1) - self.of(frame, 1)) / AT_ONCE


def main():
    if browser.why_not():
        raise SystemExit(browser.why_not())
    print("| page | bytes | first picture, ms | a frame: median, 95 %, worst, ms |\n|---|---|---|---|")
    for name in sys.argv[1:]:
        file = pathlib.Path(name).resolve()
        page = browser.Browser()
        page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WHEN_READY})
        firsts = []
        for _ in range(3):
            page.open(file)
            firsts.append(page.run("return window.readyAt"))
        thread = PageThread(page.driver)
        zooms = [[thread.frame(i) for i in range(-60, 61)] for _ in range(ZOOMS)]
        frames = sorted(statistics.median(times) for times in zip(*zooms))
        print(f"| {file.name} | {file.stat().st_size:,} | {statistics.median(firsts):.0f} | {statistics.median(frames):.1f}, "
              f"{frames[int(0.95 * len(frames))]:.1f}, {frames[-1]:.1f} |", flush=True)
        page.driver.quit()


if __name__ == "__main__":
    main()
