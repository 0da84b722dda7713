#!/usr/bin/env python3
"""Writes the small data sets in this folder: a text and images from which a small
model visibly learns something in minutes. The same files every time.

tales.txt, tales-eval.txt   little stories of simple sentences, a line each, in which words agree:
                            who is said to like something gets it, names keep their pronoun
shapes/{train,eval}/CLASS   16 x 16 RGB PNG, a disc, square, triangle or cross of some colour and
                            place on a noisy ground
"""

import pathlib
import random
import struct
import zlib

HERE = pathlib.Path(__file__).parent

PEOPLE = {"Ada": "she", "Ben": "he", "Clara": "she", "David": "he", "Emma": "she", "Finn": "he"}
ANIMALS = ["cat", "dog", "bird", "horse", "frog", "mouse", "rabbit", "hen"]
COLOURS = ["red", "blue", "green", "white", "black", "yellow"]
THINGS = ["ball", "kite", "boat", "book", "hat", "drum", "lamp", "box"]
PLACES = ["the garden", "the forest", "the house", "the field", "the old mill", "the river"]
FEELINGS = ["happy", "tired", "proud", "hungry", "glad", "calm"]


def tale(rng):
    name = rng.choice(sorted(PEOPLE))
    pronoun = PEOPLE[name]
    possessive = {"she": "her", "he": "his"}[pronoun]
    animal, thing = rng.choice(ANIMALS), rng.choice(THINGS)
    colour, place, feeling = rng.choice(COLOURS), rng.choice(PLACES), rng.choice(FEELINGS)
    beginnings = [
        f"One day {name} went to {place} with {possessive} {animal}.",
        f"{name} lived near {place} and had a {animal}.",
        f"In the morning {name} and {possessive} {animal} walked to {place}.",
    ]
    middles = [
        f"There {pronoun} found a {colour} {thing}.",
        f"{pronoun.capitalize()} looked for the {colour} {thing} all day.",
        f"The {animal} saw a {colour} {thing} and ran to it.",
    ]
    ends = [
        f"{name} took the {thing} home and was {feeling}.",
        f"The {animal} liked the {colour} {thing}, so {name} was {feeling}.",
        f'"What a good {animal}!" said {name}, and {pronoun} was {feeling}.',
    ]
    return " ".join(rng.choice(part) for part in (beginnings, middles, ends))


def write_tales(name, count, rng):
    text = "".join(tale(rng) + "\n" for _ in range(count))
    (HERE / name).write_text(text)


SIDE = 16


def is_inside(shape, x, y, size):
    """x and y from the centre, y downwards."""
    if shape == "disc":
        return x * x + y * y <= size * size
    if shape == "square":
        return max(abs(x), abs(y)) <= 0.85 * size
    if shape == "triangle":
        return abs(x) <= 0.55 * (y + size) and y <= 0.8 * size
    return min(abs(x), abs(y)) <= 0.3 * size and max(abs(x), abs(y)) <= size


def picture(shape, rng):
    ground = [rng.randrange(0, 100) for _ in range(3)]
    colour = [rng.randrange(140, 256) for _ in range(3)]
    size = rng.uniform(4, 6)
    cx, cy = (rng.uniform(SIDE / 2 - 1.5, SIDE / 2 + 0.5) for _ in range(2))
    rows = b""
    for y in range(SIDE):
        rows += b"\0"  # no filter
        for x in range(SIDE):
            source = colour if is_inside(shape, x - cx, y - cy, size) else ground
            rows += bytes(min(255, max(0, c + rng.randrange(-8, 9) // 4 * 4)) for c in source)
    return rows


def write_png(path, rows):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)  # 8 bits, RGB
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                     + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def write_shapes(split, count, rng):
    for shape in ("cross", "disc", "square", "triangle"):
        for i in range(count):
            write_png(HERE / "shapes" / split / shape / f"{i:02}.png", picture(shape, rng))


def main():
    write_tales("tales.txt", 500, random.Random(1))
    write_tales("tales-eval.txt", 40, random.Random(2))
    write_shapes("train", 24, random.Random(3))
    write_shapes("eval", 8, random.Random(4))


if __name__ == "__main__":
    main()
