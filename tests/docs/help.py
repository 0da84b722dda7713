"""What the program takes, by its own help; and whether a command that is not run could be."""

import functools
import re
import shlex
import subprocess


class Help:
    def __init__(self, program):
        self.program = program

    @functools.cached_property
    def verbs(self):
        text = self.ask("--help")
        return set(re.findall(r"^  ([a-z][a-z-]*)  ", text[text.index("Subcommands:"):], re.MULTILINE))

    @functools.lru_cache(None)
    def flags(self, verb):
        """None where this build lacks the verb's program."""
        text = self.ask(verb, "--help")
        return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)) | {"--help", "-h"} if text else None

    def ask(self, *words):
        asked = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=60)
        return asked.stdout if asked.returncode == 0 else ""

    def mistakes(self, text):
        """Sentences about the `debubble VERB ...` in a line or a script."""
        found = []
        for words in calls(text):
            if not words or words[0].startswith("-"):
                continue
            verb = words[0]
            if verb not in self.verbs:
                found.append(f"there is no verb '{verb}'")
                continue
            flags = self.flags(verb)
            for word in words[1:] if flags else []:
                flag = word.split("=")[0]
                if re.match(r"--?[a-z]", flag) and flag not in flags:
                    found.append(f"debubble {verb} takes no '{flag}'")
        return found


def calls(text):
    """The words after each `debubble`, of each simple command."""
    text = text.replace("\\\n", " ")
    for line in re.split(r"\n|&&|\|\||;|\||&(?!\d)", text):
        line = re.sub(r"(^|\s)#.*", "", line)
        for found in re.finditer(r"(?:^|[\s/])debubble ((?:[^<>]|<[A-Za-z])*)", line):
            rest = found[1]
            try:
                yield shlex.split(rest)
            except ValueError:  # a quote that another line closes
                yield rest.replace('"', " ").replace("'", " ").split()
