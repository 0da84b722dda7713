#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trace/picture/document/palette.h"

/// The primitive shapes of a picture. A painter translates them for a screen, a page or a file and
/// decides nothing: a shape contains its colours, texts and coordinates.
namespace debubble::picture {

struct Point {
    double x = 0;
    double y = 0;
    friend bool operator==(const Point&, const Point&) = default;
};

struct Rect {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
    friend bool operator==(const Rect&, const Rect&) = default;
};

/// A rectangle of one colour.
struct Area {
    Rect rect;
    Rgb fill;
    double opacity = 1;
    std::string tip = {};  ///< shown while the pointer rests on it
    bool passive = false;  ///< the pointer passes through it to the shape below, whose tip is shown
};

/// The edge of a rectangle, drawn inside of it.
struct Frame {
    Rect rect;
    Rgb ink;
    double width = 1;
};

/// Lines at 45 degrees over a rectangle. They start at its left edge and move with it.
struct Hatch {
    Rect rect;
    Rgb ink;
    double thickness = 1;  ///< the lines are kHatchPeriod apart
};
inline constexpr double kHatchPeriod = 6;

/// Columns of equal width that fill a rectangle from left to right. The colour of each, 0xffRRGGBB,
/// is the exact mean of everything in it.
struct Columns {
    Rect rect;
    std::vector<std::uint32_t> colours;
};

/// Areas above the lower edge of a rectangle, each with a stepped upper edge: columns of equal
/// width from left to right, each from its y in `tops` down.
struct Steps {
    struct Level {
        std::vector<float> tops;
        Rgb fill;
    };
    Rect rect;
    std::vector<Level> levels;       ///< each is drawn over those before it
    std::optional<Rgb> edge = {};    ///< ink of a line along the first level's upper edge
    std::optional<Rgb> ground = {};  ///< fills the rectangle first
};

enum class Anchor : std::uint8_t { Start, Middle, End };

struct Text {
    Point at;  ///< `y` is the middle of the capital letters
    std::string words;
    double size = 10;  ///< size of the font
    Rgb ink;
    Anchor anchor = Anchor::Start;
    bool bold = false;
};

enum class Dash : std::uint8_t { Solid, Dashed, Dotted };

struct Line {
    Point from;
    Point to;
    Rgb ink;
    double width = 1;
    Dash dash = Dash::Solid;
};

struct Dot {
    Point centre;
    double radius = 1;
    Rgb fill;
    Rgb edge;
    std::string tip = {};
};

struct Polygon {
    std::vector<Point> points;
    Rgb fill;
};

/// A cubic curve with a head at its end.
struct Arrow {
    Point from;
    Point to;
    Rgb ink;
};
std::pair<Point, Point> bends_of(const Arrow& arrow);  ///< the curve's two control points
Polygon head_of(const Arrow& arrow);

using Shape = std::variant<Area, Frame, Hatch, Columns, Steps, Text, Line, Dot, Polygon, Arrow>;
using Shapes = std::vector<Shape>;

/// Shapes that are moved by `origin` and clipped to `clip`, which is not moved.
struct Sheet {
    Rect clip;
    Point origin;
    Shapes shapes;
};

/// A picture: each sheet is drawn over those before it.
using Sheets = std::vector<Sheet>;

}  // namespace debubble::picture
