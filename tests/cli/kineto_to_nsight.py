#!/usr/bin/env python3
"""Writes a database as `nsys export --type sqlite` does, of what Kineto files of ranks say.

    kineto_to_nsight.py OUT.sqlite RANK.json... [--without TABLE]...

Tables and columns are those of Nsight Systems 2024 as far as they are read; a file may lack any of
them, since Nsight writes no table that would be empty.
"""

import argparse
import json
import pathlib
import sqlite3

PROCESS = 0x1000000  # of a global id

TABLES = {
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER",
    "TARGET_INFO_GPU": "id INTEGER, name TEXT",
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT",
    "CUPTI_ACTIVITY_KIND_KERNEL":
        "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, "
        "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMCPY":
        "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, "
        "globalPid INTEGER, copyKind INTEGER, bytes INTEGER",
    "CUPTI_ACTIVITY_KIND_MEMSET":
        "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, "
        "globalPid INTEGER, value INTEGER",
    "CUPTI_ACTIVITY_KIND_RUNTIME":
        "start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER",
    "NVTX_EVENTS":
        "start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT, "
        "textId INTEGER, domainId INTEGER",
}


def ns(microseconds: str) -> int:
    """Kineto's decimals, digit by digit."""
    whole, _, part = microseconds.partition(".")
    value = int(whole.lstrip("-") or 0) * 1000 + int(part.ljust(3, "0")[:3] or 0)
    return -value if microseconds.startswith("-") else value


def write(out, ranks, without=(), columns=None):
    """`columns` replaces those of tables, for databases of which one is missing."""
    pathlib.Path(out).unlink(missing_ok=True)
    database = sqlite3.connect(out)
    tables = {**TABLES, **(columns or {})}
    for name, of_table in tables.items():
        if name not in without:
            database.execute(f"CREATE TABLE {name} ({of_table})")
    strings = {}

    def add(table, **values):
        has = [column.split()[0] for column in tables[table].split(", ")]
        values = {key: value for key, value in values.items() if key in has}
        if table not in without:
            places = ", ".join("?" * len(values))
            database.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})",
                             list(values.values()))

    def string(text):
        if text not in strings:
            strings[text] = len(strings) + 1
            add("StringIds", id=strings[text], value=text)
        return strings[text]

    base = None
    for number, file in enumerate(ranks):
        document = json.loads(pathlib.Path(file).read_text(), parse_float=str, parse_int=str)
        pid = 0x1000000000000 + (5000 + number) * PROCESS
        if base is None:
            base = int(document["baseTimeNanoseconds"])
            add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=base)
            add("TARGET_INFO_GPU", id=0, name=document["deviceProperties"][0]["name"])
        for event in document["traceEvents"]:
            start = ns(event["ts"])
            span = {"start": start, "end": start + ns(event["dur"])}
            args = event.get("args", {})
            category = event["cat"]
            if category == "user_annotation":
                add("NVTX_EVENTS", **span, eventType=59, globalTid=pid + 1, textId=string(event["name"]),
                    domainId=0)
            elif category == "cuda_runtime":
                add("CUPTI_ACTIVITY_KIND_RUNTIME", **span, globalTid=pid + 1,
                    correlationId=int(args["correlation"]), nameId=string(event["name"]))
            else:
                table = {"gpu_memcpy": "MEMCPY", "gpu_memset": "MEMSET"}.get(category, "KERNEL")
                add(f"CUPTI_ACTIVITY_KIND_{table}", **span, deviceId=number,
                    streamId=int(args["stream"]), correlationId=int(args["correlation"]),
                    globalPid=pid, demangledName=string(event["name"]),
                    shortName=string(event["name"].split("(")[0]))
    database.commit()
    database.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("ranks", nargs="+")
    parser.add_argument("--without", action="append", default=[], choices=list(TABLES))
    arguments = parser.parse_args()
    write(arguments.out, arguments.ranks, arguments.without)
