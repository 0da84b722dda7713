#!/usr/bin/env python3
"""The window's pictures equal those of the command line: its SVG has the same shapes, its PDF their bars, colours and
words, and its PNG their colours where they lie. The page's agreement with the SVG is tests/page/agreement_test.py.

PDF files are read with poppler's pdftocairo and pdftotext; without them that test is skipped, with the reason."""

import collections
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unicodedata
import unittest
import xml.etree.ElementTree
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))
import drawn  # noqa: E402

PROGRAM, GUI = os.environ["DEBUBBLE_PROGRAM"], os.environ["DEBUBBLE_GUI_PROGRAM"]
SMALL = ["--set", "training.global_batch=32", "--set", "training.micro_batches=8"]
PLANS = {
    "zero bubble": ["gpt2-xl-zb-v", *SMALL],
    "gathers in bars": ["a40-fsdp-7b"],
    "experts": ["deepseek-v3", "--set", "training.global_batch=4096"],
}
DEADLINE = 300
HAS_NODE = drawn.NODE is not None
TOP_OF_SVG = 88  # title, legend, map and ruler


def run(*command):
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=DEADLINE, env=environment)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def colour_of(style):
    """The fill of a path as #RRGGBB, if it is opaque."""
    rgb = re.search(r"fill:rgb\(([\d.]+)%,([\d.]+)%,([\d.]+)%\);fill-opacity:1;", style)
    return "#" + "".join(f"{round(float(part) * 2.55):02X}" for part in rgb.groups()) if rgb else None


def areas_of_pdf(svg, scale):
    """The rectangles that are filled in pdftocairo's SVG of a page: (x, y, width, height, fill) in the picture's pixels."""
    areas = []
    for element in xml.etree.ElementTree.parse(svg).getroot().iter():
        fill = colour_of(element.get("style", ""))
        matrix = re.fullmatch(r"matrix\(([\d.]+),0,0,([\d.]+),([\d.-]+),([\d.-]+)\)", element.get("transform", "matrix(1,0,0,1,0,0)"))
        if not fill or not matrix:
            continue
        a, d, e, f = map(float, matrix.groups())
        for outline in element.get("d", "").split("Z"):  # one path may have several of a colour
            corners = re.findall(r"[ML] ([\d.-]+) ([\d.-]+)", outline)
            if len(corners) == 4:
                xs = [(a * float(x) + e) / scale for x, _ in corners]
                ys = [(d * float(y) + f) / scale for _, y in corners]
                areas.append((min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys), fill))
    return areas


def pixels_of_png(data):
    """Width and a function of (x, y) to #RRGGBB of a PNG with 8 bits a channel, with or without alpha."""
    at, packed, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + length])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    width, height, depth, kind = header[:4]
    assert depth == 8 and kind in (2, 6) and header[6] == 0, header
    channels = 3 if kind == 2 else 4
    raw, stride, rows, above = zlib.decompress(packed), width * channels, [], bytes(width * channels)
    for y in range(height):
        way, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if way else 0):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            if way == 1:
                more = left
            elif way == 2:
                more = above[i]
            elif way == 3:
                more = (left + above[i]) // 2
            else:
                guess = left + above[i] - corner
                more = min((left, above[i], corner), key=lambda near: abs(guess - near))
            row[i] = (row[i] + more) & 255
        above = bytes(row)
        rows.append(above)
    return width, lambda x, y: "#" + rows[y][x * channels:x * channels + 3].hex().upper()


