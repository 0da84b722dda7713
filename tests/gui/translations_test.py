#!/usr/bin/env python3
"""The window's texts in its other languages: none is missing, and each has the placeholders of the English one.

gui/translations/update.sh brings the files up to date with the code."""

import pathlib
import re
import shutil
import string
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((SOURCE / "gui/translations").glob("debubble_*.ts"))
# Shown texts go through tr(); these calls give words to widgets.
SHOWN = re.compile(
    r"\b(?:setText|setToolTip|setStatusTip|setWindowTitle|setPlaceholderText|setAccessibleName|addAction|addMenu|"
    r"addTab|addRow|QLabel|QPushButton|QAction)\((?:\w+, )?\"([^\"]*[A-Za-z]{2}[^\"]*)\""
)


def messages_of(path):
    for context in ET.parse(path).getroot().findall("context"):
        for message in context.findall("message"):
            yield context.find("name").text, message


def forms_of(message):
    translation = message.find("translation")
    forms = translation.findall("numerusform")
    return [form.text or "" for form in forms] if forms else [translation.text or ""]


def fields_of(text):
    """The placeholders of fmt as pairs of number and format."""
    fields = []
    for _, name, spec, _ in string.Formatter().parse(text):
        if name is not None:
            fields.append((int(name) if name else len(fields), spec))
    return sorted(fields)


def mnemonics_of(text):
    return len(re.findall(r"(?<!&)&(?![&a-z]+;)[^\s&]", text))


class Translations(unittest.TestCase):
    def test_there_are_german_and_simplified_chinese(self):
        self.assertEqual([path.name for path in FILES], ["debubble_de.ts", "debubble_en.ts", "debubble_zh_CN.ts"])

    def test_every_text_of_the_code_is_translated_and_no_other_one(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in FILES:
                copy = pathlib.Path(folder) / path.name
                shutil.copy(path, copy)
                before = sorted((c, m.find("source").text) for c, m in messages_of(copy))
                subprocess.run([SOURCE / "gui/translations/update.sh", copy], check=True, capture_output=True, timeout=120)
                after = []
                for context, message in messages_of(copy):
                    after.append((context, message.find("source").text))
                    with self.subTest(path.name, context=context, text=after[-1][1]):
                        self.assertNotIn("type", message.find("translation").attrib, "unfinished")
                        self.assertTrue(all(form.strip() for form in forms_of(message)))
                self.assertEqual(before, sorted(after), "run gui/translations/update.sh")
                self.assertGreater(len(after), 2 if path.stem.endswith("_en") else 700)

    def test_placeholders_tags_and_mnemonics_agree(self):
        for path in FILES:
            for context, message in messages_of(path):
                source = message.find("source").text
                for form in forms_of(message):
                    with self.subTest(path.name, context=context, text=source):
                        self.assertEqual(sorted(re.findall(r"%(?:L?\d|n)", source)), sorted(re.findall(r"%(?:L?\d|n)", form)))
                        self.assertEqual(re.findall(r"</?\w+>", source), re.findall(r"</?\w+>", form))
                        self.assertEqual(re.findall(r"\*\.[\w.]+|\[\*\]", source), re.findall(r"\*\.[\w.]+|\[\*\]", form))
                        if "::" not in context:
                            self.assertEqual(fields_of(source), fields_of(form))
                        else:
                            self.assertEqual(mnemonics_of(source), mnemonics_of(form))

    def test_no_widget_is_given_words_that_cannot_be_translated(self):
        for path in sorted((SOURCE / "gui/widgets").rglob("*.cpp")):
            found = SHOWN.findall(path.read_text())
            with self.subTest(path.name):
                self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
