// The visible range of time, on a number of pixels.

export class Axis {
  constructor(length) {
    this.whole = Math.max(length, 1);
    this.begin = 0;
    this.end = this.whole;
    this.width = 1;
  }

  get nsPerPixel() { return (this.end - this.begin) / this.width; }
  x(at) { return (at - this.begin) / this.nsPerPixel; }
  at(x) { return this.begin + x * this.nsPerPixel; }
  get showsAll() { return this.begin === 0 && this.end === this.whole; }

  /// Shows a range, moved and cut or widened as little as the limits require: a nanosecond is never
  /// wider than a pixel.
  show(begin, end) {
    const length = Math.min(Math.max(end - begin, Math.min(this.width, this.whole)), this.whole);
    const from = begin - (length - (end - begin)) / 2;
    this.begin = Math.min(Math.max(from, 0), this.whole - length);
    this.end = this.begin + length;
  }

  /// A factor above 1 enlarges. The time at this pixel keeps its position.
  zoom(factor, about) {
    const length = this.end - this.begin;
    const wanted = Math.min(Math.max(length / factor, Math.min(this.width, this.whole)), this.whole);
    const begin = this.begin + (about / this.width) * (length - wanted);
    this.show(begin, begin + wanted);
  }

  pan(pixels) {
    const by = pixels * this.nsPerPixel;
    this.show(this.begin + by, this.end + by);
  }

  fit() { this.show(0, this.whole); }

  /// Moves the view so that a range is visible, and enlarges it if the range is too narrow.
  reveal(begin, end) {
    const length = Math.max(this.end - this.begin, 1.5 * (end - begin));
    if (begin >= this.begin && end <= this.end) return;
    this.show((begin + end - length) / 2, (begin + end + length) / 2);
  }
}
