// SPDX-License-Identifier: BSL-1.0

// Types of results of standard operators that are newer than opset 17, or that ONNX 1.12 leaves open. A table
// names the opsets of each rule; those of ONNX Runtime's own operators are in contrib_operators.cpp.

#include "newer_operators.hpp"

#include "operator_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plan_model {
namespace {

using namespace operator_shapes;

// --- results of the shape of an operand --------------------------------------------------------------------

results like_first_of_bool(call const& c) { return {{tensor::BOOL, c.size(0)}}; }

/// The shape of the first operand, the element type of another one.
template <std::size_t Type>
results like_first_of_type(call const& c)
{
    return {{c.element(Type), c.size(0)}};
}

results broadcast_of_two(call const& c) { return {{c.element(0), broadcast(c.size(0), c.size(1))}}; }

// --- reductions, parts, paddings ---------------------------------------------------------------------------

results reduce(call const& c)
{
    bool const keeps = c.number("keepdims", 1) != 0;
    integers const none;
    integers const* axes = c.has(1) ? c.list(1) : &none;
    auto size = c.size(0);
    if (c.number("noop_with_empty_axes", 0) != 0 && (axes == nullptr || axes->empty())) {
        auto const length = c.has(1) ? length_of(c, 1) : std::size_t{0};
        if (length == std::size_t{0}) return {{c.element(0), size}};
        if (!length)
            return {{c.element(0), keeps && size ? std::optional(dimensions(size->size())) : std::nullopt}};
    }
    if (axes == nullptr && !keeps && size)
        if (auto const length = length_of(c, 1); length && *length != 0 && *length <= size->size())
            return {{c.element(0), dimensions(size->size() - *length)}};
    return {{c.element(0), reduced(std::move(size), axes, keeps)}};
}

results split(call const& c)
{
    auto const parts = static_cast<std::size_t>(c.node.output_size());
    auto const size = c.size(0);
    constexpr std::size_t most_shapes = std::size_t{1} << 20; // dimensions of all results together
    if (!size || parts == 0 || size->size() > most_shapes / parts) return results(parts, {c.element(0), {}});
    std::size_t const axis = axis_in(c.number("axis", 0), size->size());
    integers const* given = c.list(1);
    if (given != nullptr && given->size() != parts)
        throw std::runtime_error("it has " + std::to_string(parts) + " results and sizes of " +
                                 std::to_string(given->size()));
    results found;
    std::int64_t left = (*size)[axis].value;
    auto const n = static_cast<std::int64_t>(parts);
    std::int64_t const most = left < 0 ? open : left / n + (left % n != 0);
    dimensions part = *size;
    for (std::size_t i = 0; i != parts; ++i) {
        if (given != nullptr) part[axis] = at((*given)[i]);
        else if (c.has(1) || most < 0) part[axis] = {};
        else {
            part[axis] = at(std::min(most, left));
            left -= part[axis].value;
        }
        found.push_back({c.element(0), part});
    }
    return found;
}

/// Numbers that are an attribute before a version of the operator, and an operand since then.
struct moved_list {
    bool is_given = false;
    bool is_known = true; ///< or absent
    integers numbers = {};

    moved_list(call const& c, char const* name, std::size_t operand, std::int64_t since)
    {
        if (c.opset < since) {
            auto found = c.numbers(name);
            is_given = found.has_value();
            if (is_given) numbers = std::move(*found);
        } else if (c.has(operand)) {
            is_given = true;
            auto const* const found = c.list(operand);
            is_known = found != nullptr;
            if (is_known) numbers = *found;
        }
    }
};

/// The items of a slice of one axis. Backwards, what ends beyond the last item is open: by the standard it is
/// empty, and ONNX Runtime takes the greatest numbers for the first item there.
std::int64_t sliced(std::int64_t items, std::int64_t start, std::int64_t end, std::int64_t step)
{
    if (items < 0 || items > most_dimension || step == 0) return open;
    bool const is_back = step < 0;
    if (is_back && end >= std::numeric_limits<std::int32_t>::max()) return open;
    if (items == 0) return 0;
    auto const clamped = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
        if (at < 0) at = std::max(at, -items - 1) + items; // -1 is before the first
        return std::clamp(at, least, most);
    };
    std::int64_t const last = is_back ? items - 1 : items;
    std::int64_t const from = clamped(start, 0, last), to = clamped(end, is_back ? -1 : 0, last);
    std::int64_t const span = is_back ? from - to : to - from;
    if (span <= 0) return 0;
    std::uint64_t const stride =
        is_back ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(span - 1) / stride) + 1;
}

