#!/usr/bin/env python3
"""Writes small byte-level BPE tokenizers, and the encodings of Hugging Face's library with them.

usage: make_tokenizers.py     (writes tokenizers/ next to this file; needs tokenizers from PyPI)

gpt2/     tokenizer.json, and the same as vocab.json and merges.txt: GPT-2's expression
llama3/   tokenizer.json: Llama 3's expression as a Split, known words kept
cases.json   [{"text", "gpt2": [tokens], "llama3": [tokens], "prefixed": [tokens]}], the last by
             gpt2 with add_prefix_space
"""

import json
import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
CORPUS = HERE.parents[2] / "scenarios" / "data" / "tales.txt"
OUT = HERE / "tokenizers"

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

TEXTS = [
    "", " ", "  ", "a", "Ben lived near the river.", "I'll say he's, we've, they'd, I'm, don't, you're",
    "I'LL SAY HE'S, WE'VE", "'s't're've'm'll'd", "it's'", "12 345 6789, 3.14159 and 2^10",
    "x\n\ny\n  z\t\tw", "tabs\t and \r\n lines\r\n\r\n", "   leading and trailing   ", "a  b   c    d",
    "caf\u00e9 na\u00efve \u00fcber", "cafe\u0301", "\u65e5\u672c\u8a9e\u306e\u6587\u7ae0", "\u0645\u0631\u062d\u0628\u0627",
    "\U0001f600 emoji \U0001f468\u200d\U0001f469\u200d\U0001f467", "\u00bd \u00b2 \u2167 \u0663\u0664",
    "no\u00a0break\u00a0 \u2003em\u3000wide", "\u180evowel separator\u180e", "line\u2028separator\u0085next",
    "\u0000\u0001\u001f\u007f", "\ufeffmark", "\u017fong's \u2019s", "<|endoftext|>",
    "one<|endoftext|>two<|endoftext|><|endoftext|> three", "<|endoftext|> spaced <|endof", "<|pad|><|pad|>>",
    "!!!???...---", "foo_bar(baz)[0] = {'key': \"value\"};", "http://example.org/a?b=c&d=%20",
    "Aa" * 40, "th" * 50 + "e", " " * 300 + "x", "=" * 70,
]


def random_texts(rng):
    alphabet = list("abehnt'sIl 12.!\n\t") + ["\u00e9", "\u65e5", "\u00a0", "\U0001f600", " the", "'ll", "  "]
    for _ in range(150):
        yield "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 40)))


def train(pre_tokenizer, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=480, special_tokens=["<|endoftext|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train([str(CORPUS)], trainer)
    return tokenizer


def save(tokenizer, name):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def main():
    gpt2 = train(pre_tokenizers.ByteLevel(add_prefix_space=False))
    folder = save(gpt2, "gpt2")
    gpt2.model.save(str(folder))  # vocab.json and merges.txt

    llama3 = train(pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))
    llama3.add_special_tokens([AddedToken("<|pad|>", normalized=False, special=True)])
    description = json.loads(llama3.to_str())
    description["model"]["ignore_merges"] = True
    llama3 = Tokenizer.from_str(json.dumps(description))
    save(llama3, "llama3")

    prefixed = json.loads(gpt2.to_str())
    prefixed["pre_tokenizer"]["add_prefix_space"] = True
    prefixed = Tokenizer.from_str(json.dumps(prefixed))

    texts = TEXTS + list(random_texts(random.Random(7))) + [CORPUS.read_text()[:9000]]
    cases = [{"text": text,
              "gpt2": gpt2.encode(text, add_special_tokens=False).ids,
              "llama3": llama3.encode(text, add_special_tokens=False).ids,
              "prefixed": prefixed.encode(text, add_special_tokens=False).ids} for text in texts]
    (OUT / "cases.json").write_text(
        "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
