#!/usr/bin/env python3
"""What a page takes in a real browser (Debian's chromium, without a window): from the request to the first picture, and the
script of each frame of a zoom from the whole step to a thousandth of it and back.

    bench/page_in_browser.py PAGE...

Milliseconds by the clock of the page, of which a machine with other work shows more."""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "page"))
import browser  # noqa: E402

WHEN_READY = """new MutationObserver((_, o) => { if ('ready' in document.documentElement.dataset) {
    window.readyAt = performance.now(); o.disconnect(); } }).observe(document, {attributes: true, subtree: true});"""
FRAMES = """const view = debubble.timeline, whole = view.axis.whole ?? view.axis.end, times = [];
for (let i = -60; i <= 60; ++i) {
    const share = Math.pow(1000, (Math.abs(i) - 60) / 60), before = performance.now();
    view.axis.begin = whole * 0.4 * (1 - share); view.axis.end = view.axis.begin + whole * share;
    view.draw(); times.push(performance.now() - before);
}
return times;"""


def main():
    if browser.why_not():
        raise SystemExit(browser.why_not())
    print("| page | bytes | first picture, ms | a frame: median, 95 %, worst; worst of the first zoom, ms |\n|---|---|---|---|")
    for name in sys.argv[1:]:
        file = pathlib.Path(name).resolve()
        page = browser.Browser()
        page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WHEN_READY})
        firsts = []
        for _ in range(3):
            page.open(file)
            firsts.append(page.run("return window.readyAt"))
        first = max(page.run(FRAMES))  # the browser compiles what it runs often
        frames = sorted(page.run(FRAMES))
        print(f"| {file.name} | {file.stat().st_size:,} | {statistics.median(firsts):.0f} | {statistics.median(frames):.1f}, "
              f"{frames[int(0.95 * len(frames))]:.1f}, {frames[-1]:.1f}; {first:.1f} |", flush=True)
        page.driver.quit()


if __name__ == "__main__":
    main()