def plain(words):
    """Words without ligatures and spaces, which may differ in a PDF."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", words))


class Agreement(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="debubble-gui-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def drawn(self, plan):
        """The SVG of the command line, and its width and height."""
        file = self.folder / "line.svg"
        run(PROGRAM, "simulate", *plan, "--svg", file)
        root = xml.etree.ElementTree.parse(file).getroot()
        return drawn.svg_shapes(file), int(root.get("width")), int(root.get("height"))

    def export(self, plan, ending, *size):
        file = self.folder / f"window.{ending}"
        run(GUI, "--export", file, *size, *plan)
        return file

    def test_the_svg_has_the_same_shapes(self):
        for name, plan in PLANS.items():
            with self.subTest(name):
                shapes, _, _ = self.drawn(plan)
                self.assertGreater(len(shapes["areas"]), 100)
                self.assertEqual(drawn.svg_shapes(self.export(plan, "svg")), shapes)

    @unittest.skipUnless(HAS_NODE, "node is not installed")
    def test_the_page_has_the_links_of_the_pictures(self):
        for name in ("gpt3-175b", "a40-fsdp-7b"):
            with self.subTest(name):
                svg, page = self.folder / "links.svg", self.folder / "links.html"
                run(GUI, "--export", svg, "--links", name)
                run(PROGRAM, "simulate", name, "--html", page)
                width = int(xml.etree.ElementTree.parse(svg).getroot().get("width"))
                shapes, on_page = drawn.svg_shapes(svg), drawn.page_shapes(page, width, 76, links=True)
                words = lambda texts: sorted(t[4] for t in texts if t[4].endswith((" links", " GB/s")))
                self.assertGreater(len(words(shapes["texts"])), 0)
                self.assertEqual(words(on_page["texts"]), words(shapes["texts"]))
                colour = on_page["message_colour"]
                areas = lambda steps, below: {bottom: area for (fill, bottom), area in drawn.summed(
                    (fill, bottom + below, area) for fill, bottom, area in steps).items() if fill == colour}
                below = TOP_OF_SVG - on_page["top"]
                in_svg, in_page = areas(shapes["steps"], 0), areas(on_page["steps"], below)
                self.assertEqual(set(in_page), set(in_svg), "lanes of links")
                for bottom, area in in_svg.items():
                    self.assertAlmostEqual(in_page[bottom], area, delta=0.01 * area + 0.2 * width)

    @unittest.skipUnless(shutil.which("pdftocairo") and shutil.which("pdftotext"), "poppler-utils are not installed")
    def test_the_pdf_has_the_same_bars_colours_and_words(self):
        for name, plan in PLANS.items():
            with self.subTest(name):
                shapes, width, height = self.drawn(plan)
                pdf, svg = self.export(plan, "pdf", "--size", f"{width}x{height}"), self.folder / "pdf.svg"
                run("pdftocairo", "-svg", pdf, svg)
                scale = float(xml.etree.ElementTree.parse(svg).getroot().get("width").removesuffix("pt")) / width
                areas = areas_of_pdf(svg, scale)
                # Bubbles are compared by their hatches: one too narrow for those is only in an SVG,
                # whose tips say why it is there.
                rects = {h[:4] for h in shapes["hatches"]}
                grounds = {a[4] for a in shapes["areas"] if a[:4] in rects}
                flat = [a for a in shapes["areas"][1:] if a[4] not in grounds]
                bars = [a for a in flat if a[2] >= 2 and a[3] >= 2]
                self.assertGreater(len(bars), 50)
                self.assertEqual(drawn.missing(bars, areas, 0.1)[:5], [], "areas of the SVG only")
                sums = lambda all_of: collections.Counter({f: sum(a[2] * a[3] for a in all_of if a[4] == f) for f in {a[4] for a in all_of}})
                in_pdf = sums(areas)
                of_levels = {step[0] for step in shapes["steps"]}  # memory, whose outlines may be rectangles
                for fill, area in sums(flat).items():
                    if fill not in of_levels:
                        self.assertAlmostEqual(in_pdf[fill], area, delta=0.01 * area + 20, msg=fill)
                said = plain(run("pdftotext", "-raw", pdf, "-"))
                for text in shapes["texts"]:
                    self.assertIn(plain(text[4]), said)

    def test_the_png_has_the_colours_where_the_shapes_lie(self):
        for name, plan in list(PLANS.items())[:2]:  # Python unpacks a large picture slowly
            with self.subTest(name):
                shapes, width, height = self.drawn(plan)
                wide, colour = pixels_of_png(self.export(plan, "png", "--size", f"{width}x{height}").read_bytes())
                per = wide // width
                found = asked = 0
                for number, area in enumerate(shapes["areas"]):
                    x, y, w, h, fill = area
                    spot = (x + 1.5, y + 1.5)
                    if w < 3 or h < 3 or spot[0] >= width or spot[1] >= height:
                        continue
                    covers = lambda s: s[0] <= spot[0] < s[0] + s[2] and s[1] <= spot[1] < s[1] + s[3]
                    if any(covers(later) for later in shapes["areas"][number + 1:]) or any(map(covers, shapes["hatches"])):
                        continue
                    asked += 1
                    found += colour(int(spot[0] * per), int(spot[1] * per)) == fill
                self.assertGreater(asked, 40)
                # Words and the outlines of far views cover a few of them.
                self.assertGreaterEqual(found / asked, 0.97, f"{found} of {asked}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
