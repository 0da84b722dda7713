#pragma once

/// The zoomed axes of a plot.
namespace debubble::gui {

/// A range of an axis, in the figures' unit.
struct PlotRange {
    double low = 0;
    double high = 1;

    double length() const { return high - low; }
    double share_of(double value) const { return (value - low) / length(); }
    double at(double share) const { return low + share * length(); }
    friend bool operator==(const PlotRange&, const PlotRange&) = default;
};

inline constexpr double kMostEnlarged = 10'000;  ///< of the whole axis

/// The range enlarged by `factor`, in which `about` keeps its position; at most `whole`.
PlotRange zoomed(PlotRange shown, PlotRange whole, double factor, double about);
/// The range moved by `by` within `whole`.
PlotRange moved(PlotRange shown, PlotRange whole, double by);
/// The range between two values, in either order, within `whole`.
PlotRange stretch_between(double a, double b, PlotRange whole);

}  // namespace debubble::gui
