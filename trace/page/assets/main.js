// The page: reads its data, draws, and listens to its buttons.
import { unpacked } from "./bytes.js";
import { readPage } from "./plan.js";
import { Timeline } from "./timeline.js";
import { Player, progressOf } from "./play.js";
import { listen, goToBubble, follow } from "./input.js";
import { showAnswer, showDetails, showLegend, showSwatches } from "./details.js";
import { MemoryChart, addCopyButtons, showParts } from "./tables.js";
import { timeText } from "./words.js";

const byId = (id) => document.getElementById(id);

async function open() {
  const page = readPage(await unpacked(byId("data").textContent));
  byId("data").remove();
  const timeline = new Timeline(page, byId("timeline"), byId("scroller"));
  const memory = new MemoryChart(timeline, byId("memory"), byId("memory-rank"), byId("memory-part"));
  const player = new Player(timeline, () => showPlayer(timeline, player));
  const commands = commandsOf(page, timeline, player, memory);
  timeline.onSelect = (selection) => {
    showAnswer(byId("answer"), timeline);
    showDetails(byId("selected"), timeline);
    if (selection) memory.show({ plan: selection.plan, device: selection.plan.devices.find((device) => isOf(selection, device)) });
  };
  timeline.onDraw = () => memory.follow();
  timeline.onMeasure = () => showAnswer(byId("answer"), timeline);
  followTheme(timeline, commands);
  listen(timeline, player, byId("tip"), commands);
  for (const [id, command] of Object.entries(commands)) byId(id)?.addEventListener("click", () => { command(); timeline.changed(); });
  byId("speed").addEventListener("change", ({ target }) => (player.speed = Number(target.value)));
  new ResizeObserver(() => { timeline.resize(); memory.draw(); }).observe(byId("page"));
  commands.show();
  addCopyButtons(document);
  byId("unfold").hidden = !timeline.plans.some((plan) => plan.devices.length > 8);
  window.debubble = { timeline, player, memory, opened: performance.now() };
  document.documentElement.dataset.ready = "";
}

function isOf({ plan, bar, bubble }, device) {
  return bubble !== undefined ? bubble >= device.bubbles.first && bubble < device.bubbles.last : plan.deviceOf(bar) === device;
}

/// The commands of buttons and keys, by the ids of the buttons.
function commandsOf(page, timeline, player, memory) {
  const show = () => {
    document.documentElement.dataset.theme = timeline.theme;
    timeline.resize();
    memory.draw();
    showLegend(byId("legend"), timeline);
    showSwatches(byId("reading"), timeline);
    showParts(byId("parts"), timeline);
    showPictures(page, timeline.theme);
    showAnswer(byId("answer"), timeline);
    byId("path").ariaPressed = timeline.critical;
    byId("scale").ariaPressed = timeline.ownScale;
    byId("scale").hidden = byId("memory-part").hidden;
    byId("links").ariaPressed = timeline.allLinked;
    byId("unfold").textContent = timeline.folded ? "Show every rank" : "Fold similar ranks";
  };
  const fold = () => { timeline.fold(); show(); };
  const theme = () => { timeline.theme = timeline.theme === "dark" ? "light" : "dark"; show(); };
  return {
    show, fold, theme,
    unfold: fold,
    dark: theme,
    play: () => player.toggle(),
    path: () => { timeline.critical = !timeline.critical; byId("path").ariaPressed = timeline.critical; },
    links: () => {
      if (!timeline.hasLinks) return byId("answer").replaceChildren(page.plans[0].no_links);
      timeline.toggleLinks();
      show();
    },
    scale: () => { timeline.ownScale = !timeline.ownScale; show(); },
    all: () => timeline.axis.fit(),
    bubble: () => goToBubble(timeline, 1),
    why: () => follow(timeline),
    keys: () => (byId("reading").open = !byId("reading").open),
    picture: () => savePicture(timeline),
  };
}

function showPlayer(timeline, player) {
  const { cursor } = timeline;
  byId("play").textContent = player.playing ? "Pause" : "\u25b6 Play";
  byId("clock").textContent = cursor === null ? "" : timeline.plans.length > 1
    ? timeText(Math.round(cursor)) : `${timeText(Math.round(cursor))}, ${progressOf(timeline.plans[0], cursor)}`;
}

/// The theme of the reader's system, light on paper.
function followTheme(timeline, { show }) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const asked = new URLSearchParams(location.search).get("theme");
  timeline.theme = asked ?? (dark.matches ? "dark" : "light");
  dark.addEventListener("change", ({ matches }) => { timeline.theme = matches ? "dark" : "light"; show(); });
  let before = timeline.theme;
  addEventListener("beforeprint", () => { before = timeline.theme; timeline.theme = "light"; show(); });
  addEventListener("afterprint", () => { timeline.theme = before; show(); });
}

function savePicture(timeline) {
  timeline.canvas.toBlob((blob) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: "timeline.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

/// Paints the small pictures of the tables.
function showPictures({ pictures }, theme) {
  const colours = pictures[theme];
  let at = 0;
  const firsts = pictures.sizes.map(([width, lines]) => [at, (at += width * lines)][0]);
  for (const canvas of document.querySelectorAll("canvas[data-picture]")) {
    const number = Number(canvas.dataset.picture);
    const [width, lines] = pictures.sizes[number];
    Object.assign(canvas, { width, height: lines });
    const image = canvas.getContext("2d").createImageData(width, lines);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; ++i) {
      const colour = colours[firsts[number] + i];
      pixels[i] = 0xff000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | (colour >> 16);
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
}

open();
