#pragma once

/// The axes of a plot that can be enlarged.
namespace debubble::gui {

/// A stretch of an axis, in the figures' unit.
struct PlotRange {
    double low = 0;
    double high = 1;

    double length() const { return high - low; }
    double share_of(double value) const { return (value - low) / length(); }
    double at(double share) const { return low + share * length(); }
    friend bool operator==(const PlotRange&, const PlotRange&) = default;
};

inline constexpr double kMostEnlarged = 10'000;  ///< of the whole axis

/// The stretch `factor` times as fine, in which `about` keeps its place; never more than `whole`.
PlotRange zoomed(PlotRange shown, PlotRange whole, double factor, double about);
/// The stretch moved by `by`, as far as `whole` goes.
PlotRange moved(PlotRange shown, PlotRange whole, double by);
/// The stretch between two values, in either order, within `whole`.
PlotRange stretch_between(double a, double b, PlotRange whole);

}  // namespace debubble::gui