/// Axes that are not known leave all dimensions open.
results slice(call const& c)
{
    auto size = c.size(0);
    if (!size) return {{c.element(0), {}}};
    std::size_t const rank = size->size();
    moved_list const starts(c, "starts", 1, 10), ends(c, "ends", 2, 10), axes(c, "axes", 3, 10),
        steps(c, "steps", 4, 10);
    std::optional<std::size_t> count;
    if (starts.is_known) count = starts.numbers.size();
    else if (ends.is_known) count = ends.numbers.size();
    else count = length_of(c, 1);
    integers along = axes.numbers;
    if (!axes.is_given && count && *count <= rank)
        for (std::size_t i = 0; i != *count; ++i) along.push_back(static_cast<std::int64_t>(i));
    else if (!axes.is_given || !axes.is_known) return {{c.element(0), dimensions(rank)}};
    bool const has_steps = steps.is_given && c.opset >= 10;
    auto const expect_count = [&](moved_list const& list) {
        if (list.is_known && list.numbers.size() != along.size())
            throw std::runtime_error("it slices " + std::to_string(along.size()) + " axes by " +
                                     std::to_string(list.numbers.size()) + " numbers");
    };
    expect_count(starts);
    expect_count(ends);
    if (has_steps) expect_count(steps);
    std::vector<std::size_t> const which = axes_in(along, rank);
    for (std::size_t i = 0; i != which.size(); ++i) {
        dimension& d = (*size)[which[i]];
        bool const is_known = starts.is_known && ends.is_known && (!has_steps || steps.is_known);
        std::int64_t const step = has_steps && steps.is_known ? steps.numbers[i] : 1;
        if (!is_known) d = {};
        else if (starts.numbers[i] != 0 || step != 1 ||
                 ends.numbers[i] < std::numeric_limits<std::int32_t>::max())
            d = at(sliced(d.value, starts.numbers[i], ends.numbers[i], step));
        else if (d.value > ends.numbers[i]) d = at(ends.numbers[i]);
    }
    return {{c.element(0), std::move(size)}};
}

/// Axes may come in any order. Without them each dimension of 1 goes.
results squeeze(call const& c)
{
    auto const size = c.size(0);
    moved_list const axes(c, "axes", 1, 13);
    if (!size || !axes.is_known) return {{c.element(0), {}}};
    dimensions found;
    if (!axes.is_given) {
        for (dimension const& d : *size) {
            if (d.value < 0) return {{c.element(0), {}}};
            if (d.value != 1) found.push_back(d);
        }
        return {{c.element(0), std::move(found)}};
    }
    std::vector<bool> goes(size->size(), false);
    for (auto a : axes_in(axes.numbers, size->size())) {
        goes[a] = true;
        (void)same((*size)[a], at(1));
    }
    for (std::size_t i = 0; i != size->size(); ++i)
        if (!goes[i]) found.push_back((*size)[i]);
    return {{c.element(0), std::move(found)}};
}

/// The axes are those of the result.
results unsqueeze(call const& c)
{
    auto const size = c.size(0);
    moved_list const axes(c, "axes", 1, 13);
    if (!size) return {{c.element(0), {}}};
    if (!axes.is_known) {
        auto const added = length_of(c, 1);
        return {{c.element(0), added ? std::optional(dimensions(size->size() + *added)) : std::nullopt}};
    }
    std::size_t const rank = size->size() + axes.numbers.size();
    std::vector<bool> is_new(rank, false);
    for (auto a : axes_in(axes.numbers, rank)) is_new[a] = true;
    dimensions found;
    auto next = size->begin();
    for (std::size_t i = 0; i != rank; ++i) found.push_back(is_new[i] ? at(1) : *next++);
    return {{c.element(0), std::move(found)}};
}

