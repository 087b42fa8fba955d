// SPDX-License-Identifier: BSL-1.0

// Types of results of convolutions and pools, by the positions of a window along each axis of space; and of
// operators that make images of columns or by grids.

#include "operator_shapes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace plan_model::operator_shapes {
namespace {

/// The attributes of convolutions and poolings.
struct window {
    std::vector<std::int64_t> kernel; ///< open where not known
    integers strides, dilations, pads;
    bool is_same = false; ///< as many positions as strides fit into the input
    bool has_ceil_mode = false;
};

window window_of(call const& c, integers kernel)
{
    std::size_t const rank = kernel.size();
    auto const list = [&](char const* name, std::size_t count, std::int64_t otherwise) {
        integers found = c.numbers(name).value_or(integers(count, otherwise));
        if (found.size() != count)
            throw std::runtime_error("attribute " + std::string(name) + " has " +
                                     std::to_string(found.size()) + " numbers, not " + std::to_string(count));
        return found;
    };
    window found;
    found.kernel = std::move(kernel);
    found.strides = list("strides", rank, 1);
    found.dilations = list("dilations", rank, 1);
    std::string const policy = c.word("auto_pad", "NOTSET");
    found.is_same = policy == "SAME_UPPER" || policy == "SAME_LOWER";
    found.pads = policy == "VALID" || found.is_same ? integers(2 * rank, 0) : list("pads", 2 * rank, 0);
    found.has_ceil_mode = c.number("ceil_mode", 0) != 0;
    return found;
}

/// The positions of the window along an axis of space. One that begins in the padding at the end does not
/// count.
std::int64_t positions(window const& w, std::size_t i, std::int64_t items)
{
    auto const is_large = [](std::int64_t x) { return x < 0 || x > most_attribute; };
    std::int64_t const before = w.pads[i], after = w.pads[w.kernel.size() + i], stride = w.strides[i];
    if (items < 0 || items > most_dimension || stride <= 0 || is_large(stride)) return open;
    if (w.is_same) return items / stride + (items % stride != 0);
    if (is_large(before) || is_large(after) || is_large(w.kernel[i]) || is_large(w.dilations[i])) return open;
    std::int64_t const free = items + before + after - (w.kernel[i] - 1) * w.dilations[i] - 1;
    if (w.kernel[i] == 0 || free < 0) return open;
    std::int64_t found = free / stride + 1;
    if (w.has_ceil_mode && free % stride != 0 && found * stride < items + before) ++found;
    return found;
}

/// `channels_last`: the axes of space are all but the first and the last.
std::optional<dimensions> slid(std::optional<dimensions> const& size, window const& w, dimension channels,
                               bool channels_last)
{
    if (!size) return {};
    dimensions found{(*size)[0]};
    if (!channels_last) found.push_back(channels);
    for (std::size_t i = 0; i != w.kernel.size(); ++i)
        found.push_back(at(positions(w, i, (*size)[i + (channels_last ? 1 : 2)].value)));
    if (channels_last) found.push_back(channels);
    return found;
}

void check_space(std::optional<dimensions> const& size, integers const& kernel)
{
    if (size && size->size() != kernel.size() + 2)
        throw std::runtime_error("input 0 has rank " + std::to_string(size->size()) + " and its kernel " +
                                 std::to_string(kernel.size()));
}

} // namespace

std::optional<dimensions> convolved(call const& c, bool channels_last)
{
    auto const size = c.size(0), weights = c.size(1);
    if (!size) return {};
    if (size->size() < 2) throw std::runtime_error("input 0 has rank " + std::to_string(size->size()));
    integers kernel(size->size() - 2, open);
    if (auto const given = c.numbers("kernel_shape"); given && !given->empty()) kernel = *given;
    else if (weights && weights->size() == size->size() && !channels_last)
        for (std::size_t i = 0; i != kernel.size(); ++i) kernel[i] = (*weights)[i + 2].value;
    check_space(size, kernel);
    dimension const filters = weights && !weights->empty() ? (*weights)[0] : dimension{};
    return slid(size, window_of(c, std::move(kernel)), filters, channels_last);
}

