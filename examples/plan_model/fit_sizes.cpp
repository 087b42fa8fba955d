// SPDX-License-Identifier: BSL-1.0

// A polynomial is found in Newton's form: the number at a point is the sum of c * (t1 choose e1) * (t2 choose
// e2) ... of which only terms with all e <= t are not 0. So each point gives one coefficient, which is an
// integer, and the points that matter are those next to a coefficient that is not 0.

#include "fit_sizes.hpp"

#include <sublet/core/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace plan_model {
namespace {

constexpr std::int64_t highest_degree = 4;
constexpr std::size_t most_terms = 64;
constexpr std::int64_t most_divisors = 4096;                  ///< that are tried for one number
constexpr std::int64_t most_compared = std::int64_t{1} << 16; ///< sizes at which two divisors are compared
constexpr std::size_t most_summands = 200; ///< classes of which sums and products are tried

class fitter {
public:
    fitter(size_samples const& samples, std::vector<bool> const& is_needed)
        : samples_(samples), dimensions_(samples.ranges.size())
    {
        found_.of.resize(samples.numbers.size());
        for (std::size_t c = 0; c != samples.numbers.size(); ++c) {
            if (!is_needed[c]) continue;
            needed_.push_back(c);
            class_at_.emplace(samples.numbers[c], c);
        }
    }

    fitted_sizes fit()
    {
        std::vector<std::size_t> open;
        for (std::size_t const c : needed_)
            if (!is_found_or_waits(c, [&] { return fit_polynomial(samples_.numbers[c]); })) open.push_back(c);
        std::erase_if(open, [&](std::size_t c) {
            return is_found_or_waits(c, [&] { return fit_quotient(samples_.numbers[c]); });
        });
        for (bool goes_on = true; goes_on && !open.empty();) {
            list_summands();
            goes_on = std::erase_if(open, [&](std::size_t c) {
                          return is_found_or_waits(c, [&] { return fit_composition(samples_.numbers[c]); });
                      }) != 0;
        }
        found_.wanted.assign(wanted_.begin(), wanted_.end());
        return std::move(found_);
    }

private:
    struct attempt {
        std::optional<fitted_size> found = {};
        bool waits = false;
    };

    template <class Try>
    bool is_found_or_waits(std::size_t c, Try try_it)
    {
        try {
            attempt tried = try_it();
            if (tried.waits) return true;
            if (!tried.found || !agrees(tried.found->as_formula(), samples_, samples_.numbers[c]))
                return false;
            found_.of[c] = std::move(tried.found);
            return true;
        } catch (std::overflow_error const&) { // its coefficients
        } catch (sublet::precondition_error const&) {
        }
        return false;
    }

    std::int64_t steps(std::size_t i) const { return samples_.ranges[i].steps(); }

    std::optional<std::int64_t> number_at(std::vector<std::int64_t> const& numbers, grid_point const& at)
    {
        auto const known = samples_.index_of.find(at);
        if (known != samples_.index_of.end()) return numbers[known->second];
        wanted_.insert(at);
        return std::nullopt;
    }

    // --- polynomials ------------------------------------------------------------------------------------

    attempt fit_polynomial(std::vector<std::int64_t> const& numbers)
    {
        newton_terms terms;
        bool waits = false;
        auto add = [&](grid_point const& at) { // true: not 0
            auto const number = number_at(numbers, at);
            if (!number) waits = true;
            std::int64_t const c = number ? exact_sum(*number, -plan_model::number_at(terms, at)) : 0;
            if (c != 0) terms.emplace(at, c);
            return c != 0;
        };
        grid_point const origin(dimensions_);
        add(origin);
        if (terms.empty()) terms.emplace(origin, 0);
        for (std::size_t i = 0; i != dimensions_; ++i) {
            grid_point at = origin;
            while (at[i] != steps(i)) {
                ++at[i];
                if (!add(at)) break;
                if (at[i] > highest_degree) return {};
            }
        }
        if (waits) return {{}, true};
        for (std::size_t s = 0; s != samples_.points.size(); ++s)
            if (is_on_a_line(samples_.points[s]) &&
                plan_model::number_at(terms, samples_.points[s]) != numbers[s])
                return {};

        // Terms of more dimensions, by ascending degree.
        std::vector<grid_point> level;
        for (auto const& [at, c] : terms)
            if (at != origin) level.push_back(at);
        std::set<grid_point> visited;
        while (!level.empty()) {
            std::vector<grid_point> next;
            for (grid_point const& from : level)
                for (std::size_t i = 0; i != dimensions_; ++i) {
                    grid_point at = from;
                    ++at[i];
                    if (at[i] > steps(i) || is_on_a_line(at) || !visited.insert(at).second) continue;
                    if (has_all_below(terms, at) && add(at)) next.push_back(at);
                    if (terms.size() > most_terms) return {};
                }
            level = std::move(next);
        }
        if (waits) return {{}, true};
        for (std::size_t s = 0; s != samples_.points.size(); ++s)
            if (plan_model::number_at(terms, samples_.points[s]) != numbers[s]) return {};
        return {in_sizes(terms, samples_.ranges), false};
    }

