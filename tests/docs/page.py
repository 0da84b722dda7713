"""A page of the documentation as the test sees it: files to write and commands to run, in the page's order.

Fenced blocks are read as follows.

    ```console          lines after "$ " are commands (one goes on after "\\" at its end, and in lines after "> "),
                        the others the output of the command above them; "..." stands for any text within a line,
                        and as a line of its own for any lines. A command without output may print anything.
    ```sh               one script, any output
    ```yaml title="x"   the file x, written before the commands that follow (any language)

A command has to exit with 0, unless "$ echo $?" follows it and shows another status. A comment directly
above a block changes what the test does, and says why:

    <!-- test: skip: REASON -->             the block is checked (bash -n, flags, scenarios) and not run
    <!-- test: run with WORDS: REASON -->   WORDS are appended to every `debubble run` of the block
    <!-- test: needs PROGRAM: REASON -->    skipped where PROGRAM was not built
    <!-- test: keys of FILE -->             the table below lists exactly the keys of this JSON (or JSON lines)
    <!-- test: columns of FILE -->          the table below lists exactly the columns of this CSV

`<!-- test: skip page: REASON -->` holds for every block of a page.
"""

import dataclasses
import re

MARK = re.compile(r"<!-- test: (skip page|skip|run with|needs|keys of|columns of)(?::)? ?(.*?) -->")
FENCE = re.compile(r"^( *)(```+)\s*([\w-]*)\s*(.*)$")
TITLE = re.compile(r'title="([^"]+)"')


@dataclasses.dataclass
class Command:
    """A line of a console, or a whole script."""
    text: str
    line: int  # of the page, from 1
    shown: list = dataclasses.field(default_factory=list)  # lines of its output
    shown_at: int = 0  # the index of the first of them in the page's lines
    skip: str = ""
    needs: str = ""
    script: bool = False


@dataclasses.dataclass
class File:
    name: str
    text: str
    line: int
    script: bool


@dataclasses.dataclass
class Table:
    kind: str  # keys or columns
    file: str
    names: list
    line: int


@dataclasses.dataclass
class Page:
    path: object
    lines: list
    steps: list  # of Command and File
    tables: list
    untested: list  # lines that show a command where no test sees it


def read_page(path):
    lines = path.read_text().splitlines()
    page = Page(path, lines, [], [], [])
    page_skip, mark, at = "", None, 0
    while at < len(lines):
        found, fence = MARK.search(lines[at]), FENCE.match(lines[at])
        if found and found[1] == "skip page":
            page_skip = found[2]
        elif found and found[1] in ("keys of", "columns of"):
            page.tables.append(Table(found[1].split()[0], found[2], first_column(lines, at + 1), at + 1))
        elif found:
            mark = found
        elif fence:
            end = at + 1
            while not re.match(rf"^{fence[1]}{fence[2]}\s*$", lines[end]):
                end += 1
            read_block(page, fence, at, end, mark, page_skip)
            mark, at = None, end
        else:
            if re.match(r"^(    |\t)\$? ?(build/release/bin/)?debubble ", lines[at]):
                page.untested.append(at + 1)
            mark = None
        at += 1
    return page


def read_block(page, fence, at, end, mark, page_skip):
    language, title = fence[3], TITLE.search(fence[4])
    inside = [line.removeprefix(fence[1]) for line in page.lines[at + 1:end]]
    if title:
        page.steps.append(File(title[1], "\n".join(inside) + "\n", at + 2, language == "sh"))
    elif language == "sh":
        commands = [Command("\n".join(inside), at + 2, script=True)]
    elif language == "console":
        commands = console(inside, at + 1)
    else:
        page.untested += [at + 2 + n for n, line in enumerate(inside) if re.match(r"\$? ?debubble ", line)]
    if language not in ("sh", "console") or title:
        return
    for command in commands:
        command.skip = page_skip
        if mark and mark[1] == "skip":
            command.skip = mark[2]
        elif mark and mark[1] == "needs":
            command.needs = mark[2].split(":")[0]
        elif mark:
            words = mark[2].split(":")[0]
            command.text = re.sub(r"(debubble run [^\n|>#]*[^\s|>#])", rf"\1 {words}", command.text)
    page.steps += commands


def console(lines, first):
    commands, continued = [], False
    for number, line in enumerate(lines):
        if continued:
            commands[-1].text += "\n" + line
            continued = line.endswith("\\")
        elif line.startswith("> ") and commands and not commands[-1].shown:
            commands[-1].text += "\n" + line[2:]
        elif line.startswith("$ "):
            commands.append(Command(line[2:], first + number + 1))
            continued = line.endswith("\\")
        else:
            if not commands[-1].shown:
                commands[-1].shown_at = first + number
            commands[-1].shown.append(line)
            continue
        commands[-1].shown_at = first + number + 1
    return commands


def first_column(lines, at):
    """What stands in backticks in the first column of the table there."""
    names = []
    while not lines[at].startswith("|"):
        at += 1
    for line in lines[at + 2:]:
        if not line.startswith("|"):
            break
        names += re.findall(r"`([^`]+)`", line.split("|")[1])
    return names


def matches(shown, output):
    pattern = ""
    for line in shown:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n"
    plain = "".join(line.rstrip() + "\n" for line in output.splitlines())
    return re.fullmatch(pattern, plain) is not None
