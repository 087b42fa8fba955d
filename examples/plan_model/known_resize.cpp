// SPDX-License-Identifier: BSL-1.0

// The rule of Resize: axis by axis, each new element is a sum of a few old ones with weights.

#include "known_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plan_model::known_rules {
namespace {

std::string text_of(call const& c, char const* name, char const* otherwise)
{
    auto const* const a = c.find(name);
    return a == nullptr ? otherwise : a->s();
}

/// One axis.
struct stretched {
    std::int64_t in, out;
    double scale;
};

/// By axis; nothing if they are not known.
std::optional<std::vector<stretched>> axes_of(call const& c, sizes const& size)
{
    auto const listed = c.numbers("axes");
    places at;
    if (listed) {
        auto const found = axes_in(*listed, size.size());
        if (!found) return {};
        at = *found;
    } else
        for (std::size_t i = 0; i != size.size(); ++i) at.push_back(i);
    std::vector<stretched> all;
    for (auto n : size) all.push_back({n, n, 1});
    auto const* const scales = c.known(2);
    auto const* const wanted = c.list(3);
    if (wanted != nullptr) {
        if (wanted->size() != at.size()) return {};
        std::string const policy = text_of(c, "keep_aspect_ratio_policy", "stretch");
        std::optional<double> common;
        for (std::size_t i = 0; i != at.size(); ++i) {
            stretched& a = all[at[i]];
            if (a.in == 0 || (*wanted)[i] <= 0) return {};
            a.out = (*wanted)[i];
            a.scale = static_cast<double>(a.out) / static_cast<double>(a.in);
            if (policy == "not_larger") common = std::min(common.value_or(a.scale), a.scale);
            if (policy == "not_smaller") common = std::max(common.value_or(a.scale), a.scale);
        }
        for (std::size_t i : at)
            if (common) {
                all[i].scale = *common;
                all[i].out = static_cast<std::int64_t>(std::round(*common * static_cast<double>(all[i].in)));
            }
        return all;
    }
    if (scales == nullptr || scales->real.size() != at.size()) return {};
    for (std::size_t i = 0; i != at.size(); ++i) {
        stretched& a = all[at[i]];
        a.scale = scales->real[i];
        double const out = std::floor(a.scale * static_cast<double>(a.in));
        if (!(a.scale > 0) || !(out <= double{most_known_elements})) return {};
        a.out = static_cast<std::int64_t>(out);
    }
    return all;
}

/// The old coordinate of a new element; nothing for a mode that is not followed.
std::optional<double> coordinate(std::string_view mode, stretched const& a, double at)
{
    auto const in = static_cast<double>(a.in), out = static_cast<double>(a.out);
    double const half = (at + 0.5) / a.scale - 0.5;
    if (mode == "half_pixel") return half;
    if (mode == "pytorch_half_pixel") return a.out > 1 ? half : 0;
    if (mode == "asymmetric") return at / a.scale;
    if (mode == "align_corners") return a.scale * in == 1 ? 0 : at * (in - 1) / (a.scale * in - 1);
    if (mode == "half_pixel_symmetric") return half + in / 2 * (1 - out / (a.scale * in));
    return {};
}

std::optional<double> nearest(std::string_view mode, double x)
{
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    return {};
}

/// The weight of the element at a distance.
double cubic(double distance, double a)
{
    double const x = std::fabs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

struct tap {
    std::size_t index;
    double weight;
};
using taps = std::vector<tap>;

/// Of each new element along an axis.
std::optional<std::vector<taps>> taps_of(call const& c, stretched const& a)
{
    std::string const mode = text_of(c, "mode", "nearest"),
                      rounds = text_of(c, "nearest_mode", "round_prefer_floor"),
                      where = text_of(c, "coordinate_transformation_mode", "half_pixel");
    auto const* const given = c.find("cubic_coeff_a");
    double const steepness = given == nullptr ? -0.75 : double{given->f()};
    bool const drops = c.number("exclude_outside", 0) != 0;
    std::vector<taps> all(static_cast<std::size_t>(a.out));
    for (std::size_t o = 0; o != all.size(); ++o) {
        auto const x = coordinate(where, a, static_cast<double>(o));
        if (!x) return {};
        double const whole = std::floor(*x);
        double sum = 0;
        auto add = [&](double index, double weight) {
            double const last = static_cast<double>(a.in - 1), inside = std::clamp(index, 0.0, last);
            if (drops && mode == "cubic" && inside != index) return;
            all[o].push_back({static_cast<std::size_t>(inside), weight});
            sum += weight;
        };
        if (mode == "nearest") {
            auto const index = nearest(rounds, *x);
            if (!index) return {};
            add(*index, 1);
        } else if (mode == "linear") {
            add(whole, 1 - (*x - whole));
            add(whole + 1, *x - whole);
        } else if (mode == "cubic") {
            for (int k = -1; k != 3; ++k) add(whole + k, cubic(*x - whole - k, steepness));
        } else return {};
        if (drops && mode == "cubic")
            for (tap& t : all[o]) t.weight /= sum;
    }
    return all;
}

} // namespace

maybe resize(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr || c.opset < 11 || c.number("antialias", 0) != 0) return {};
    bool const is_nearest = text_of(c, "mode", "nearest") == "nearest";
    auto const axes = axes_of(c, data->size);
    if (!axes || (!is_nearest && !is_real(data->element))) return {};
    known_tensor found = *data;
    for (std::size_t i = 0; i != axes->size(); ++i) {
        if ((*axes)[i].in == (*axes)[i].out && (*axes)[i].scale == 1) continue;
        if ((*axes)[i].in == 0) return {};
        auto const from = taps_of(c, (*axes)[i]);
        sizes size = found.size;
        size[i] = (*axes)[i].out;
        auto next = from ? filled({found.element, {1}, {0}, {0}}, 0, size) : std::nullopt;
        if (!next) return {};
        around_axis const before(found.size, i), after(size, i);
        for (std::size_t o = 0; o != after.outer; ++o)
            for (std::size_t k = 0; k != after.items; ++k)
                for (std::size_t n = 0; n != after.inner; ++n)
                    for (tap const& t : (*from)[k]) {
                        std::size_t const at = before.at(o, t.index, n), to = after.at(o, k, n);
                        if (is_nearest) set(*next, to, found, at);
                        else next->real[to] += t.weight * found.real[at];
                    }
        found = std::move(*next);
    }
    for (double& x : found.real) x = rounded(found.element, x);
    return found;
}

} // namespace plan_model::known_rules
