"""The shapes of a timeline's pictures as lists: of an SVG file, and of a page by its script in node."""

import json
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

SHAPES = pathlib.Path(__file__).with_name("shapes.mjs")
NODE = shutil.which("nodejs") or shutil.which("node")


def number(element, name):
    return float(element.get(name, "0"))


def svg_shapes(file):
    """Comparable areas and columns (x, y, width, height, fill), hatches with their ink, texts (x, y, size, fill, words), tips."""
    root = xml.etree.ElementTree.parse(file).getroot()
    inks, areas, hatches, texts, tips, steps, columns = {}, [], [], [], [], [], []

    def visit(element, size):
        tag = element.tag.split("}")[1]
        if tag == "pattern":
            inks[element.get("id")] = element[0].get("stroke")
        elif tag == "clipPath":
            return
        elif tag == "path" and (run := re.fullmatch(r"M([\d.-]+) ([\d.-]+)h([\d.]+)v([\d.]+)h-.*z", element.get("d"))):
            columns.append((*map(float, run.groups()), element.get("fill")))
        elif tag == "path" and element.get("fill", "none") != "none":
            steps.append((element.get("fill"), *covered(element.get("d"))))
        elif tag == "rect":
            place = tuple(number(element, n) for n in ("x", "y", "width", "height"))
            fill = element.get("fill")
            if hatch := re.fullmatch(r"url\(#(.*)\)", fill):
                hatches.append((*place, inks[hatch[1]]))
            elif fill != "none" and element.get("fill-opacity") is None:
                areas.append((*place, fill))
            tips.extend(title.text for title in element)
        elif tag == "text":
            texts.append((number(element, "x"), number(element, "y"), size, element.get("fill"), element.text))
        for child in element:
            visit(child, float(element.get("font-size") or size))

    visit(root, 0.0)
    return {"areas": areas, "hatches": hatches, "texts": texts, "tips": tips, "steps": steps, "columns": columns}


def covered(path):
    """The lower edge of an outline "M x y H x V y ... Z", and the square pixels within it."""
    x, bottom = map(float, re.match(r"M([\d.-]+) ([\d.-]+)", path).groups())
    y, area = bottom, 0.0
    for way, to in re.findall(r"([HV])([\d.-]+)", path):
        if way == "H":
            area += (float(to) - x) * (bottom - y)
            x = float(to)
        else:
            y = float(to)
    return bottom, area


def summed(steps):
    """Square pixels by colour and lower edge."""
    sums = {}
    for fill, bottom, area in steps:
        key = (fill, round(bottom))
        sums[key] = sums.get(key, 0.0) + area
    return sums


def page_shapes(file, width, row_height, links=False):
    """The same for a page, with rows as high as those of a picture, and optionally the links of all ranks."""
    done = subprocess.run([NODE, SHAPES, file, str(width), str(row_height), *(["links"] if links else [])], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    drawn = json.loads(done.stdout)
    place = lambda s: tuple(s[n] for n in ("x", "y", "width", "height"))
    of = lambda kind: [s for s in drawn["shapes"] if s["shape"] == kind]
    drawn["areas"] = [(*place(s), s["fill"]) for s in of("area") if s["opacity"] == 1]
    drawn["hatches"] = [(*place(s), s["ink"]) for s in of("hatch")]
    drawn["steps"] = [(s["fill"], s["bottom"], sum(s["bottom"] - top for top in s["tops"])) for s in of("steps")]
    drawn["columns"] = [(s["x"], s["y"], s["height"], s["colours"]) for s in of("columns")]
    drawn["texts"] = [(s["x"], s["y"], s["size"], s["ink"], s["words"]) for s in of("text")]
    return drawn


def colours_of_pixels(columns):
    """The colours of strips of columns, by the y of their upper edge."""
    strips = {}
    for x, y, width, _, fill in columns:
        strips.setdefault(round(y), []).extend([int(fill[1:], 16)] * round(width))
    return strips


def apart(a, b):
    """The greatest difference of two colours, 0xRRGGBB, in a channel."""
    return max(abs((a >> shift & 255) - (b >> shift & 255)) for shift in (0, 8, 16))


def missing(wanted, found, near):
    """The shapes of a list without an equal one in another list, where equal numbers differ by less than `near`."""
    cells = {}
    for shape in found:
        cells.setdefault((round(shape[0]), *shape[4:]), []).append(shape)

    def is_there(shape):
        return any(
            all(abs(a - b) < near for a, b in zip(shape[:4], other[:4]))
            for x in (-1, 0, 1)
            for other in cells.get((round(shape[0]) + x, *shape[4:]), [])
        )

    return [shape for shape in wanted if not is_there(shape)]
