// SPDX-License-Identifier: BSL-1.0

// Fits the dimensions of each value and multiplies them; they are simpler than bytes, and most are equal. A
// value of which this does not give the bytes, as one without a tensor type, is fitted by its bytes.

#include "any_shape.hpp"

#include "plan_bodies.hpp"
#include "value_types.hpp"

#include <sublet/core/errors.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace plan_model {
namespace {

using sublet::byte_count;
using sublet::value_id;

constexpr std::size_t most_reads = 160, most_kept = 8;
constexpr std::int64_t no_number = -1; ///< a value has no such dimension, or more bytes than are fitted
constexpr std::int64_t no_bytes = -2;  ///< it has no known size

std::int64_t as_number(byte_count bytes)
{
    if (bytes == sublet::no_size) return no_bytes;
    return bytes < byte_count{1} << 62 ? static_cast<std::int64_t>(bytes) : no_number;
}

/// What differs first between two readings; empty: nothing. Sizes and overwritable operands may differ, and
/// what runs inside of an operation, of which the plan has one size.
std::string first_difference(network const& a, network const& b)
{
    if (a.operations.size() != b.operations.size()) return "the numbers of operations differ";
    for (std::size_t n = 0; n != a.operations.size(); ++n) {
        operation const &x = a.operations[n], &y = b.operations[n];
        if (x.label != y.label || x.type != y.type) return x.label + " is another operation";
        if (x.inputs != y.inputs || x.outputs != y.outputs || x.mutated != y.mutated ||
            x.read_before != y.read_before)
            return x.label + " has other operands or results";
    }
    if (a.values.size() != b.values.size()) return "the numbers of values differ";
    auto why_unsized = [](network const& net, value_id v) -> std::string const* {
        auto const at =
            std::lower_bound(net.unsized.begin(), net.unsized.end(), v,
                             [](unsized_result const& left, value_id w) { return left.value < w; });
        return at != net.unsized.end() && at->value == v ? &at->why : nullptr;
    };
    for (value_id v = 0; v != a.values.size(); ++v) {
        network_value const &x = a.values[v], &y = b.values[v];
        std::string const value = "value " + quoted(x.name);
        if (x.name != y.name || x.producer != y.producer || x.role != y.role)
            return value + " is another one";
        if (x.alias_of != y.alias_of) return value + " is a view at one of them only";
        std::string const *left = why_unsized(a, v), *right = why_unsized(b, v);
        if ((left == nullptr) != (right == nullptr))
            return value + " has a known size at one of them only (it " + (left != nullptr ? *left : *right) +
                   ')';
        if ((x.bytes == sublet::no_size) != (y.bytes == sublet::no_size))
            return value + " has a known size at one of them only";
    }
    return {};
}

/// Keeps what `other` has as well.
void keep_common_pairs(network& net, network const& other)
{
    for (std::size_t n = 0; n != net.operations.size(); ++n) {
        auto const& also = other.operations[n].overwritable;
        std::erase_if(net.operations[n].overwritable,
                      [&](value_id v) { return std::find(also.begin(), also.end(), v) == also.end(); });
    }
}

} // namespace

/// Reads a file at one shape after the other.
class shape_readings {
public:
    shape_readings(std::string const& file, model_options const& how,
                   std::vector<dimension_range> const& ranges, plan_settings const& settings)
        : file_(file), model_(file, how), ranges_(ranges), settings_(settings)
    {
    }

    /// The first network is the one that the others are compared with.
    network read(sublet::shape const& shape)
    {
        std::vector<given_dimension> const sizes = given_at(ranges_, shape);
        ++reads_;
        network net = [&] {
            try {
                return model_.read(sizes);
            } catch (input_error const& e) {
                if (reads_ == 1) throw;
                std::string const text = e.what();
                throw input_error(text + " (at " + text_of_shape(ranges_, shape) + ", not at " +
                                  text_of_shape(ranges_, first_shape_) + ')');
            }
        }();
        add_arenas_inside(net);
        if (reads_ == 1) {
            first_ = net;
            first_shape_ = shape;
        } else if (std::string const what = first_difference(first_, net); !what.empty())
            throw input_error(file_ + ": has not one structure for all shapes: " + what + ": " +
                              text_of_shape(ranges_, first_shape_) + " and " + text_of_shape(ranges_, shape));
        return net;
    }

    byte_count bytes_at(value_id v, std::span<byte_count const> of)
    {
        sublet::shape shape(of.begin(), of.end());
        auto known =
            std::find_if(kept_.begin(), kept_.end(), [&](auto const& k) { return k.first == shape; });
        if (known == kept_.end()) {
            network const net = read(shape);
            std::vector<byte_count> bytes;
            for (network_value const& value : net.values) bytes.push_back(value.bytes);
            if (kept_.size() == most_kept) kept_.erase(kept_.begin());
            kept_.emplace_back(std::move(shape), std::move(bytes));
            known = kept_.end() - 1;
        }
        return known->second[v];
    }

