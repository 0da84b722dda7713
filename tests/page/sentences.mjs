// Compares the sentences of a page with those of a file, { bubbles: { "rank begin": words }, bars: [words] }:
// node sentences.mjs PAGE SENTENCES
import { readFileSync } from "node:fs";
import { unpacked } from "../../trace/page/assets/bytes.js";
import { answerLine, deviceOfBubble } from "../../trace/page/assets/causes.js";
import { readPage } from "../../trace/page/assets/plan.js";

const [file, wanted] = process.argv.slice(2);
const data = readFileSync(file, "utf8").match(/<script type="text\/plain" id="data">([^<]*)<\/script>/)[1];
const { look, plans: [plan] } = readPage(await unpacked(data));
const { bubbles, bars } = JSON.parse(readFileSync(wanted, "utf8"));
const sentence = (selection) => answerLine(plan, selection, look.words.kinds)
  .map((piece) => (typeof piece === "string" ? piece : piece.words)).join("");

const wrong = [];
const hold = (what, is, shall) => is === shall || wrong.push(`${what}\n  page:   ${is}\n  window: ${shall}`);
for (const bubble of plan.bubble.begin.keys()) {
  const key = `${deviceOfBubble(plan, bubble).rank} ${plan.bubble.begin[bubble]}`;
  hold(`bubble ${key}`, sentence({ bubble }), bubbles[key]);
}
for (const bar of plan.kind.keys()) hold(`bar ${bar}`, sentence({ bar }), bars[bar]);
if (plan.bubble.begin.length !== Object.keys(bubbles).length) wrong.push("the page has not all bubbles");
if (plan.kind.length !== bars.length) wrong.push("the page has not all actions");
console.log(wrong.slice(0, 8).join("\n"));
process.exitCode = wrong.length > 0 ? 1 : 0;