results resize(call const& c)
{
    auto size = c.size(0);
    auto const* scales = c.known(2);
    auto const* sizes = c.list(3);
    if (scales != nullptr && scales->real.empty()) scales = nullptr;
    if (sizes != nullptr && sizes->empty()) sizes = nullptr;
    auto const given_axes = c.numbers("axes");
    if (!size) {
        if (given_axes) return {{c.element(0), {}}};
        if (sizes != nullptr) size = dimensions(sizes->size());
        else if (scales != nullptr) size = dimensions(scales->real.size());
        else return {{c.element(0), {}}};
    }
    std::size_t const rank = size->size();
    std::vector<std::size_t> axes;
    if (given_axes) axes = axes_in(*given_axes, rank);
    else
        for (std::size_t i = 0; i != rank; ++i) axes.push_back(i);
    std::size_t const given = sizes != nullptr    ? sizes->size()
                              : scales != nullptr ? scales->real.size()
                                                  : axes.size();
    if (given != axes.size())
        throw std::runtime_error("it resizes " + std::to_string(axes.size()) + " axes by " +
                                 std::to_string(given) + " numbers");

    std::string const policy = c.word("keep_aspect_ratio_policy", "stretch");
    auto const nearest = [](float x) {
        return x >= 0 && x < 0x1p60F ? at(static_cast<std::int64_t>(x)) : dimension{};
    };
    bool const is_open = std::any_of(axes.begin(), axes.end(), [&](auto a) { return (*size)[a].value <= 0; });
    if (sizes != nullptr && policy == "stretch") {
        for (std::size_t i = 0; i != axes.size(); ++i) (*size)[axes[i]] = at((*sizes)[i]);
    } else if (sizes != nullptr && !is_open && (policy == "not_larger" || policy == "not_smaller")) {
        auto const scale_of = [&](std::size_t i) {
            return static_cast<float>((*sizes)[i]) / static_cast<float>((*size)[axes[i]].value);
        };
        float scale = axes.empty() ? 1 : scale_of(0);
        for (std::size_t i = 1; i < axes.size(); ++i)
            scale = policy == "not_larger" ? std::min(scale, scale_of(i)) : std::max(scale, scale_of(i));
        for (auto a : axes) (*size)[a] = nearest(std::round(scale * static_cast<float>((*size)[a].value)));
    } else if (scales != nullptr && sizes == nullptr) {
        for (std::size_t i = 0; i != axes.size(); ++i) {
            auto const scale = static_cast<float>(std::clamp(scales->real[i], -1e30, 1e30));
            dimension& d = (*size)[axes[i]];
            if (scales->real[i] == 1) continue;
            d = d.value < 0 ? dimension{} : nearest(std::floor(static_cast<float>(d.value) * scale));
        }
    } else
        for (auto a : axes) (*size)[a] = {};
    return {{c.element(0), std::move(size)}};
}

results center_crop_pad(call const& c)
{
    auto size = c.size(0);
    auto const* to = c.list(1);
    auto const given = c.numbers("axes");
    if (!size && !given && to != nullptr) size = dimensions(to->size());
    if (!size) return {{c.element(0), {}}};
    std::vector<std::size_t> axes;
    if (given) axes = axes_in(*given, size->size());
    else
        for (std::size_t i = 0; i != size->size(); ++i) axes.push_back(i);
    if (to != nullptr && to->size() != axes.size())
        throw std::runtime_error("it crops " + std::to_string(axes.size()) + " axes to " +
                                 std::to_string(to->size()) + " sizes");
    for (std::size_t i = 0; i != axes.size(); ++i)
        (*size)[axes[i]] = to == nullptr ? dimension{} : at((*to)[i]);
    return {{c.element(0), std::move(size)}};
}

// --- signals -----------------------------------------------------------------------------------------------

results fourier(call const& c)
{
    auto size = c.size(0);
    if (!size || size->size() < 2) return {{c.element(0), {}}};
    bool const is_attribute = c.opset < 20; // the axis
    bool const is_half = c.number("onesided", 0) != 0;
    bool const has_length = c.has(1);
    auto const axis = is_attribute ? std::optional(c.number("axis", 1))
                      : c.has(2)   ? c.scalar(2)
                                   : std::int64_t{-2};
    if (!axis) {
        if (is_half || has_length) size->assign(size->size(), {});
    } else {
        dimension& d = (*size)[axis_in(*axis, size->size())];
        if (has_length) d = at(c.scalar(1).value_or(open));
        if (is_half) d = at(d.value < 0 ? open : d.value / 2 + 1);
    }
    size->back() = at(2);
    return {{c.element(0), std::move(size)}};
}

