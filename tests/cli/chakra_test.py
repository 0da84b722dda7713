"""`simulate --chakra`: traces that protoc reads, whose dependencies end at the makespan."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

from program import BAD_INPUT, ProgramTest, debubble

# The fields of mlcommons/chakra's messages that are written, by their numbers there.
SCHEMA = """
syntax = "proto3";
message Attribute { string name = 1; int32 int32_val = 7; int64 int64_val = 9; bool bool_val = 27;
  string string_val = 29; }
message Metadata { string version = 1; }
message Node {
  uint64 id = 1; string name = 2; int32 type = 3;
  repeated uint64 ctrl_deps = 4; repeated uint64 data_deps = 5;
  uint64 start_time_micros = 6; uint64 duration_micros = 7;
  repeated Attribute attr = 10;
}
message All { Metadata metadata = 1; repeated Node node = 2; }
"""
SEND, RECV, COLLECTIVE = 5, 6, 7


def messages(data):
    """The messages of a file, each of which stands behind its length."""
    at = 0
    while at < len(data):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[at:at + length]
        at += length


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


@unittest.skipUnless(shutil.which("protoc"), "protoc is not installed")
class Chakra(ProgramTest):
    def decoded(self, path):
        first, *nodes = messages(path.read_bytes())
        whole = b"\x0a" + varint(len(first)) + first
        whole += b"".join(b"\x12" + varint(len(node)) + node for node in nodes)
        schema = self.folder / "et.proto"
        schema.write_text(SCHEMA)
        text = subprocess.run(["protoc", f"--proto_path={self.folder}", "--decode=All", schema],
                              input=whole, capture_output=True, check=True).stdout.decode()
        self.assertIn("version:", text)
        found = []
        for body in re.split(r"^node \{$", text, flags=re.M)[1:]:
            value = lambda name, otherwise=0: int(
                (re.search(rf"^  {name}: (\d+)$", body, re.M) or [0, otherwise])[1])
            attributes = {name: int(number) for name, number in re.findall(
                r'name: "(comm_\w+)"\s+int\d+_val: (\d+)', body)}
            found.append({"id": value("id"), "type": value("type"),
                          "name": re.search(r'^  name: "(.*)"$', body, re.M)[1],
                          "deps": [int(d) for d in re.findall(r"^  (?:ctrl|data)_deps: (\d+)$", body,
                                                              re.M)],
                          "begin": value("start_time_micros"), "length": value("duration_micros"),
                          "tag": attributes.get("comm_tag", 0), "to": attributes.get("comm_dst", 0),
                          "group": (re.search(r'"pg_name"\s+string_val: "(\d+)"', body) or [0, None])[1]})
        return found

    def replayed(self, ranks):
        """The end of every node, from lengths and dependencies alone; a receive ends with its send."""
        ends, sent = {}, {}
        left = [(rank, node) for rank, nodes in enumerate(ranks) for node in nodes]
        while left:
            later = []
            for rank, node in left:
                needs = [ends.get((rank, d)) for d in node["deps"]]
                message = (node["tag"], node["to"])
                if None in needs or (node["type"] == RECV and message not in sent):
                    later.append((rank, node))
                    continue
                end = max(needs, default=0) + node["length"]
                if node["type"] == RECV:
                    end = max(max(needs, default=0), sent[message])
                if node["type"] == SEND:
                    sent[message] = end
                ends[rank, node["id"]] = end
            self.assertLess(len(later), len(left), "the dependencies wait for each other")
            left = later
        return ends

    def test_replays_to_the_makespan(self):
        for scenario in ["gpt2-xl-1f1b", "gpt2-xl-zb-h1", "gpt2-xl-interleaved-1f1b", "gpt2-xl-zb-v"]:
            with self.subTest(scenario):
                figures = json.loads(self.done("simulate", scenario, "--json", "-", "--chakra",
                                               self.folder / scenario).stdout)
                files = sorted(self.folder.glob(f"{scenario}.*.et"),
                               key=lambda path: int(path.name.split(".")[-2]))
                self.assertEqual(len(files), figures["plan"]["parallel"]["pipeline"])
                ranks = [self.decoded(path) for path in files]
                ends = self.replayed(ranks)
                computes = [ends[rank, node["id"]] for rank, nodes in enumerate(ranks)
                            for node in nodes if re.match(r"\d+[FBIW]\d+", node["name"])]
                self.assertAlmostEqual(max(computes), figures["makespan_s"] * 1e6, delta=2)
                for nodes in ranks:
                    waits = {node["id"]: node["length"] for node in nodes
                             if node["name"] == "WAIT" and node["deps"]}
                    before = sum(waits.get(d, 0) for node in nodes for d in node["deps"]
                                 if re.match(r"\d+[FBIW]\d+", node["name"]))
                    self.assertLess(before, 0.01 * figures["makespan_s"] * 1e6,
                                    "computes wait for what they depend on, not for a length")

    def test_every_rank_has_a_file_and_every_group_its_members(self):
        prefix = self.folder / "all"
        figures = json.loads(self.done("simulate", "gpt2-xl-1f1b", "--json", "-", "--chakra", prefix,
                                       "--chakra-replicas", "--set", "parallel.tensor=2", "--set",
                                       "gpus=16", "--set", "parallel.data=2").stdout)
        files = sorted(self.folder.glob("all.*.et"), key=lambda path: int(path.name.split(".")[-2]))
        self.assertEqual(len(files), 16)
        groups = json.loads((self.folder / "all.groups.json").read_text())
        ranks = [self.decoded(path) for path in files]
        calls = {}
        for rank, nodes in enumerate(ranks):
            for node in nodes:
                if node["type"] != COLLECTIVE:
                    continue
                self.assertIsNotNone(node["group"], node["name"])
                if node["group"] != "0":
                    self.assertIn(rank, groups[node["group"]])
                calls.setdefault(node["group"], {}).setdefault(rank, []).append(node["name"])
        for group, members in calls.items():
            self.assertEqual(sorted(members), groups.get(group, list(range(16))), group)
            self.assertEqual(len({len(names) for names in members.values()}), 1, group)
        # tp + T dp + T D pp: of a stage, the two replicas with the same part of its tensors
        self.assertIn([0, 2], groups.values())
        self.assertIn([1, 3], groups.values())
        ends = self.replayed(ranks)
        computes = [ends[rank, node["id"]] for rank, nodes in enumerate(ranks)
                    for node in nodes if re.match(r"\d+[FBIW]\d+", node["name"])]
        self.assertAlmostEqual(max(computes), figures["makespan_s"] * 1e6, delta=2)
        self.ends(debubble("simulate", "gpt2-xl-1f1b", "--chakra-replicas"), BAD_INPUT, says="--chakra")


if __name__ == "__main__":
    unittest.main()
