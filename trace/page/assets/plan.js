// A document: bars by track, bubbles, memory, and the dependencies of each action. Times are
// nanoseconds since its first action. Bars are numbered through all tracks.
import { Reader, unfolded } from "./bytes.js";
import { filled } from "./words.js";

/// The bars of a track that overlap [begin, end), as a half-open range of numbers.
export function barsIn(of, track, begin, end) {
  return [firstAfter(of.end, track.first, track.last, begin), firstFrom(of.begin, track.first, track.last, end)];
}

/// The first index in [low, high) whose number is above a value (firstFrom(): not below it). The
/// numbers ascend.
export function firstAfter(numbers, low, high, value) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
/// firstAfter() for a walk to the right: fast if the answer is near `low`.
export function nextAfter(numbers, low, high, value) {
  let step = 1;
  while (low + step < high && numbers[low + step] <= value) step *= 2;
  return firstAfter(numbers, low, Math.min(low + step + 1, high), value);
}
export function firstFrom(numbers, low, high, value) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// The bar, bubble or stretch of a track that runs at an instant; -1 for none.
export function runningAt(of, track, at) {
  const i = firstAfter(of.end, track.first, track.last, at);
  return i < track.last && of.begin[i] <= at ? i : -1;
}

export class Plan {
  constructor(json, reader) {
    Object.assign(this, json);
    this.readBars(reader);
    this.readGaps(reader);
    this.readMemory(reader);
    this.linkUse = reader.column(Uint32Array);
  }

  readBars(reader) {
    const sizes = reader.column(Uint32Array);
    const gaps = reader.signedColumn();
    const count = gaps.length;
    this.end = reader.column();
    this.kind = reader.column(Uint16Array);
    const values = reader.signedColumn(Int32Array);
    this.exposure = reader.column(Uint32Array);
    this.size = reader.column(Uint32Array);
    this.waited = reader.signedColumn();
    this.needCodes = reader.column(Uint32Array);
    this.operatorList = reader.column(Uint16Array);
    this.begin = gaps;
    this.trackOf = new Uint32Array(count);
    this.tracks = [];
    let bar = 0;
    let size = 0;
    for (const device of this.devices) {
      device.work = this.addTrack(device, "", bar, bar += sizes[size++]);
      device.streams = device.streams.map((name) => this.addTrack(device, name, bar, bar += sizes[size++]));
    }
    this.readNumbers(values);
    this.findNeeds();
  }

  addTrack(device, name, first, last) {
    const track = { device, name, first, last, number: this.tracks.length };
    let reached = 0;
    for (let i = first; i < last; ++i) {
      reached = this.begin[i] += reached;
      reached = this.end[i] += reached;
    }
    this.trackOf.fill(track.number, first, last);
    this.tracks.push(track);
    return track;
  }

  /// The numbers in each action's words, stored as differences from the last action of its kind on the
  /// track.
  readNumbers(values) {
    this.firstNumber = new Uint32Array(this.kind.length + 1);
    let place = 0;
    for (const track of this.tracks) {
      const before = this.classes.map((kind) => new Int32Array(kind.count));
      for (let i = track.first; i < track.last; ++i) {
        this.firstNumber[i] = place;
        const last = before[this.kind[i]];
        for (let k = 0; k < last.length; ++k, ++place) values[place] = last[k] += values[place];
      }
    }
    this.firstNumber[this.kind.length] = place;
    this.numbers = values;
  }

  findNeeds() {
    this.firstNeed = new Uint32Array(this.kind.length + 1);
    for (let i = 0, at = 0; i < this.kind.length; ++i) {
      this.firstNeed[i] = at;
      at += 1 + Math.floor(this.needCodes[at] / 2);
      this.firstNeed[i + 1] = at;
    }
  }

  readGaps(reader) {
    const counts = reader.column(Uint32Array);
    const stretch = (list) => (counts, key) => {
      let at = 0;
      this.devices.forEach((device, d) => {
        const track = { device, first: at, last: at += counts[d] };
        for (let i = track.first, reached = 0; i < track.last; ++i) {
          reached = list.begin[i] += reached;
          reached = list.end[i] += reached;
        }
        device[key] = track;
      });
    };
    this.bubble = { begin: reader.signedColumn(), end: reader.column(), cause: reader.column(Uint8Array),
      waitedFor: reader.references(), endedBy: reader.references() };
    stretch(this.bubble)(counts, "bubbles");
    const between = reader.column(Uint32Array);
    this.between = { begin: reader.signedColumn(), end: reader.column(), bar: reader.references() };
    stretch(this.between)(between, "between");
    this.criticalPath = reader.references();
  }

