// SPDX-License-Identifier: BSL-1.0

// Types of results of ONNX Runtime's own operators, of domain com.microsoft. Many are fused or quantized
// forms of standard operators, and take their operands in other places.

#include "operator_shapes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plan_model::operator_shapes {
namespace {

// --- results of the shape of an operand --------------------------------------------------------------------

/// The sum of input and skip is the last result; the statistics are of training only.
results normalize_skip_layer(call const& c)
{
    result const like_input{c.element(0), c.size(0)};
    return {like_input, {tensor::FLOAT, {}}, {tensor::FLOAT, {}}, like_input};
}

results two_like_first(call const& c)
{
    result const like_input{c.element(0), c.size(0)};
    return {like_input, like_input};
}

results reduce_by_attribute(call const& c)
{
    integers const axes = c.numbers("axes").value_or(integers{});
    return {{c.element(0), reduced(c.size(0), &axes, c.number("keepdims", 1) != 0)}};
}

// --- windows over space ------------------------------------------------------------------------------------

template <bool ChannelsLast>
results convolve(call const& c)
{
    return {{c.element(0), convolved(c, ChannelsLast)}};
}

results pool_channels_last(call const& c) { return {{c.element(0), pooled(c, true)}}; }

results pool_quantized(call const& c)
{
    return {{c.element(0), pooled(c, c.number("channels_last", 0) != 0)}};
}

results pool_all_quantized(call const& c)
{
    auto size = c.size(0);
    bool const channels_last = c.number("channels_last", 0) != 0;
    for (std::size_t i = 1; size && i < size->size(); ++i)
        if (i != (channels_last ? size->size() - 1 : 1)) (*size)[i] = at(1);
    return {{c.element(0), std::move(size)}};
}

// --- signals -----------------------------------------------------------------------------------------------

/// Of ONNX Runtime: the last axis.
results real_fourier(call const& c)
{
    auto size = c.size(0);
    if (!size || size->empty() || c.number("signal_ndim", 1) != 1) return {{c.element(0), {}}};
    dimension& d = size->back();
    if (c.number("onesided", 1) != 0) d = at(d.value < 0 ? open : d.value / 2 + 1);
    size->push_back(at(2));
    return {{c.element(0), std::move(size)}};
}

results inverse_real_fourier(call const& c)
{
    auto size = c.size(0);
    if (!size || size->size() < 2 || c.number("signal_ndim", 1) != 1) return {{c.element(0), {}}};
    size->pop_back();
    dimension& d = size->back();
    if (c.number("onesided", 1) != 0) d = at(d.value < 1 ? open : times(d.value - 1, 2));
    return {{c.element(0), std::move(size)}};
}

// --- products of matrices ----------------------------------------------------------------------------------

/// Matrices in the last two axes; a vector is a row on the left and a column on the right.
std::optional<dimensions> multiplied(std::optional<dimensions> a, std::optional<dimensions> b)
{
    if (!a || !b || a->empty() || b->empty()) return {};
    bool const is_row = a->size() == 1, is_column = b->size() == 1;
    if (is_row) a->insert(a->begin(), at(1));
    if (is_column) b->push_back(at(1));
    dimension const rows = (*a)[a->size() - 2], columns = b->back();
    (void)same(a->back(), (*b)[b->size() - 2]);
    a->resize(a->size() - 2);
    b->resize(b->size() - 2);
    auto found = broadcast(a, b);
    if (!is_row) found->push_back(rows);
    if (!is_column) found->push_back(columns);
    return found;
}

results multiply_fused(call const& c)
{
    auto a = c.size(0), b = c.size(1);
    if (c.number("transBatchA", 0) != 0 || c.number("transBatchB", 0) != 0) {
        if (!a || !b) return {{c.element(0), {}}};
        return {{c.element(0), dimensions(std::max(a->size(), b->size()))}};
    }
    if (a && a->size() > 1 && c.number("transA", 0) != 0) std::swap(a->back(), (*a)[a->size() - 2]);
    if (b && b->size() > 1 && c.number("transB", 0) != 0) std::swap(b->back(), (*b)[b->size() - 2]);
    return {{c.element(0), multiplied(std::move(a), std::move(b))}};
}

/// The element type is that of another operand.
template <std::size_t Type>
results multiply(call const& c)
{
    return {{c.element(Type), multiplied(c.size(0), c.size(1))}};
}

std::optional<dimensions> general_product(call const& c, std::size_t second)
{
    auto const a = c.size(0, 2), b = c.size(second, 2);
    bool const turns_a = c.number("transA", 0) != 0, turns_b = c.number("transB", 0) != 0;
    if (a && b) (void)same((*a)[turns_a ? 0 : 1], (*b)[turns_b ? 1 : 0]);
    return dimensions{a ? (*a)[turns_a ? 1 : 0] : dimension{}, b ? (*b)[turns_b ? 0 : 1] : dimension{}};
}

results multiply_general(call const& c) { return {{c.element(0), general_product(c, 1)}}; }

results multiply_general_quantized(call const& c)
{
    return {{c.has(7) ? c.element(0) : int{tensor::FLOAT}, general_product(c, 3)}};
}

/// The weights are packed; the attribute N is the columns.
results multiply_packed(call const& c)
{
    auto size = c.size(0);
    if (size && !size->empty()) size->back() = at(c.number("N", open));
    return {{c.element(0), std::move(size)}};
}

// --- attention ---------------------------------------------------------------------------------------------

/// One product makes queries, keys and values. `past`: the operand.
results attend_itself(call const& c, int element, std::size_t past)
{
    auto const input = c.size(0), weights = c.size(1), bias = c.size(2);
    auto const parts = c.numbers("qkv_hidden_sizes");
    std::int64_t const number = c.number("num_heads", open);
    std::int64_t columns = weights && weights->size() == 2 ? (*weights)[1].value : open;
    if (columns < 0 && bias && bias->size() == 1) columns = (*bias)[0].value;
    bool const has_parts = parts && parts->size() == 3;
    std::int64_t const width = has_parts ? (*parts)[2] : over(columns, 3);
    results found{{element, {}}, {element, {}}};
    if (!input || input->size() != 3) return found;
    found[0].size = dimensions{(*input)[0], (*input)[1], at(width)};
    if (c.number("past_present_share_buffer", 0) != 0) {
        if (c.has(past)) found[1].size = c.size(past);
        return found;
    }
    dimension length = (*input)[1];
    if (c.has(past)) {
        auto const before = c.size(past);
        length = before && before->size() == 5 ? at(plus((*before)[3].value, length.value)) : dimension{};
    }
    found[1].size = dimensions{at(2), (*input)[0], at(number), length, at(over(width, number))};
    if (has_parts && (*parts)[0] != width) found[1].size->back() = {};
    return found;
}

results attend_packed(call const& c) { return attend_itself(c, c.element(0), 4); }
results attend_quantized(call const& c) { return attend_itself(c, c.element(3), 8); }

results attend_many_heads(call const& c)
{
    auto const query = c.size(0), key = c.size(1), value = c.size(2);
    std::int64_t const number = c.number("num_heads", open);
    results found(3, {c.element(0), {}});
    found.push_back({c.element(0), {}});
    if (!query || query->size() < 3) return found;
    if (query->size() == 5) { // [batch, length, heads, 3, width]
        found[0].size = dimensions{(*query)[0], (*query)[1], at(times((*query)[2].value, (*query)[4].value))};
        return found;
    }
    dimension width{}; // of the result
    if (!c.has(2)) width = query->back();
    else if (value && value->size() == 3) width = value->back();
    else if (value && value->size() == 4) width = at(times((*value)[1].value, (*value)[3].value));
    found[0].size = dimensions{(*query)[0], (*query)[1], width};
    if (c.has(8) || !key || !value) return found; // results may be of the size of a buffer
    heads const k(key, number), v(value, number);
    if (k.is_known) found[1].size = dimensions{(*query)[0], at(number), after_past(c, 6, k.length), k.width};
    if (v.is_known) found[2].size = dimensions{(*query)[0], at(number), after_past(c, 7, v.length), v.width};
    return found;
}

results attend_grouped(call const& c)
{
    auto const query = c.size(0), past = c.size(3);
    std::int64_t const number = c.number("num_heads", open), pairs = c.number("kv_num_heads", open);
    results found{{c.element(0), {}},
                  {c.has(3) ? c.element(3) : c.element(0), {}},
                  {c.has(4) ? c.element(4) : c.element(0), {}}};
    if (!query || query->size() != 3) return found;
    std::int64_t const all = c.has(1) ? number : plus(number, times(2, pairs));
    std::int64_t const width = over(query->back().value, all);
    found[0].size = dimensions{(*query)[0], (*query)[1], c.has(1) ? query->back() : at(times(number, width))};
    dimension total{};
    auto const length = c.scalar(6);
    std::int64_t const buffer = past && past->size() == 4 ? (*past)[2].value : c.has(3) ? open : 0;
    if (length && *length >= 0 && buffer >= 0) total = at(std::max(*length, buffer));
    found[1].size = found[2].size = dimensions{(*query)[0], at(pairs), total, at(width)};
    return found;
}

results embed_layer(call const& c)
{
    auto const ids = c.size(0), words = c.size(2);
    results found{{c.element(2), {}}, {tensor::INT32, {}}, {c.element(2), {}}};
    if (!ids || ids->size() != 2) return found;
    found[0].size = dimensions{(*ids)[0], (*ids)[1], words && words->size() == 2 ? (*words)[1] : dimension{}};
    found[1].size = dimensions{(*ids)[0]};
    found[2].size = found[0].size;
    return found;
}

// --- others ------------------------------------------------------------------------------------------------

results split_half(call const& c)
{
    auto size = c.size(0);
    if (size && !size->empty()) size->back() = at(over(size->back().value, 2));
    return {{c.element(0), std::move(size)}};
}

results long_short_term(call const& c)
{
    auto const x = c.size(0);
    dimension const hidden = at(c.number("hidden_size", open));
    dimension const ways = at(c.word("direction", "forward") == "bidirectional" ? 2 : 1);
    dimension const length = x && x->size() == 3 ? (*x)[0] : dimension{};
    dimension const batch = x && x->size() == 3 ? (*x)[1] : dimension{};
    result const last{c.element(0), dimensions{ways, batch, hidden}};
    return {{c.element(0), dimensions{length, ways, batch, hidden}}, last, last};
}

results broadcast_quantized(call const& c) { return {{c.element(0), broadcast(c.size(0), c.size(3))}}; }

results choose_quantized(call const& c)
{
    return {{c.element(1), broadcast(c.size(0), broadcast(c.size(1), c.size(4)))}};
}

/// Scale and zero point of the result, then each operand with its own.
results concatenate_quantized(call const& c)
{
    std::optional<dimensions> found = c.size(2);
    if (!found) return {{c.element(1), {}}};
    std::size_t const axis = axis_in(c.number("axis", 0), found->size());
    for (std::size_t i = 5; i < static_cast<std::size_t>(c.node.input_size()); i += 3) {
        auto const part = c.size(i);
        if (!part || part->size() != found->size()) {
            (*found)[axis] = {};
            continue;
        }
        for (std::size_t d = 0; d != found->size(); ++d)
            (*found)[d] =
                d == axis ? at(plus((*found)[d].value, (*part)[d].value)) : same((*found)[d], (*part)[d]);
    }
    return {{c.element(1), std::move(found)}};
}

results gather_blocks(call const& c)
{
    auto const data = c.size(0), indexes = c.size(1);
    if (!data || !indexes || indexes->empty()) return {{c.element(0), {}}};
    std::int64_t const depth = indexes->back().value;
    if (depth < 0 || depth > static_cast<std::int64_t>(data->size())) return {{c.element(0), {}}};
    dimensions found(indexes->begin(), indexes->end() - 1);
    found.insert(found.end(), data->begin() + depth, data->end());
    return {{c.element(0), std::move(found)}};
}

results expand_dimensions(call const& c)
{
    auto size = c.size(0);
    auto const axis = c.scalar(1);
    if (!size || !axis) return {{c.element(0), {}}};
    size->insert(size->begin() + static_cast<std::ptrdiff_t>(axis_in(*axis, size->size() + 1)), at(1));
    return {{c.element(0), std::move(size)}};
}

results unique(call const& c)
{
    auto const size = c.size(0);
    return {{c.element(0), dimensions(1)}, {tensor::INT64, size}, {tensor::INT64, dimensions(1)}};
}

} // namespace

