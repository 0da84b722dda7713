#!/usr/bin/env python3
"""Prints why tests failed, once more and briefly: tests/failures.py JUNIT.xml

An entry of ctest holds many cases and thousands of lines; of each that failed, this prints the lines of its failed
expectations, or of a sanitizer's report, or the last ones where neither is found.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

STARTS = re.compile(
    r": Failure$|^(FAIL|ERROR): |ERROR: (Address|Leak|Thread)Sanitizer|WARNING: ThreadSanitizer|: runtime error: "
    r"|^Traceback \(most recent call last\)|^terminate called|\[  FAILED  \]"
)
LINES_AFTER = 12
LINES_AT_MOST = 120
LAST_LINES = 30


def told(output):
    """The lines of a failed entry's output that say why."""
    lines = output.splitlines()
    wanted = set()
    for number, line in enumerate(lines):
        if STARTS.search(line):
            after = 0 if "[  FAILED  ]" in line else LINES_AFTER
            wanted.update(range(number, min(number + after + 1, len(lines))))
    if not wanted:
        return lines[-LAST_LINES:]
    return [lines[number] for number in sorted(wanted)][:LINES_AT_MOST]


def main():
    try:
        cases = ElementTree.parse(sys.argv[1]).iter("testcase")
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"{sys.argv[1]} cannot be read: {error}")
    for case in cases:
        failure = case.find("failure")
        if failure is None:
            continue
        print(f"-- {case.get('name')} failed ({failure.get('message') or 'no exit status'}):")
        print("\n".join(told(case.findtext("system-out") or "")))


if __name__ == "__main__":
    main()