/// X, W: [channels, filters / group, kernel...]. With SAME there are as many positions as the stride takes
/// apart, unless the kernel covers fewer.
results convolve_transposed(call const& c)
{
    auto const size = c.size(0), weights = c.size(1);
    if (!size) return {{c.element(0), {}}};
    if (size->size() < 3) throw std::runtime_error("input 0 has rank " + std::to_string(size->size()));
    std::size_t const space = size->size() - 2;
    integers kernel(space, open);
    if (auto const given = c.numbers("kernel_shape"); given && !given->empty()) kernel = *given;
    else if (weights && weights->size() == size->size())
        for (std::size_t i = 0; i != space; ++i) kernel[i] = (*weights)[i + 2].value;
    check_space(size, kernel);
    window const w = window_of(c, std::move(kernel));
    integers const added = c.numbers("output_padding").value_or(integers(space, 0)),
                   made = c.numbers("output_shape").value_or(integers());
    if (added.size() != space)
        throw std::runtime_error("attribute output_padding has " + std::to_string(added.size()) +
                                 " numbers, not " + std::to_string(space));
    dimensions found{
        (*size)[0],
        at(weights && weights->size() > 1 ? times((*weights)[1].value, c.number("group", 1)) : open)};
    auto const is_large = [](std::int64_t x) { return x < 0 || x > most_attribute; };
    for (std::size_t i = 0; i != space; ++i) {
        std::int64_t const items = (*size)[i + 2].value, before = w.pads[i], after = w.pads[space + i];
        if (!made.empty()) {
            bool const is_of_space = made.size() == space;
            if (!is_of_space && made.size() != space + 2)
                throw std::runtime_error("attribute output_shape has " + std::to_string(made.size()) +
                                         " numbers");
            found.push_back(at(made[is_of_space ? i : i + 2]));
            continue;
        }
        found.emplace_back();
        if (items < 1 || is_large(items) || is_large(before) || is_large(after) || is_large(w.kernel[i]) ||
            w.kernel[i] == 0 || is_large(w.dilations[i]) || is_large(w.strides[i]) || is_large(added[i]))
            continue;
        // Each product is of two numbers below 2^31.
        std::int64_t const covered =
            plus(plus(times(w.strides[i], items - 1), times(w.kernel[i] - 1, w.dilations[i])), added[i] + 1);
        if (covered < 0) continue;
        found.back() = at(w.is_same ? std::min(covered, items * w.strides[i]) : covered - before - after);
    }
    return {{c.element(0), std::move(found)}};
}

/// The second offset's axes of space are those of the result.
results convolve_deformed(call const& c)
{
    auto found = convolved(c, false);
    auto const offsets = c.size(2);
    if (found && offsets && offsets->size() == found->size())
        for (std::size_t i = 2; i != found->size(); ++i) (*found)[i] = same((*found)[i], (*offsets)[i]);
    return {{c.element(0), std::move(found)}};
}

std::optional<dimensions> pooled(call const& c, bool channels_last)
{
    auto const kernel = c.numbers("kernel_shape");
    auto const size = c.size(0);
    if (!kernel) throw std::runtime_error("it has no attribute kernel_shape");
    check_space(size, *kernel);
    if (!size) return {};
    return slid(size, window_of(c, *kernel), channels_last ? size->back() : (*size)[1], channels_last);
}

results pool(call const& c)
{
    auto const size = pooled(c, false);
    return {{c.element(0), size}, {tensor::INT64, size}};
}

results column_to_image(call const& c)
{
    auto const size = c.size(0);
    auto const *image = c.list(1), *block = c.list(2);
    if (image == nullptr) {
        auto const length = length_of(c, 1);
        if (!length) return {{c.element(0), {}}};
        dimensions found(*length + 2);
        if (size && !size->empty()) found[0] = (*size)[0];
        return {{c.element(0), std::move(found)}};
    }
    dimensions found{size && !size->empty() ? (*size)[0] : dimension{}, {}};
    if (size && size->size() == 3 && block != nullptr) {
        std::int64_t items = 1;
        for (auto n : *block) items = times(items, n);
        found[1] = at(over((*size)[1].value, items));
    }
    for (auto n : *image) found.push_back(at(n));
    return {{c.element(0), std::move(found)}};
}

results sample_grid(call const& c)
{
    auto const x = c.size(0), grid = c.size(1);
    if (!x && !grid) return {{c.element(0), {}}};
    std::size_t const rank = x ? x->size() : grid->size();
    if (rank < 3 || (x && grid && grid->size() != rank))
        throw std::runtime_error("its operands have ranks " + std::to_string(rank) + " and " +
                                 std::to_string(grid ? grid->size() : rank));
    dimensions found(rank);
    if (x) found[0] = (*x)[0], found[1] = (*x)[1];
    if (grid) {
        found[0] = same(found[0], (*grid)[0]);
        for (std::size_t i = 2; i != rank; ++i) found[i] = (*grid)[i - 1];
    }
    return {{c.element(0), std::move(found)}};
}

results affine_grid(call const& c)
{
    auto const* size = c.list(1);
    auto const theta = c.size(0);
    std::size_t rank = 0; // of the images
    if (size != nullptr) rank = size->size();
    else if (auto const length = length_of(c, 1)) rank = *length;
    else if (theta && theta->size() == 3 && (*theta)[1].value > 0 && (*theta)[1].value < 4)
        rank = static_cast<std::size_t>((*theta)[1].value) + 2;
    if (rank != 4 && rank != 5) return {{c.element(0), {}}};
    dimensions found(rank);
    if (theta && theta->size() == 3) found[0] = (*theta)[0];
    if (size != nullptr) {
        found[0] = at((*size)[0]);
        for (std::size_t i = 2; i != rank; ++i) found[i - 1] = at((*size)[i]);
    }
    found[rank - 1] = at(static_cast<std::int64_t>(rank) - 2);
    return {{c.element(0), std::move(found)}};
}

} // namespace plan_model::operator_shapes
