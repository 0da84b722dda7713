// The primitive shapes of trace/picture/shapes.h, drawn on a canvas or recorded.

export class CanvasPen {
  constructor(context, scale, hatchPeriod) {
    this.context = context;
    this.scale = scale;
    this.period = hatchPeriod;
    this.patterns = new Map();
  }

  area(x, y, width, height, fill, opacity = 1) {
    const context = this.context;
    if (opacity < 1) context.globalAlpha = opacity;
    context.fillStyle = fill;
    context.fillRect(x, y, width, height);
    if (opacity < 1) context.globalAlpha = 1;
  }

  /// Rectangles of one colour, as x, y, width and height of each, since a canvas changes colours slowly.
  areas(places, fill) {
    const context = this.context;
    context.fillStyle = fill;
    for (let i = 0; i < places.length; i += 4) context.fillRect(places[i], places[i + 1], places[i + 2], places[i + 3]);
  }

  /// Columns, each a pixel wide and of one colour, 0xRRGGBB.
  columns(x, y, height, colours) {
    this.strip ??= document.createElement("canvas");
    Object.assign(this.strip, { width: colours.length, height: 1 });
    const context = this.strip.getContext("2d");
    const image = context.createImageData(colours.length, 1);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; ++i) {
      const colour = colours[i];
      pixels[i] = 0xff000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | (colour >> 16);
    }
    context.putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.strip, x, y, colours.length, height);
  }

  frame(x, y, width, height, ink, line = 1) {
    this.context.strokeStyle = ink;
    this.context.lineWidth = line;
    this.context.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
  }

  /// Lines at 45 degrees that start at the left edge and move with it.
  hatch(x, y, width, height, ink, thickness = 1) {
    const pattern = this.pattern(ink, thickness);
    pattern.setTransform(new DOMMatrix([1 / this.scale, 0, 0, 1 / this.scale, x, y]));
    this.context.fillStyle = pattern;
    this.context.fillRect(x, y, width, height);
  }

  pattern(ink, thickness) {
    const key = ink + thickness;
    if (!this.patterns.has(key)) {
      const size = Math.round(this.period * this.scale);
      const tile = document.createElement("canvas");
      tile.width = tile.height = size;
      const context = tile.getContext("2d");
      context.strokeStyle = ink;
      context.lineWidth = thickness * this.scale;
      for (const shift of [-size, 0, size]) {
        context.moveTo(shift - size, 2 * size);
        context.lineTo(shift + 2 * size, -size);
      }
      context.stroke();
      this.patterns.set(key, this.context.createPattern(tile, "repeat"));
    }
    return this.patterns.get(key);
  }

  text(x, y, words, size, ink, anchor = "start", bold = false) {
    const context = this.context;
    const font = `${bold ? "bold " : ""}${size}px ${kFonts}`;
    if (font !== this.font) context.font = this.font = font;  // a canvas parses it at every assignment
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.textBaseline = "alphabetic";
    context.fillStyle = ink;
    context.fillText(words, x, y + 0.365 * size);
  }

  line(x1, y1, x2, y2, ink, width = 1, dash = []) {
    const context = this.context;
    context.strokeStyle = ink;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.setLineDash([]);
  }

  dot(x, y, radius, fill, edge) {
    const context = this.context;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = edge;
    context.lineWidth = 1;
    context.stroke();
  }

  /// Columns, each a pixel wide, from their upper edges down to `bottom`.
  steps(x, tops, bottom, fill, edge = null) {
    const context = this.context;
    context.beginPath();
    context.moveTo(x, bottom);
    for (let i = 0; i < tops.length; ++i) {
      if (i > 0 && tops[i] === tops[i - 1]) continue;
      context.lineTo(x + i, i > 0 ? tops[i - 1] : bottom);
      context.lineTo(x + i, tops[i]);
    }
    context.lineTo(x + tops.length, tops[tops.length - 1]);
    context.lineTo(x + tops.length, bottom);
    context.fillStyle = fill;
    context.fill();
    if (!edge) return;
    context.strokeStyle = edge;
    context.lineWidth = 0.7;
    context.stroke();
  }

  /// A curve with a head at its end.
  arrow(x1, y1, x2, y2, ink) {
    const bend = Math.max(Math.abs(x2 - x1) / 2, 12);
    const context = this.context;
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 6, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 8, y2 - 4);
    context.lineTo(x2 - 8, y2 + 4);
    context.fill();
  }

  /// Clips the drawing of `draw` to a rectangle.
  clipped(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
    this.font = "";
  }
}

const kFonts = '"DejaVu Sans", Verdana, "Segoe UI", Roboto, sans-serif';

/// Records the shapes instead, for tests and for readers of the screen's content.
export class RecordingPen {
  constructor() { this.shapes = []; }
  area(x, y, width, height, fill, opacity = 1) { this.shapes.push({ shape: "area", x, y, width, height, fill, opacity }); }
  areas(places, fill) { for (let i = 0; i < places.length; i += 4) this.area(places[i], places[i + 1], places[i + 2], places[i + 3], fill); }
  columns(x, y, height, colours) { this.shapes.push({ shape: "columns", x, y, height, colours: [...colours] }); }
  frame(x, y, width, height, ink) { this.shapes.push({ shape: "frame", x, y, width, height, ink }); }
  hatch(x, y, width, height, ink, thickness = 1) { this.shapes.push({ shape: "hatch", x, y, width, height, ink, thickness }); }
  text(x, y, words, size, ink, anchor = "start") { this.shapes.push({ shape: "text", x, y, words, size, ink, anchor }); }
  line(x1, y1, x2, y2, ink) { this.shapes.push({ shape: "line", x1, y1, x2, y2, ink }); }
  dot(x, y, radius, fill) { this.shapes.push({ shape: "dot", x, y, radius, fill }); }
  steps(x, tops, bottom, fill) { this.shapes.push({ shape: "steps", x, tops: [...tops], bottom, fill }); }
  arrow(x1, y1, x2, y2, ink) { this.shapes.push({ shape: "arrow", x1, y1, x2, y2, ink }); }
  clipped(x, y, width, height, draw) { draw(); }
}