std::unordered_map<std::string_view, rule> const& runtime_rules()
{
    static std::unordered_map<std::string_view, rule> const found{
        {"Attention", attend_packed},
        {"BiasAdd", like<>},
        {"BiasGelu", like<>},
        {"BiasSoftmax", like<>},
        {"BiasSplitGelu", split_half},
        {"DequantizeLinear", dequantize},
        {"DynamicQuantizeLSTM", long_short_term},
        {"DynamicQuantizeMatMul", multiply<0>},
        {"EmbedLayerNormalization", embed_layer},
        {"ExpandDims", expand_dimensions},
        {"FastGelu", like<>},
        {"FusedConv", convolve<false>},
        {"FusedGemm", multiply_general},
        {"FusedMatMul", multiply_fused},
        {"FusedMatMulActivation", multiply_fused},
        {"GatherND", gather_blocks},
        {"Gelu", like<>},
        {"GemmFastGelu", multiply<0>},
        {"GroupNorm", like<>},
        {"GroupQueryAttention", attend_grouped},
        {"Inverse", like<>},
        {"Irfft", inverse_real_fourier},
        {"LayerNormalization", normalize_layer<true>},
        {"MatMulIntegerToFloat", multiply<2>},
        {"MatMulNBits", multiply_packed},
        {"MoE", like<>},
        {"MultiHeadAttention", attend_many_heads},
        {"NGramRepeatBlock", like<1>},
        {"NhwcConv", convolve<true>},
        {"NhwcFusedConv", convolve<true>},
        {"NhwcMaxPool", pool_channels_last},
        {"Pad", pad},
        {"QAttention", attend_quantized},
        {"QGemm", multiply_general_quantized},
        {"QLinearAdd", broadcast_quantized},
        {"QLinearAveragePool", pool_quantized},
        {"QLinearConcat", concatenate_quantized},
        {"QLinearGlobalAveragePool", pool_all_quantized},
        {"QLinearLeakyRelu", like<>},
        {"QLinearMul", broadcast_quantized},
        {"QLinearReduceMean", reduce_by_attribute},
        {"QLinearSigmoid", like<>},
        {"QLinearSoftmax", like<>},
        {"QLinearWhere", choose_quantized},
        {"QuantizeLinear", quantize},
        {"QuickGelu", like<>},
        {"Rfft", real_fourier},
        {"RotaryEmbedding", like<>},
        {"SimplifiedLayerNormalization", normalize_layer<false>},
        {"SkipGroupNorm", two_like_first},
        {"SkipLayerNormalization", normalize_skip_layer},
        {"SkipSimplifiedLayerNormalization", normalize_skip_layer},
        {"TransposeMatMul", multiply_fused},
        {"Trilu", like<>},
        {"Unique", unique},
    };
    return found;
}

} // namespace plan_model::operator_shapes
