#!/usr/bin/env python3
"""Writes small image files of every kind, and the pixels that Pillow makes of them for a model of 16 x 16.

usage: make_images.py     (writes images/ next to this file; needs pillow)

expected.json   {file: {"3": [256 x 3 bytes, channel after channel], "1": [256 bytes]}}: the
                shorter side resized to 16 (bilinear), the middle cut out, as torchvision's Resize
                and CenterCrop do
"""

import json
import math
import pathlib
import struct
import zlib

from PIL import Image

OUT = pathlib.Path(__file__).parent / "images"
SIDE = 16


def scene(width, height):
    """Smooth, with a sharp edge, so that JPEG keeps it and resizing shows."""
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            edge = 90 if x * height > y * width else 0
            image.putpixel((x, y), (int(127 + 80 * math.sin(x / 5)), min(255, 3 * y + edge),
                                    int(127 + 100 * math.cos((x + 2 * y) / 9))))
    return image


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_grey16(path, grey):
    """Pillow has no plain mode for it. Every 16-bit value is the 8-bit one twice."""
    rows = b"".join(b"\0" + b"".join(bytes([v, v]) for v in
                                     grey.crop((0, y, grey.width, y + 1)).tobytes())
                    for y in range(grey.height))
    path.write_bytes(b"\x89PNG\r\n\x1a\n"
                     + chunk(b"IHDR", struct.pack(">IIBBBBB", *grey.size, 16, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def fitted(image):
    shorter = min(image.size)
    width, height = (int(SIDE * length / shorter) for length in image.size)
    image = image.resize((width, height), Image.Resampling.BILINEAR)
    left, top = round((width - SIDE) / 2), round((height - SIDE) / 2)
    return image.crop((left, top, left + SIDE, top + SIDE))


def expected(image):
    return {"3": [v for band in fitted(image.convert("RGB")).split() for v in band.tobytes()],
            "1": list(fitted(image.convert("RGB").convert("L")).tobytes())}


def main():
    OUT.mkdir(exist_ok=True)
    wide, tall, small = scene(47, 30), scene(21, 40), scene(9, 7)
    wide.save(OUT / "colour.jpg", quality=90)
    tall.save(OUT / "progressive.jpg", quality=80, progressive=True)
    wide.convert("L").save(OUT / "grey.jpg")
    wide.convert("CMYK").save(OUT / "ink.jpg", quality=90)
    small.save(OUT / "enlarged.png")
    wide.quantize(16).save(OUT / "palette.png")
    scene(16, 16).save(OUT / "exact.png")
    transparent = wide.copy()
    transparent.putalpha(wide.convert("L"))
    transparent.save(OUT / "transparent.png")
    write_grey16(OUT / "grey16.png", wide.convert("L"))
    results = {path.name: expected(wide.convert("L") if path.name == "grey16.png"
                                   else Image.open(path).convert("RGB"))
               for path in sorted(OUT.iterdir()) if path.suffix in (".jpg", ".png")}
    (OUT / "expected.json").write_text(json.dumps(results, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