    std::size_t reads() const { return reads_; }

private:
    void add_arenas_inside(network& net)
    {
        if (!has_bodies(net)) return;
        std::size_t const before = net.remarks.size();
        add_scratch(file_, net, settings_);
        net.remarks.resize(before); // they name the bytes at this shape
        for (operation const& op : net.operations)
            if (op.scratch != sublet::no_value)
                net.remarks.push_back(file_ + ": " + op.label +
                                      " is one step here: the graphs inside have bytes of their own");
    }

    std::string file_;
    parsed_model model_;
    std::vector<dimension_range> ranges_;
    plan_settings settings_;
    std::size_t reads_ = 0;
    network first_;
    sublet::shape first_shape_;
    std::vector<std::pair<sublet::shape, std::vector<byte_count>>> kept_;
};

namespace {

/// The numbers of a network that are fitted: of each value its bytes, then its dimensions.
class number_list {
public:
    explicit number_list(network const& net)
    {
        for (value_id v = 0; v != net.values.size(); ++v) {
            first_.push_back(count_);
            count_ += 1 + (is_tensor(net, v) ? net.types[v].size.size() : 0);
        }
        first_.push_back(count_);
    }

    std::vector<std::int64_t> numbers(network const& net) const
    {
        std::vector<std::int64_t> all;
        all.reserve(count_);
        for (value_id v = 0; v != net.values.size(); ++v) {
            std::size_t const rank = this->rank(v);
            all.push_back(as_number(net.values[v].bytes));
            bool const is_same = is_tensor(net, v) && net.types[v].size.size() == rank;
            for (std::size_t d = 0; d != rank; ++d) all.push_back(is_same ? net.types[v].size[d] : no_number);
        }
        return all;
    }

    std::size_t rank(value_id v) const { return first_[+v + 1] - first_[+v] - 1; }
    std::size_t bytes_of(value_id v) const { return first_[+v]; }
    std::size_t dimension_of(value_id v, std::size_t d) const { return first_[+v] + 1 + d; }

private:
    static bool is_tensor(network const& net, value_id v)
    {
        return v < net.types.size() && net.types[v].what == value_type::tensor && net.types[v].has_rank &&
               element_bits(net.types[v].element) != 0;
    }

    std::vector<std::size_t> first_; // by value
    std::size_t count_ = 0;
};

class shape_fitter {
public:
    shape_fitter(shape_readings& readings, std::vector<dimension_range> const& ranges)
        : readings_(readings), samples_{ranges}
    {
    }

    void fit(shaped_network& shaped)
    {
        std::vector<grid_point> wanted = first_points(samples_.ranges);
        for (grid_point const& at : wanted) {
            network net = readings_.read(shape_at(samples_.ranges, at));
            if (!list_) {
                list_.emplace(net);
                shaped.net = net;
            } else keep_common_pairs(shaped.net, net);
            samples_.add(at, list_->numbers(net));
        }
        net_ = &shaped.net;
        do {
            of_dimensions_ = fit_sizes(samples_, needed(false));
            products_.clear();
            if (read_wanted(shaped, of_dimensions_.wanted)) continue;
            of_bytes_ = fit_sizes(samples_, needed(true)); // of values that their dimensions do not give
            if (!read_wanted(shaped, of_bytes_.wanted)) break;
        } while (true);
        value_formulas(shaped);
    }

    std::string const& first_by_shape() const { return first_by_shape_; }

private:
    std::size_t class_of(std::size_t number) const { return samples_.class_of[number]; }

    bool read_wanted(shaped_network& shaped, std::vector<grid_point> const& wanted)
    {
        bool is_any = false;
        for (grid_point const& at : wanted) {
            if (readings_.reads() >= most_reads) break;
            network const net = readings_.read(shape_at(samples_.ranges, at));
            keep_common_pairs(shaped.net, net);
            samples_.add(at, list_->numbers(net));
            is_any = true;
        }
        return is_any;
    }

    std::vector<bool> needed(bool is_bytes)
    {
        std::vector<bool> is_needed(samples_.numbers.size());
        for (value_id v = 0; v != net_->values.size(); ++v)
            if (!is_bytes)
                for (std::size_t d = 0; d != list_->rank(v); ++d)
                    is_needed[class_of(list_->dimension_of(v, d))] = true;
            else if (!by_dimensions(v)) is_needed[class_of(list_->bytes_of(v))] = true;
        return is_needed;
    }