results short_fourier(call const& c)
{
    dimensions found(4);
    found[3] = at(2);
    auto const signal = c.size(0), window = c.size(2);
    std::int64_t length = c.scalar(3).value_or(open);
    if (!c.has(3) && window && window->size() == 1) length = (*window)[0].value;
    std::int64_t const step = c.scalar(1).value_or(open);
    std::int64_t const items = signal && signal->size() > 1 ? (*signal)[1].value : open;
    if (signal && !signal->empty()) found[0] = (*signal)[0];
    if (length >= 0 && step > 0 && items >= length) found[1] = at((items - length) / step + 1);
    if (length >= 0) found[2] = at(c.number("onesided", 1) != 0 ? length / 2 + 1 : length);
    return {{c.element(0), std::move(found)}};
}

results signal_window(call const& c)
{
    return {{c.type_in("output_datatype", tensor::FLOAT), dimensions{at(c.scalar(0).value_or(open))}}};
}

results mel_weights(call const& c)
{
    std::int64_t const length = c.scalar(1).value_or(open);
    return {{c.type_in("output_datatype", tensor::FLOAT),
             dimensions{at(length < 0 ? open : length / 2 + 1), at(c.scalar(0).value_or(open))}}};
}

// --- text and images ---------------------------------------------------------------------------------------

results concatenate_text(call const& c) { return {{tensor::STRING, broadcast(c.size(0), c.size(1))}}; }

results split_text(call const& c)
{
    auto const size = c.size(0);
    auto parts = size;
    if (parts) parts->push_back({});
    return {{tensor::STRING, std::move(parts)}, {tensor::INT64, size}};
}

results decode_image(call const& c)
{
    dimensions found(3);
    found[2] = at(c.word("pixel_format", "RGB") == "Grayscale" ? 1 : 3);
    return {{tensor::UINT8, std::move(found)}};
}

// --- what ONNX 1.12 leaves open ----------------------------------------------------------------------------

/// The labels of one tensor in an equation of Einsum: letters, and at most one ellipsis.
struct labels {
    std::string before, after; ///< the ellipsis
    bool has_rest = false;