  readMemory(reader) {
    const counts = reader.column(Uint32Array);
    const at = reader.signedColumn();
    const held = this.bytesByClass = [];
    for (let c = 0; c < 6; ++c) held.push(reader.signedColumn(Int32Array));
    this.memoryAt = at;
    let first = 0;
    this.devices.forEach((device, d) => {
      const last = first + counts[d];
      for (let i = first + 1; i < last; ++i) {
        at[i] += at[i - 1];
        for (const column of held) column[i] += column[i - 1];
      }
      device.memorySteps = { first, last };
      first = last;
    });
  }

  classOf(bar) { return this.classes[this.kind[bar]]; }
  numbersOf(bar) { return this.numbers.subarray(this.firstNumber[bar], this.firstNumber[bar + 1]); }
  textOf(bar) { return filled(this.classOf(bar).text, this.numbersOf(bar)); }
  wordsOf(bar) { return filled(this.classOf(bar).words, this.numbersOf(bar)); }
  deviceOf(bar) { return this.tracks[this.trackOf[bar]].device; }
  placeOf(bar) { return `${this.textOf(bar)} of rank ${this.deviceOf(bar).rank}`; }
  lengthOf(bar) { return this.end[bar] - this.begin[bar]; }
  /// [exposed time, its parts by kind...]; undefined if nothing is exposed.
  exposureOf(bar) { return this.exposures[this.exposure[bar] - 1]; }
  exposedShare(bar) {
    const exposure = this.exposureOf(bar);
    return exposure ? Math.min(1, exposure[0] / this.lengthOf(bar)) : 0;
  }

  /// exposedShare() of every bar, computed at the first use.
  get exposedShares() {
    return (this.sharesOfBars ??= Float32Array.from(this.kind, (_, bar) => this.exposedShare(bar)));
  }

  /// The direct dependencies of a bar.
  needsOf(bar) {
    const at = this.firstNeed[bar];
    const needs = this.needCodes[at] % 2 === 1 ? [bar - 1] : [];
    for (let i = at + 1; i < this.firstNeed[bar + 1]; ++i) needs.push(bar + unfolded(this.needCodes[i]));
    return needs;
  }

  /// The direct dependents of a bar. The table for all bars is made at the first use.
  usersOf(bar) {
    this.users ??= usersTable(this);
    return this.users.bars.subarray(this.users.first[bar], this.users.first[bar + 1]);
  }

  /// The dependencies from compute to compute: a message is followed to its other end.
  directNeeds(bar) {
    const needs = this.needsOf(bar);
    if (this.classOf(bar).role !== "work") return needs;
    return needs.map((need) => (this.classOf(need).role === "recv" ? this.producerOf(need) : need));
  }
  producerOf(recv) {
    for (const send of this.needsOf(recv)) {
      if (this.classOf(send).role !== "send") continue;
      for (const producer of this.needsOf(send)) if (this.classOf(producer).role === "work") return producer;
    }
    return recv;
  }
  directUsers(bar) {
    const users = [...this.usersOf(bar)];
    if (this.classOf(bar).role !== "work") return users;
    return users.flatMap((user) => (this.classOf(user).role === "send" ? this.consumersOf(user) : [user]));
  }
  consumersOf(send) {
    const consumers = [...this.usersOf(send)].filter((recv) => this.classOf(recv).role === "recv")
      .flatMap((recv) => [...this.usersOf(recv)]);
    return consumers.length > 0 ? consumers : [send];
  }
}

function usersTable(plan) {
  const count = plan.kind.length;
  const first = new Uint32Array(count + 2);
  for (let i = 0; i < count; ++i) for (const need of plan.needsOf(i)) ++first[need + 2];
  for (let i = 2; i < first.length; ++i) first[i] += first[i - 1];
  const bars = new Uint32Array(first[count + 1]);
  for (let i = 0; i < count; ++i) for (const need of plan.needsOf(i)) bars[first[need + 1]++] = i;
  return { first, bars };
}

/// The look and the documents of a page.
export function readPage(bytes) {
  const reader = new Reader(bytes);
  const { look, documents, pictures } = reader.json();
  const plans = documents.map((json) => new Plan(json, reader));
  return { look, plans, pictures: { sizes: pictures, light: reader.column(Uint32Array), dark: reader.column(Uint32Array) } };
}
