"""A GPT of two ranks that learns a sentence in seconds."""

SCENARIO = """
model: {name: tiny, family: gpt2, layers: 4, hidden: 16, heads: 2, vocab: 260, max_positions: 16,
        dropout: 0}
cluster: dgx-a100-40gb
gpus: 2
parallel: {pipeline: 2}
schedule: 1f1b
framework: debubble
training:
  global_batch: 4
  micro_batch: 1
  seq_length: 16
  precision: fp32
  seed: 3
  optimizer: {name: adamw, lr: 0.01}
  data: {text: TEXT}
"""
TEXT = "one two three four five six seven eight nine ten. " * 40


def write_gpt_of_large_messages(folder):
    """Its messages have a mebibyte."""
    scenario = write_tiny_gpt(folder)
    (folder / "text.txt").write_text(TEXT * 20)
    larger = scenario.read_text().replace("hidden: 16", "hidden: 256")
    scenario.write_text(larger.replace("max_positions: 16", "max_positions: 1024")
                        .replace("seq_length: 16", "seq_length: 1024"))
    return scenario


def write_tiny_gpt(folder):
    """The path of its scenario; appended lines belong to `training:`."""
    text = folder / "text.txt"
    text.write_text(TEXT)
    scenario = folder / "tiny.yaml"
    scenario.write_text(SCENARIO.replace("TEXT", str(text)))
    return scenario