    explicit labels(std::string const& text)
    {
        auto const dots = text.find("...");
        has_rest = dots != std::string::npos;
        before = text.substr(0, dots);
        if (has_rest) after = text.substr(dots + 3);
        auto const is_letter = [](char x) { return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z'); };
        for (char x : before + after)
            if (!is_letter(x)) throw std::runtime_error("its equation has a label that is no letter");
    }
};

results einsum(call const& c)
{
    std::string text = c.word("equation", "");
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    auto const arrow = text.find("->");
    std::string const left = text.substr(0, arrow);
    auto const terms = static_cast<std::size_t>(std::count(left.begin(), left.end(), ',')) + 1;
    if (terms != static_cast<std::size_t>(c.node.input_size()))
        throw std::runtime_error("its equation is of " + std::to_string(terms) + " tensors and it has " +
                                 std::to_string(c.node.input_size()) + " inputs");

    struct {
        int uses = 0;
        dimension size = {};
    } of_label[128];
    std::optional<dimensions> rest = dimensions{};
    std::size_t from = 0;
    for (std::size_t i = 0; i != terms; ++i) {
        std::size_t const to = std::min(left.find(',', from), left.size());
        labels const term(left.substr(from, to - from));
        from = to + 1;
        auto const size = c.size(i);
        std::size_t const letters = term.before.size() + term.after.size();
        if (size && (size->size() < letters || (size->size() != letters && !term.has_rest)))
            throw std::runtime_error("input " + std::to_string(i) + " has rank " +
                                     std::to_string(size->size()) + " and " + std::to_string(letters) +
                                     " labels");
        auto const use = [&](char label, std::size_t axis) {
            auto& found = of_label[static_cast<unsigned char>(label)];
            dimension const d = size ? (*size)[axis] : dimension{};
            found.size = found.uses++ == 0 ? d : broadcast(found.size, d);
        };
        std::size_t const end = size ? size->size() - term.after.size() : 0;
        for (std::size_t k = 0; k != term.before.size(); ++k) use(term.before[k], k);
        for (std::size_t k = 0; k != term.after.size(); ++k) use(term.after[k], end + k);
        if (!term.has_rest) continue;
        if (!size) rest = std::nullopt;
        else {
            auto const begin = size->begin() + static_cast<std::ptrdiff_t>(term.before.size());
            rest = broadcast(rest, dimensions(begin, size->begin() + static_cast<std::ptrdiff_t>(end)));
        }
    }

    dimensions found;
    auto const append = [&](std::string const& made) {
        for (char label : made) {
            if (of_label[static_cast<unsigned char>(label)].uses == 0)
                throw std::runtime_error("its equation makes a label that no input has");
            found.push_back(of_label[static_cast<unsigned char>(label)].size);
        }
    };
    if (arrow != std::string::npos) {
        labels const made(text.substr(arrow + 2));
        if (made.has_rest && !rest) return {{c.element(0), {}}};
        append(made.before);
        if (made.has_rest) found.insert(found.end(), rest->begin(), rest->end());
        append(made.after);
    } else {
        if (!rest) return {{c.element(0), {}}};
        found = *rest;
        for (auto const& label : of_label) // sorted
            if (label.uses == 1) found.push_back(label.size);
    }
    return {{c.element(0), std::move(found)}};
}

results one_hot(call const& c)
{
    auto size = c.size(0);
    if (!size) return {{c.element(2), {}}};
    dimension depth = at(c.scalar(1).value_or(open));
    if (auto const* k = c.known(1); k != nullptr && k->real.size() == 1)
        if (k->real[0] >= 0 && k->real[0] < 0x1p53) depth = at(static_cast<std::int64_t>(k->real[0]));
    std::size_t const axis = axis_in(c.number("axis", -1), size->size() + 1);
    size->insert(size->begin() + static_cast<std::ptrdiff_t>(axis), depth);
    return {{c.element(2), std::move(size)}};
}

/// In doubles, as ONNX Runtime counts.
results range(call const& c)
{
    dimension length{};
    auto const *start = c.known(0), *limit = c.known(1), *delta = c.known(2);
    if (start != nullptr && limit != nullptr && delta != nullptr) {
        if (start->real.size() == 1 && limit->real.size() == 1 && delta->real.size() == 1) {
            double const items = std::ceil((limit->real[0] - start->real[0]) / delta->real[0]);
            if (items < 0x1p53) length = at(static_cast<std::int64_t>(std::max(items, 0.0)));
        } else if (auto const from = c.scalar(0), to = c.scalar(1), step = c.scalar(2); from && to && step) {
            auto const far = [](std::int64_t x) { return x > most_dimension || x < -most_dimension; };
            if (*step != 0 && !far(*from) && !far(*to) && !far(*step)) {
                std::int64_t const span = *step > 0 ? *to - *from : *from - *to, by = std::abs(*step);
                length = at(span <= 0 ? 0 : (span - 1) / by + 1);
            }
        }
    }
    return {{c.element(0), dimensions{length}}};
}

results compress(call const& c)
{
    auto const* chosen = c.list(1);
    dimension const kept =
        chosen == nullptr ? dimension{}
                          : at(std::count_if(chosen->begin(), chosen->end(), [](auto x) { return x != 0; }));
    if (c.find("axis") == nullptr) return {{c.element(0), dimensions{kept}}};
    auto size = c.size(0);
    if (size) (*size)[axis_in(c.number("axis", 0), size->size())] = kept;
    return {{c.element(0), std::move(size)}};
}

/// ONNX 1.12 leaves a scalar open.
results transpose(call const& c)
{
    auto const size = c.size(0);
    if (!size) return {{c.element(0), {}}};
    dimensions found(size->rbegin(), size->rend());
    if (auto const order = c.numbers("perm")) {
        auto const axes = axes_in(*order, size->size());
        if (axes.size() != size->size())
            throw std::runtime_error("it transposes a tensor of rank " + std::to_string(size->size()) +
                                     " by " + std::to_string(axes.size()) + " axes");
        for (std::size_t i = 0; i != axes.size(); ++i) found[i] = (*size)[axes[i]];
    }
    return {{c.element(0), std::move(found)}};
}

results has_element(call const&) { return {{tensor::BOOL, dimensions{}}}; }

// --- element types that ONNX 1.12 refuses ------------------------------------------------------------------

results cast(call const& c) { return {{c.type_in("to", 0), c.size(0)}}; }

results constant(call const& c)
{
    auto const& stored = c.find("value")->t();
    dimensions size;
    for (auto d : stored.dims()) size.push_back(at(d));
    return {{stored.data_type(), std::move(size)}};
}

results constant_of_shape(call const& c)
{
    int const element = c.find("value")->t().data_type();
    if (auto const* size = c.list(0)) {
        dimensions found;
        for (auto d : *size) found.push_back(at(d));
        return {{element, std::move(found)}};
    }
    auto const rank = length_of(c, 0);
    return {{element, rank ? std::optional(dimensions(*rank)) : std::nullopt}};
}

// --- attention ---------------------------------------------------------------------------------------------

/// Q, K, V, mask, past key, past value -> Y, present key, present value, Q * K.
results attend(call const& c)
{
    heads const q(c.size(0), c.number("q_num_heads", open)), k(c.size(1), c.number("kv_num_heads", open)),
        v(c.size(2), c.number("kv_num_heads", open));
    results found{{c.element(0), {}}, {c.element(1), {}}, {c.element(2), {}}, {c.element(0), {}}};
    if (q.is_known) {
        if (q.is_apart) found[0].size = dimensions{q.batch, q.count, q.length, v.width};
        else found[0].size = dimensions{q.batch, q.length, at(times(q.count.value, v.width.value))};
    }
    dimension const total = after_past(c, 4, k.length);
    if (k.is_known) found[1].size = dimensions{k.batch, k.count, total, k.width};
    if (v.is_known) found[2].size = dimensions{v.batch, v.count, total, v.width};
    if (q.is_known) found[3].size = dimensions{q.batch, q.count, q.length, total};
    return found;
}

// --- by name -----------------------------------------------------------------------------------------------

struct versioned_rule {
    std::int64_t since;
    rule types;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
};

/// Of opsets that ONNX 1.12 does not know, or that it infers otherwise.
std::unordered_map<std::string_view, versioned_rule> const& standard_rules()
{
    static std::unordered_map<std::string_view, versioned_rule> const found{
        {"Affine", {1, like<>}}, // this one and three others were removed, and ONNX Runtime runs them
        {"AffineGrid", {20, affine_grid}},
        {"Attention", {23, attend}},
        {"AveragePool", {19, pool}},
        {"BitwiseAnd", {18, broadcast_of_two}},
        {"BitwiseNot", {18, like<>}},
        {"BitwiseOr", {18, broadcast_of_two}},
        {"BitwiseXor", {18, broadcast_of_two}},
        {"BlackmanWindow", {17, signal_window}},
        {"CenterCropPad", {18, center_crop_pad}},
        {"Cast", {19, cast}},
        {"CastLike", {19, like_first_of_type<1>}},
        {"Col2Im", {18, column_to_image}},
        {"Compress", {9, compress}},
        {"ConvTranspose", {1, convolve_transposed}},
        {"DFT", {17, fourier}},
        {"DeformConv", {19, convolve_deformed}},
        {"DequantizeLinear", {19, dequantize}},
        {"Einsum", {12, einsum}},
        {"Gelu", {20, like<>}},
        {"GridSample", {20, sample_grid}},
        {"GroupNormalization", {18, like<>}},
        {"HammingWindow", {17, signal_window}},
        {"HannWindow", {17, signal_window}},
        {"ImageDecoder", {20, decode_image}},
        {"ImageScaler", {1, like<>}},
        {"LayerNormalization", {1, normalize_layer<true>, 17}}, // of ONNX Runtime, before it was standard
        {"LpPool", {18, pool}},
        {"MelWeightMatrix", {17, mel_weights}},
        {"Mish", {18, like<>}},
        {"OneHot", {9, one_hot}},
        {"OptionalHasElement", {18, has_element}},
        {"Pad", {18, pad}},
        {"PRelu", {7, broadcast_of_two}}, // ONNX Runtime also broadcasts the first operand
        {"ParametricSoftplus", {1, like<>}},
        {"QuantizeLinear", {19, quantize}},
        {"RMSNormalization", {23, like_first_of_type<1>}},
        {"Range", {11, range}},
        {"ReduceL1", {18, reduce}},
        {"ReduceL2", {18, reduce}},
        {"ReduceLogSum", {18, reduce}},
        {"ReduceLogSumExp", {18, reduce}},
        {"ReduceMax", {18, reduce}},
        {"ReduceMean", {18, reduce}},
        {"ReduceMin", {18, reduce}},
        {"ReduceProd", {18, reduce}},
        {"ReduceSumSquare", {18, reduce}},
        {"RegexFullMatch", {20, like_first_of_bool}},
        {"Resize", {18, resize}},
        {"RotaryEmbedding", {23, like<>}},
        {"STFT", {17, short_fourier}},
        {"ScaledTanh", {1, like<>}},
        {"SimplifiedLayerNormalization", {1, normalize_layer<false>}},
        {"Slice", {1, slice}},
        {"Split", {18, split}},
        {"Squeeze", {1, squeeze}},
        {"StringConcat", {20, concatenate_text}},
        {"StringSplit", {20, split_text}},
        {"Swish", {24, like<>}},
        {"TensorScatter", {24, like<>}},
        {"Transpose", {1, transpose}},
        {"Unsqueeze", {1, unsqueeze}},
    };
    return found;
}

rule rule_of(onnx::NodeProto const& node, std::int64_t opset)
{
    if (node.domain() == "com.microsoft") {
        auto const found = runtime_rules().find(node.op_type());
        return found == runtime_rules().end() ? nullptr : found->second;
    }
    if (!node.domain().empty() && node.domain() != "ai.onnx") return nullptr;
    bool const is_pool = node.op_type() == "MaxPool" || node.op_type() == "AveragePool";
    if (is_pool && opset >= 10)
        for (auto const& a : node.attribute()) // ONNX 1.12 counts windows that begin in the padding
            if (a.name() == "ceil_mode" && a.i() != 0) return pool;
    bool const is_constant = node.op_type() == "Constant";
    if (is_constant || node.op_type() == "ConstantOfShape") {
        constexpr int last_known = tensor::BFLOAT16;
        for (auto const& a : node.attribute())
            if (a.name() == "value" && a.t().data_type() > last_known)
                return is_constant ? constant : constant_of_shape;
        return nullptr;
    }
    auto const found = standard_rules().find(node.op_type());
    if (found == standard_rules().end()) return nullptr;
    return opset >= found->second.since && opset < found->second.before ? found->second.types : nullptr;
}

onnx::TypeProto as_type(result const& found)
{
    onnx::TypeProto type;
    if (found.element == 0 && !found.size) return type;
    auto& of_tensor = *type.mutable_tensor_type();
    of_tensor.set_elem_type(found.element);
    if (!found.size) return type;
    auto& shape = *of_tensor.mutable_shape();
    for (auto const& d : *found.size) {
        auto& to = *shape.add_dim();
        if (d.value >= 0) to.set_dim_value(d.value);
        else if (!d.name.empty()) to.set_dim_param(d.name);
    }
    return type;
}

} // namespace

std::optional<std::vector<onnx::TypeProto>> infer_newer(onnx::NodeProto const& node, std::int64_t opset,
                                                        std::vector<onnx::TypeProto const*> const& types,
                                                        std::vector<known_tensor const*> const& elements)
{
    rule const types_of = rule_of(node, opset);
    if (types_of == nullptr) return {};
    results const found = types_of({node, opset, types, elements});
    std::vector<onnx::TypeProto> made(static_cast<std::size_t>(node.output_size()));
    for (std::size_t i = 0; i != std::min(made.size(), found.size()); ++i) made[i] = as_type(found[i]);
    return made;
}

} // namespace plan_model