    /// One dimension at most is not the least.
    static bool is_on_a_line(grid_point const& at)
    {
        return std::count(at.begin(), at.end(), 0) + 1 >= static_cast<std::ptrdiff_t>(at.size());
    }

    static bool has_all_below(newton_terms const& terms, grid_point at)
    {
        for (std::int64_t& t : at) {
            if (t == 0) continue;
            --t;
            bool const has = terms.count(at) != 0;
            ++t;
            if (!has) return false;
        }
        return true;
    }

    // --- quotients --------------------------------------------------------------------------------------

    /// first + step * (ceil_divide(x + shift, divisor) - that of the least x)
    struct quotient {
        std::int64_t divisor, least_shift, most_shift;
    };

    static std::int64_t rounded_up(std::int64_t x, std::int64_t divisor)
    {
        return (x + divisor - 1) / divisor;
    }

    std::int64_t size_at(std::size_t i, std::int64_t t) const
    {
        return samples_.ranges[i].least + t * samples_.ranges[i].stride;
    }

    attempt fit_quotient(std::vector<std::int64_t> const& numbers)
    {
        for (std::size_t i = 0; i != dimensions_; ++i) {
            std::map<std::int64_t, std::int64_t> by_step;
            bool is_function = true;
            for (std::size_t s = 0; s != numbers.size() && is_function; ++s)
                is_function = by_step.emplace(samples_.points[s][i], numbers[s]).first->second == numbers[s];
            if (!is_function) continue;
            bool waits = false;
            for (std::int64_t const t : line_steps(steps(i))) waits = want_on_line(i, t) || waits;
            if (waits) return {{}, true};
            attempt const tried = fit_quotient_of(i, by_step);
            if (tried.found || tried.waits) return tried;
        }
        return {};
    }

    static std::vector<std::int64_t> line_steps(std::int64_t last)
    {
        std::set<std::int64_t> at{3,  4,  5,  7,  8,        9,        12,       16,  17,
                                  24, 32, 33, 64, last / 3, last / 2, last - 1, last};
        std::vector<std::int64_t> within;
        for (std::int64_t const t : at)
            if (t >= 0 && t <= last) within.push_back(t);
        return within;
    }

    bool want_on_line(std::size_t i, std::int64_t t)
    {
        grid_point at(dimensions_);
        at[i] = t;
        if (samples_.index_of.count(at) != 0) return false;
        wanted_.insert(at);
        return true;
    }

    attempt fit_quotient_of(std::size_t i, std::map<std::int64_t, std::int64_t> const& by_step)
    {
        std::int64_t const first = by_step.begin()->second, x0 = size_at(i, by_step.begin()->first);
        std::int64_t step = 0;
        for (auto const& [t, number] : by_step) step = std::gcd(step, number - first);
        std::int64_t const jumps = step == 0 ? 0 : (by_step.rbegin()->second - first) / step,
                           wide = size_at(i, by_step.rbegin()->first) - x0;
        if (jumps < 1) return {};
        std::vector<quotient> all;
        std::int64_t const least = std::max<std::int64_t>(2, wide / (jumps + 1)),
                           most = jumps == 1 ? 2 * wide : wide / (jumps - 1) + 1;
        for (std::int64_t divisor = least; divisor <= most && divisor - least < most_divisors; ++divisor)
            for (std::int64_t q0 : {rounded_up(x0, divisor), rounded_up(x0, divisor) + 1}) {
                std::int64_t lo = 0, hi = divisor - 1;
                for (auto const& [t, number] : by_step) {
                    std::int64_t const q = q0 + (number - first) / step, x = size_at(i, t);
                    lo = std::max(lo, divisor * (q - 1) - x + 1);
                    hi = std::min(hi, divisor * q - x);
                }
                if (lo <= hi) all.push_back({divisor, lo, hi});
            }
        if (all.empty()) return {};
        auto const at = difference(i, {all.front().divisor, all.front().least_shift, 0},
                                   {all.back().divisor, all.back().most_shift, 0}, by_step);
        if (at) return {{}, want_on_line(i, *at)};
        // What is left is equal at each size, or was not told apart.
        auto const chosen =
            std::min_element(all.begin(), all.end(), [](quotient const& a, quotient const& b) {
                auto rank = [](quotient const& q) {
                    return std::pair{(q.divisor & (q.divisor - 1)) != 0, q.divisor};
                };
                return rank(a) < rank(b);
            });
        std::int64_t const shift = std::max<std::int64_t>(
            chosen->least_shift, chosen->most_shift >= 1 && chosen->least_shift == 1 ? 1 : 0);
        sublet::formula const rest =
            sublet::ceil_divide(sublet::symbol(static_cast<std::uint32_t>(i)) + shift,
                                static_cast<sublet::byte_count>(chosen->divisor));
        fitted_size size = fitted_constant(1, dimensions_);
        size.rest = step * rest + (first - step * rounded_up(x0 + shift, chosen->divisor));
        return {size, false};
    }