    /// The product of the dimensions, if they are found and it is the number of bytes wherever that is known.
    std::optional<sublet::formula> by_dimensions(value_id v)
    {
        std::size_t const rank = list_->rank(v);
        std::vector<std::size_t> key{class_of(list_->bytes_of(v))};
        key.push_back(v < net_->types.size() ? element_bits(net_->types[v].element) : 0);
        for (std::size_t d = 0; d != rank; ++d) key.push_back(class_of(list_->dimension_of(v, d)));
        if (key[1] == 0) return std::nullopt;
        auto const [known, is_new] = products_.emplace(key, std::nullopt);
        if (!is_new) return known->second;
        try {
            fitted_size product = fitted_constant(1, samples_.ranges.size());
            for (std::size_t i = 2; i != key.size(); ++i) {
                if (!of_dimensions_.of[key[i]]) return std::nullopt;
                product = product * *of_dimensions_.of[key[i]];
            }
            std::size_t const bits = key[1];
            product = product * fitted_constant(static_cast<std::int64_t>(bits % 8 == 0 ? bits / 8 : bits),
                                                samples_.ranges.size());
            sublet::formula bytes = product.as_formula();
            if (bits % 8 != 0) bytes = sublet::ceil_divide(bytes, 8);
            if (agrees(bytes, samples_, samples_.numbers[key[0]])) known->second = bytes;
        } catch (std::overflow_error const&) {
        } catch (sublet::precondition_error const&) {
        }
        return known->second;
    }

    /// Values of the same bytes at each point have one formula, in one form.
    void value_formulas(shaped_network& shaped)
    {
        std::map<std::size_t, sublet::formula> known; // by class
        for (value_id v = 0; v != net_->values.size(); ++v) {
            std::size_t const bytes = class_of(list_->bytes_of(v));
            if (known.count(bytes) != 0) continue;
            if (net_->values[v].bytes == sublet::no_size) known.emplace(bytes, sublet::formula::unknown());
            else if (auto const product = by_dimensions(v)) known.emplace(bytes, *product);
            else if (of_bytes_.of[bytes]) known.emplace(bytes, of_bytes_.of[bytes]->as_formula());
        }
        for (value_id v = 0; v != net_->values.size(); ++v) {
            auto const found = known.find(class_of(list_->bytes_of(v)));
            shaped.bytes.push_back(found != known.end() ? found->second : sublet::formula::by_shape());
            if (found == known.end() && shaped.by_shape++ == 0) first_by_shape_ = net_->values[v].name;
        }
    }

    shape_readings& readings_;
    size_samples samples_;
    std::optional<number_list> list_;
    network const* net_ = nullptr;
    fitted_sizes of_dimensions_, of_bytes_;
    std::map<std::vector<std::size_t>, std::optional<sublet::formula>> products_;
    std::string first_by_shape_;
};

} // namespace

std::vector<sublet::dimension> shaped_network::dims() const
{
    std::vector<sublet::dimension> all;
    for (dimension_range const& r : ranges)
        all.push_back({r.where.c_str(), static_cast<byte_count>(r.least), static_cast<byte_count>(r.most),
                       static_cast<byte_count>(r.stride)});
    return all;
}

sublet::byte_count shaped_network::bytes_at(value_id v, std::span<byte_count const> shape) const
{
    return readings->bytes_at(v, shape);
}

std::string text_of_shape(std::vector<dimension_range> const& ranges, std::span<byte_count const> shape)
{
    std::string text;
    for (std::size_t i = 0; i != ranges.size(); ++i) {
        std::string const name = quoted_in_short(ranges[i].where);
        text += (i == 0 ? "" : ", ") + name.substr(1, name.size() - 2) + '=' + std::to_string(shape[i]);
    }
    return text;
}

std::vector<given_dimension> given_at(std::vector<dimension_range> const& ranges,
                                      std::span<byte_count const> shape)
{
    std::vector<given_dimension> all;
    for (std::size_t i = 0; i != ranges.size(); ++i) {
        auto const size = static_cast<std::int64_t>(shape[i]);
        all.push_back({ranges[i].where, size, true});
        for (std::string const& name : ranges[i].also) all.push_back({name, size, true});
    }
    return all;
}

shaped_network read_for_shapes(std::string const& file, model_options const& how,
                               std::vector<dimension_range> const& ranges, plan_settings const& settings)
{
    auto const start = std::chrono::steady_clock::now();
    shaped_network shaped;
    shaped.ranges = ranges;
    shaped.readings = std::make_shared<shape_readings>(file, how, ranges, settings);
    shape_fitter fitter(*shaped.readings, ranges);
    fitter.fit(shaped);
    shaped.reads = shaped.readings->reads();
    if (shaped.by_shape != 0)
        shaped.net.remarks.push_back(file + ": the sizes of " + std::to_string(shaped.by_shape) +
                                     " values are no formulas, first of " + quoted(fitter.first_by_shape()) +
                                     ": they are read from the file at each shape");
    shaped.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return shaped;
}

} // namespace plan_model