    /// A step at which two quotients differ, counted from the least size; in the middle of such steps.
    std::optional<std::int64_t> difference(std::size_t i, quotient const& a, quotient const& b,
                                           std::map<std::int64_t, std::int64_t> const& known) const
    {
        std::int64_t const x0 = size_at(i, 0);
        auto at = [&](quotient const& q, std::int64_t t) {
            return rounded_up(size_at(i, t) + q.least_shift, q.divisor) -
                   rounded_up(x0 + q.least_shift, q.divisor);
        };
        std::vector<std::int64_t> differ;
        for (std::int64_t t = 0; t <= std::min(steps(i), most_compared); ++t)
            if (at(a, t) != at(b, t) && known.count(t) == 0) differ.push_back(t);
        if (differ.empty()) return std::nullopt;
        for (std::size_t n = differ.size() / 4; n < differ.size() - differ.size() / 4; ++n) {
            grid_point point(dimensions_);
            point[i] = differ[n];
            if (wanted_.count(point) != 0) return differ[n]; // one sample for many numbers
        }
        return differ[differ.size() / 2];
    }

    // --- products and sums ------------------------------------------------------------------------------

    void list_summands()
    {
        summands_.clear();
        for (std::size_t const c : needed_) {
            auto const& numbers = samples_.numbers[c];
            bool const is_constant =
                std::all_of(numbers.begin(), numbers.end(), [&](auto n) { return n == numbers.front(); });
            if (found_.of[c] && !is_constant && summands_.size() < most_summands) summands_.push_back(c);
        }
    }

    /// The class with these numbers, if it is found.
    fitted_size const* found_with(std::vector<std::int64_t> const& numbers) const
    {
        auto const known = class_at_.find(numbers);
        return known != class_at_.end() && found_.of[known->second] ? &*found_.of[known->second] : nullptr;
    }

    attempt fit_composition(std::vector<std::int64_t> const& numbers)
    {
        std::vector<std::int64_t> rest(numbers.size());
        for (std::size_t const c : summands_)
            if (auto product = fit_product(numbers, c, rest)) return {std::move(product), false};
        for (std::size_t const c : summands_)
            if (auto sum = fit_sum(numbers, c)) return {std::move(sum), false};
        return {};
    }

    /// A multiple of the class, or of its product with another one.
    std::optional<fitted_size> fit_product(std::vector<std::int64_t> const& numbers, std::size_t c,
                                           std::vector<std::int64_t>& rest) const
    {
        auto const& factor = samples_.numbers[c];
        for (std::size_t s = 0; s != numbers.size(); ++s) {
            if (factor[s] == 0 || numbers[s] % factor[s] != 0) return std::nullopt;
            rest[s] = numbers[s] / factor[s];
        }
        std::int64_t common = 0;
        for (std::int64_t const n : rest) common = std::gcd(common, n);
        if (common == 0) return std::nullopt;
        fitted_size const multiple = fitted_constant(common, dimensions_) * *found_.of[c];
        for (std::int64_t& n : rest) n /= common;
        if (std::all_of(rest.begin(), rest.end(), [](std::int64_t n) { return n == 1; })) return multiple;
        if (auto const* const other = found_with(rest)) return multiple * *other;
        for (std::int64_t& n : rest) n *= common;
        if (auto const* const other = found_with(rest)) return *found_.of[c] * *other;
        return std::nullopt;
    }

    static fitted_size sum_of(sublet::formula const& sum, std::size_t dimensions)
    {
        fitted_size size = fitted_constant(1, dimensions);
        size.rest = sum;
        return size;
    }

    /// The class and a constant, or one other class or two.
    std::optional<fitted_size> fit_sum(std::vector<std::int64_t> const& numbers, std::size_t c) const
    {
        auto minus = [](std::vector<std::int64_t> all, std::vector<std::int64_t> const& other) {
            for (std::size_t s = 0; s != all.size(); ++s) all[s] -= other[s];
            return all;
        };
        std::vector<std::int64_t> const rest = minus(numbers, samples_.numbers[c]);
        sublet::formula const first = found_.of[c]->as_formula();
        if (std::all_of(rest.begin(), rest.end(), [&](std::int64_t n) { return n == rest.front(); }))
            return sum_of(first + rest.front(), dimensions_);
        if (auto const* const other = found_with(rest))
            return sum_of(first + other->as_formula(), dimensions_);
        for (std::size_t const second : summands_)
            if (second >= c)
                if (auto const* const third = found_with(minus(rest, samples_.numbers[second])))
                    return sum_of(first + found_.of[second]->as_formula() + third->as_formula(), dimensions_);
        return std::nullopt;
    }

    size_samples const& samples_;
    std::size_t dimensions_;
    std::vector<std::size_t> needed_, summands_;
    std::map<std::vector<std::int64_t>, std::size_t> class_at_;
    std::set<grid_point> wanted_;
    fitted_sizes found_;
};

} // namespace

fitted_sizes fit_sizes(size_samples const& samples, std::vector<bool> const& is_needed)
{
    return fitter(samples, is_needed).fit();
}

} // namespace plan_model
