// SPDX-License-Identifier: BSL-1.0

// Where the results of standard operators grow with the batch: one rule for the operators of a kind. A rule
// that is not certain refuses.
//
// A file is read with the shapes of one batch size, and it may hold numbers that fit only this size (as the
// target of a Reshape, [4, -1]). What counts is every N for which the operators of the file do not fail:
// where they fail, no plan is right or wrong.

#include "batch_places.hpp"

#include "standard_operators.hpp"

#include <sublet/core/units.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plan_model {
namespace {

using sublet::value_id;

/// A standard operator of which elements of some operands determine the size of a result: bit i for operand
/// i. Of Reshape, Squeeze and Unsqueeze none does: see node_rules::reshape.
struct sizing_operator {
    std::string_view type;
    unsigned operands;
};
constexpr sizing_operator sizing_operators[] = {{"AffineGrid", 0b10},
                                                {"BlackmanWindow", 0b1},
                                                {"CenterCropPad", 0b10},
                                                {"Col2Im", 0b110},
                                                {"Compress", 0b10},
                                                {"ConstantFill", 0b1},
                                                {"ConstantOfShape", 0b1},
                                                {"DFT", 0b110},
                                                {"Expand", 0b10},
                                                {"HammingWindow", 0b1},
                                                {"HannWindow", 0b1},
                                                {"ImageDecoder", 0b1},
                                                {"MaxUnpool", 0b100},
                                                {"MelWeightMatrix", 0b11},
                                                {"NonMaxSuppression", 0b11111},
                                                {"NonZero", 0b1},
                                                {"OneHot", 0b10},
                                                {"Pad", 0b1010},
                                                {"Range", 0b111},
                                                {"ReduceL1", 0b10},
                                                {"ReduceL2", 0b10},
                                                {"ReduceLogSum", 0b10},
                                                {"ReduceLogSumExp", 0b10},
                                                {"ReduceMax", 0b10},
                                                {"ReduceMean", 0b10},
                                                {"ReduceMin", 0b10},
                                                {"ReduceProd", 0b10},
                                                {"ReduceSum", 0b10},
                                                {"ReduceSumSquare", 0b10},
                                                {"Resize", 0b1110},
                                                {"STFT", 0b1010},
                                                {"SequenceAt", 0b10},
                                                {"Slice", 0b11110},
                                                {"Split", 0b10},
                                                {"SplitToSequence", 0b10},
                                                {"StringSplit", 0b1},
                                                {"Tile", 0b110},
                                                {"TopK", 0b10},
                                                {"Unique", 0b1},
                                                {"Upsample", 0b10}};

/// Every result has the shape of the first operand, whatever the others are; also those of_first_operand.
constexpr std::string_view like_first[] = {"Bernoulli",
                                           "CumProd",
                                           "CumSum",
                                           "DequantizeLinear",
                                           "Dropout",
                                           "EyeLike",
                                           "GroupNormalization",
                                           "Hardmax",
                                           "Identity",
                                           "InstanceNormalization",
                                           "IsInf",
                                           "IsNaN",
                                           "LRN",
                                           "LogSoftmax",
                                           "LpNormalization",
                                           "MeanVarianceNormalization",
                                           "QuantizeLinear",
                                           "RMSNormalization",
                                           "RandomNormalLike",
                                           "RandomUniformLike",
                                           "RegexFullMatch",
                                           "ReverseSequence",
                                           "Scatter",
                                           "ScatterElements",
                                           "ScatterND",
                                           "Softmax",
                                           "TensorScatter",
                                           "Trilu"};
/// Element by element with broadcasting; also those of_any_operand and of_all_operands.
constexpr std::string_view comparisons[] = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"};
/// From one image to one: the first dimension of the first operand counts the images.
constexpr std::string_view of_images[] = {
    "AveragePool",  "Conv",          "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
    "GlobalLpPool", "GlobalMaxPool", "LpPool",        "MaxPool",      "SpaceToDepth"};
constexpr std::string_view recurrent[] = {"GRU", "LSTM", "RNN"};
/// The others of which no operand determines a size by its elements.
constexpr std::string_view sized_by_shapes[] = {"ArgMax",
                                                "ArgMin",
                                                "Attention",
                                                "BatchNormalization",
                                                "BitCast",
                                                "Concat",
                                                "ConvInteger",
                                                "DeformConv",
                                                "Det",
                                                "DynamicQuantizeLinear",
                                                "Einsum",
                                                "Flatten",
                                                "Gather",
                                                "GatherElements",
                                                "GatherND",
                                                "Gemm",
                                                "GridSample",
                                                "LayerNormalization",
                                                "MatMul",
                                                "MatMulInteger",
                                                "MaxRoiPool",
                                                "Multinomial",
                                                "NegativeLogLikelihoodLoss",
                                                "QLinearConv",
                                                "QLinearMatMul",
                                                "Reshape",
                                                "RoiAlign",
                                                "RotaryEmbedding",
                                                "Shape",
                                                "Size",
                                                "SoftmaxCrossEntropyLoss",
                                                "Squeeze",
                                                "Transpose",
                                                "Unsqueeze"};

/// The elements of one number or of a list of numbers, if all of them are in this file.
std::optional<std::vector<double>> elements_of(onnx::TensorProto const& t)
{
    using tensor = onnx::TensorProto;
    if (t.data_location() == tensor::EXTERNAL) return std::nullopt;
    auto all = [](auto const& field) { return std::vector<double>(field.begin(), field.end()); };
    auto raw = [&](auto element) {
        std::vector<double> read(t.raw_data().size() / sizeof element);
        for (std::size_t i = 0; i != read.size(); ++i) {
            std::memcpy(&element, t.raw_data().data() + i * sizeof element, sizeof element);
            read[i] = static_cast<double>(element);
        }
        return read;
    };
    std::vector<double> read;
    switch (t.data_type()) {
    case tensor::INT64: read = t.raw_data().empty() ? all(t.int64_data()) : raw(std::int64_t{}); break;
    case tensor::INT32: read = t.raw_data().empty() ? all(t.int32_data()) : raw(std::int32_t{}); break;
    case tensor::FLOAT: read = t.raw_data().empty() ? all(t.float_data()) : raw(float{}); break;
    default: return std::nullopt;
    }
    std::int64_t const elements = t.dims_size() == 0 ? 1 : t.dims(0);
    if (t.dims_size() > 1 || static_cast<std::int64_t>(read.size()) != elements) return std::nullopt;
    return read;
}

class node_rules {
public:
    node_rules(node_context const& at, batch_places& places)
        : standard_(at.standard), constants_(at.constants), net_(at.net), node_(at.node), op_(at.op), at_(at),
          places_(places)
    {
    }

    void place_results()
    {
        if (operand(0) == sublet::no_value || op_.outputs.front() == sublet::no_value)
            refuse("its first operand or result is left out");
        std::string_view const type = op_.type;
        if (is_one_of(like_first, type) || is_one_of(of_first_operand, type)) copy_place();
        else if (is_one_of(of_any_operand, type) || is_one_of(of_all_operands, type) ||
                 is_one_of(comparisons, type))
            broadcast(rank(op_.outputs.front()));
        else if (is_one_of(of_images, type)) of_first_dimension();
        else if (is_one_of(recurrent, type)) recur();
        else if (type == "BatchNormalization" || type == "LayerNormalization") normalize();
        else if (type == "MatMul") multiply();
        else if (type == "Gemm") multiply_and_add();
        else if (type == "Concat") concatenate();
        else if (type == "Transpose") transpose();
        else if (type == "Gather") gather();
        else if (type == "GatherElements") copy_place(1);
        else if (type == "Expand") expand();
        else if (type == "Resize" || type == "Upsample") resize();
        else if (type.starts_with("Reduce")) reduce(numbers("axes", 1));
        else if (type == "ArgMax" || type == "ArgMin")
            reduce(std::vector{static_cast<double>(number("axis", 0))});
        else if (type == "Slice" || type == "Split" || type == "TopK" || type == "Pad") along_axes();
        else if (type == "Tile") tile();
        else if (type == "OneHot") encode();
        else refuse("the batch is not followed through this operator");
    }

    /// The elements are those of the first operand, so their number is its number for every N, also if the
    /// target of a Reshape is computed from shapes: a target of another number of elements makes the operator
    /// fail. Only where the result grows depends on the target.
    void reshape(bool is_computed)
    {
        value_id const x = operand(0), y = op_.outputs.front();
        if (x == sublet::no_value || y == sublet::no_value) return;
        if (!depends(x)) {
            if (is_computed) places_.of[y] = moved;
            return;
        }
        if (net_.values[x].bytes != net_.values[y].bytes && net_.values[x].bytes != sublet::no_size)
            refuse("the batch is not found in the shape of the result");
        place const unknown = places_.of[x] == moved ? moved : somewhere;
        place where = unknown;
        if (op_.type == "Reshape" && !is_computed) where = place_in_target(x, y);
        if (places_.of[x] >= 0 && op_.type != "Reshape") where = place_beside(x, y);
        places_.of[y] = where < 0 ? unknown : where;
        if (where >= 0 && (where >= static_cast<place>(rank(y)) || size_at(y, where) % places_.batch != 0))
            refuse("the batch is not found in the shape of the result");
    }

private:
    // --- what a node states -----------------------------------------------------------------------------

    std::int64_t number(char const* name, std::int64_t otherwise) const
    {
        auto const* const found = attribute(node_, name);
        return found != nullptr ? found->i() : otherwise;
    }

    value_id operand(std::size_t i) const { return i < op_.inputs.size() ? op_.inputs[i] : sublet::no_value; }

    /// The numbers of a list that the node states as an attribute or as a constant operand, if they are
    /// known.
    std::optional<std::vector<double>> numbers(char const* name, std::size_t i) const
    {
        if (auto const* const listed = name == nullptr ? nullptr : attribute(node_, name))
            return std::vector<double>(listed->ints().begin(), listed->ints().end());
        value_id const v = operand(i);
        return v == sublet::no_value ? std::nullopt : constants_.numbers(net_.values[v].name);
    }

    /// Of an operand that is left out: no dimensions.
    std::vector<std::int64_t> const& shape(value_id v) const
    {
        static std::vector<std::int64_t> const none;
        return v == sublet::no_value ? none : net_.types[v].size;
    }
    bool has_shape(value_id v) const
    {
        return v != sublet::no_value && net_.types[v].what == value_type::tensor && net_.types[v].has_rank;
    }
    std::size_t rank(value_id v) const { return shape(v).size(); }

    static constexpr double max_rank = 1e6;

    /// An index of a dimension, of which negative ones count from the end; `nowhere` if it is none.
    static place from_start(double axis, std::size_t rank)
    {
        if (!(axis >= -max_rank && axis <= max_rank)) return nowhere;
        return static_cast<place>(axis < 0 ? axis + static_cast<double>(rank) : axis);
    }

    // --- where the results grow -------------------------------------------------------------------------

    /// The place of an operand that must be known; of one that does not depend on the batch, `nowhere`.
    place known_place(value_id v) const
    {
        if (v == sublet::no_value) return nowhere;
        if (places_.of[v] == somewhere || places_.of[v] == moved)
            refuse("the dimension of " + name_of(v) + " that is the batch is not known");
        return places_.of[v];
    }

    /// For operators that define nothing else of an operand that grows.
    void expect_fixed(std::size_t i) const
    {
        if (depends(operand(i)))
            refuse("it reads " + name_of(operand(i)) + ", which depends on the batch, too");
    }

    /// Result r grows in this dimension, which has `size` there in the file.
    void grow(std::size_t r, place where, std::int64_t size)
    {
        value_id const v = r < op_.outputs.size() ? op_.outputs[r] : sublet::no_value;
        if (v == sublet::no_value) return;
        if (where < 0 || where >= static_cast<place>(rank(v)) ||
            shape(v)[static_cast<std::size_t>(where)] != size)
            refuse("the batch is not found in the shape of " + name_of(v));
        places_.of[v] = where;
    }

    void grow_all(place where, std::int64_t size)
    {
        for (std::size_t r = 0; r != op_.outputs.size(); ++r) grow(r, where, size);
    }

    std::int64_t size_at(value_id v, place where) const
    {
        if (where < 0 || where >= static_cast<place>(rank(v)))
            refuse("the batch is not found in " + name_of(v));
        return shape(v)[static_cast<std::size_t>(where)];
    }

    void copy_place(std::size_t i = 0)
    {
        value_id const from = operand(i);
        if (!depends(from)) return;
        for (value_id v : op_.outputs) {
            if (v == sublet::no_value) continue;
            if (shape(v) != shape(from)) refuse("the batch is not found in the shape of " + name_of(v));
            places_.of[v] = places_.of[from];
        }
    }

    /// Of `v` among operands that are broadcast to `of_rank` dimensions: where the result grows for it.
    place aligned(value_id v, std::size_t of_rank) const
    {
        return known_place(v) + static_cast<place>(of_rank) - static_cast<place>(rank(v));
    }

    /// An operand that does not grow must be 1 where the result does: with the batch of the file it would
    /// fit, and in a batch of 1 be the larger one.
    void expect_broadcast(value_id v, place where, std::size_t of_rank) const
    {
        place const own =
            where - static_cast<place>(of_rank) + static_cast<place>(has_shape(v) ? rank(v) : 0);
        if (!has_shape(v) || (own >= 0 && size_at(v, own) != 1))
            refuse(name_of(v) + ", which does not depend on it, is not 1 element long there");
    }

    /// All operands are broadcast to the last dimensions of a result of so many.
    void broadcast(std::size_t of_rank)
    {
        if (standard_.opset() < 7 && attribute(node_, "axis") != nullptr)
            refuse("it aligns operands as ONNX did before opset 7");
        std::vector<value_id> const& operands = op_.inputs;
        auto const first = std::find_if(operands.begin(), operands.end(), [&](auto v) { return depends(v); });
        if (places_.of[*first] < nowhere) {
            for (value_id v : operands)
                if (v != sublet::no_value && v != *first && (depends(v) || !is_one_element(v)))
                    known_place(*first);
            return copy_place(static_cast<std::size_t>(first - operands.begin()));
        }
        place const where = aligned(*first, of_rank);
        for (value_id v : operands) {
            if (v == sublet::no_value) continue;
            if (!depends(v)) expect_broadcast(v, where, of_rank);
            else if (aligned(v, of_rank) != where) refuse_product(*first, v);
        }
        grow_all(where, size_at(*first, places_.of[*first]));
    }

    bool is_one_element(value_id v) const
    {
        return has_shape(v) &&
               std::all_of(shape(v).begin(), shape(v).end(), [](std::int64_t d) { return d == 1; });
    }

    [[noreturn]] void refuse_product(value_id a, value_id b) const
    {
        throw not_followed{"the size of " + name_of(op_.outputs.front()) +
                           " grows with the batch in two dimensions: " + op_.label + " makes it from " +
                           name_of(a) + " and " + name_of(b)};
    }

    void of_first_dimension()
    {
        for (std::size_t i = 1; i < op_.inputs.size(); ++i) expect_fixed(i);
        value_id const x = operand(0);
        if (known_place(x) != 0) refuse("the batch is not the first dimension of an image");
        grow_all(0, size_at(x, 0));
    }

    /// X of [sequence, batch, elements]; Y has the directions in between, the last states have them first.
    void recur()
    {
        value_id const x = operand(0);
        if (known_place(x) != 1 || number("layout", 0) != 0) refuse("the batch is not its second dimension");
        for (std::size_t i = 1; i != op_.inputs.size(); ++i) {
            value_id const v = operand(i);
            bool const has_batch = i >= 4 && i <= 6; // the lengths and the first states
            if (v == sublet::no_value || known_place(v) == (!has_batch ? nowhere : i == 4 ? 0 : 1)) continue;
            refuse("the batch is not where " + name_of(v) + " has it");
        }
        grow(0, 2, size_at(x, 1));
        for (std::size_t r = 1; r < op_.outputs.size(); ++r) grow(r, 1, size_at(x, 1));
    }

    /// The further results are statistics: by channel, or over the dimensions from `axis` on.
    void normalize()
    {
        value_id const x = operand(0);
        place const where = x != sublet::no_value ? places_.of[x] : nowhere;
        auto const& outputs = op_.outputs;
        bool const is_alone =
            std::all_of(outputs.begin() + 1, outputs.end(), [](auto v) { return v == sublet::no_value; });
        bool const is_batch = op_.type == "BatchNormalization" && where == 0;
        if (!is_alone && !is_batch) refuse("it has further results");
        if (where == nowhere) return;
        if (outputs.front() == sublet::no_value || shape(outputs.front()) != shape(x))
            refuse("the batch is not found in the shape of the result");
        places_.of[outputs.front()] = where;
    }

    void multiply()
    {
        value_id const a = operand(0), b = operand(1), y = op_.outputs.front();
        if (a == sublet::no_value || b == sublet::no_value || !has_shape(a) || !has_shape(b) ||
            rank(a) == 0 || rank(b) == 0)
            refuse("the shapes of its operands are not known");
        place const at_a = known_place(a), at_b = known_place(b);
        place const rows = static_cast<place>(rank(a)) - 2, depth = rows + 1;
        place const columns = rank(b) == 1 ? -4 : static_cast<place>(rank(b)) - 1;
        place const depth_of_b = rank(b) == 1 ? 0 : columns - 1;
        if ((at_a == depth && at_a >= 0) || (at_b == depth_of_b && at_b >= 0)) { // a sum over the batch
            if (at_a != depth || at_b != depth_of_b) refuse("it sums over the batch");
            return;
        }
        place const last = static_cast<place>(rank(y)) - 1;
        if (at_a >= 0 && at_a == rows) {
            if (at_b >= 0) refuse_product(a, b);
            return grow(0, rank(b) == 1 ? last : last - 1, size_at(a, at_a));
        }
        if (at_b >= 0 && at_b == columns) {
            if (at_a >= 0) refuse_product(a, b);
            return grow(0, last, size_at(b, at_b));
        }
        // One of the dimensions before the last two, which are broadcast.
        if (rank(a) < 2 || rank(b) < 2 || rank(y) < 2) refuse("the batch is not one of several matrices");
        place const where = at_a >= 0 ? aligned(a, rank(y)) : aligned(b, rank(y));
        for (value_id v : {a, b}) {
            if (!depends(v)) expect_broadcast(v, where, rank(y));
            else if (aligned(v, rank(y)) != where) refuse_product(a, b);
        }
        grow(0, where, at_a >= 0 ? size_at(a, at_a) : size_at(b, at_b));
    }

    void multiply_and_add()
    {
        value_id const a = operand(0), b = operand(1), c = operand(2);
        auto turned = [&](value_id v, bool is_turned) {
            place const p = known_place(v);
            if (v == sublet::no_value || rank(v) != 2) refuse("its operands are no matrices");
            return p < 0 || !is_turned ? p : 1 - p;
        };
        place const at_a = turned(a, number("transA", 0) != 0), at_b = turned(b, number("transB", 0) != 0);
        place where = nowhere;
        if (at_a == 1 || at_b == 0) {
            if (at_a != 1 || at_b != 0) refuse("it sums over the batch");
        } else if (at_a == 0 && at_b == 1) {
            refuse_product(a, b);
        } else {
            where = at_a == 0 ? 0 : at_b == 1 ? 1 : nowhere;
        }
        if (depends(c) && aligned(c, 2) != where) refuse("the batch is not where " + name_of(c) + " has it");
        if (c != sublet::no_value && !depends(c) && where != nowhere) expect_broadcast(c, where, 2);
        if (where == 0) grow(0, 0, size_at(a, known_place(a)));
        if (where == 1) grow(0, 1, size_at(b, known_place(b)));
    }

    void concatenate()
    {
        value_id const y = op_.outputs.front();
        place const axis = from_start(static_cast<double>(number("axis", 1)), rank(y));
        place where = nowhere;
        std::int64_t size = 0;
        for (value_id v : op_.inputs) {
            if (v == sublet::no_value) continue;
            place const own = known_place(v);
            if (own == nowhere) refuse(name_of(v) + " does not depend on it");
            if (where != nowhere && own != where) refuse_product(op_.inputs.front(), v);
            where = own;
            size = own == axis ? size + size_at(v, own) : size_at(v, own);
        }
        grow(0, where, size);
    }

    void transpose()
    {
        value_id const x = operand(0), y = op_.outputs.front();
        if (places_.of[x] < nowhere) {
            places_.of[y] = places_.of[x];
            return;
        }
        auto const* const permutation = attribute(node_, "perm");
        for (std::size_t d = 0; d != rank(x); ++d) {
            auto const from = permutation == nullptr ? static_cast<place>(rank(x) - 1 - d)
                              : static_cast<int>(d) < permutation->ints_size()
                                  ? permutation->ints(static_cast<int>(d))
                                  : nowhere;
            if (from == places_.of[x]) return grow(0, static_cast<place>(d), size_at(x, places_.of[x]));
        }
        refuse("its permutation leaves the batch out");
    }

    void gather()
    {
        value_id const data = operand(0), indices = operand(1);
        place const at_data = known_place(data), at_indices = known_place(indices);
        if (!has_shape(data) || !has_shape(indices)) refuse("the shapes of its operands are not known");
        place const axis = from_start(static_cast<double>(number("axis", 0)), rank(data));
        if (at_indices != nowhere) {
            if (at_data != nowhere) refuse_product(data, indices);
            return grow(0, axis + at_indices, size_at(indices, at_indices));
        }
        if (at_data == axis) return; // the indices count the elements
        grow(0, at_data < axis ? at_data : at_data + static_cast<place>(rank(indices)) - 1,
             size_at(data, at_data));
    }

    void expand()
    {
        value_id const x = operand(0), y = op_.outputs.front();
        auto const target = numbers("shape", 1);
        place const where = aligned(x, rank(y));
        if (!target) refuse("its target is not known");
        std::size_t const above = rank(y) - target->size(); // ranks: y >= target
        if (target->size() > rank(y) ||
            (where >= static_cast<place>(above) && (*target)[static_cast<std::size_t>(where) - above] != 1))
            refuse("its target is not 1 there");
        grow(0, where, size_at(x, places_.of[x]));
    }

    void resize()
    {
        value_id const x = operand(0);
        place where = known_place(x);
        std::int64_t const size = size_at(x, where);
        place index = where;
        if (auto const* const axes = attribute(node_, "axes")) {
            index = nowhere;
            for (int i = 0; i != axes->ints_size(); ++i)
                if (from_start(static_cast<double>(axes->ints(i)), rank(x)) == where) index = i;
            if (index == nowhere) return grow(0, where, size);
        }
        bool const has_roi = op_.type == "Resize" && standard_.opset() > 10;
        auto const* const listed = attribute(node_, "scales"); // up to opset 8
        std::optional<std::vector<double>> scales;
        if (listed != nullptr) scales.emplace(listed->floats().begin(), listed->floats().end());
        else scales = numbers(nullptr, has_roi ? 2 : 1);
        auto const* const mode = attribute(node_, "coordinate_transformation_mode");
        if (!scales || index >= static_cast<place>(scales->size()) ||
            (*scales)[static_cast<std::size_t>(index)] != 1 ||
            (mode != nullptr && mode->s() == "tf_crop_and_resize"))
            refuse("it does not scale the batch by 1");
        grow(0, where, size);
    }

    /// Without axes: over all dimensions.
    void reduce(std::optional<std::vector<double>> const& axes)
    {
        value_id const x = operand(0);
        if (!axes && operand(1) != sublet::no_value) refuse("its axes are not known");
        bool const is_all = !axes || axes->empty();
        if (is_all && number("noop_with_empty_axes", 0) != 0) return copy_place();
        if (is_all) return; // one element
        place const where = known_place(x);
        place below = 0; // dimensions before it that are reduced
        for (double a : *axes) {
            place const axis = from_start(a, rank(x));
            if (axis == where) return;
            below += axis < where;
        }
        grow_all(number("keepdims", 1) != 0 ? where : where - below, size_at(x, where));
    }

    /// The dimensions that the node does not list are kept; padding of none keeps the batch as well.
    void along_axes()
    {
        std::string_view const type = op_.type;
        value_id const x = operand(0);
        place const where = known_place(x);
        if (type == "Pad") return grow(0, where, size_at(x, where));
        std::optional<std::vector<double>> axes;
        if (type == "Split" || type == "TopK")
            axes.emplace(1, static_cast<double>(number("axis", type == "Split" ? 0 : -1)));
        else axes = numbers("axes", 3);
        if (!axes && type == "Slice" && operand(3) == sublet::no_value) { // the first ones
            auto const starts = numbers("starts", 1);
            if (starts) axes.emplace();
            for (std::size_t d = 0; starts && d != starts->size(); ++d)
                axes->push_back(static_cast<double>(d));
        }
        if (!axes) refuse("its axes are not known");
        for (double a : *axes)
            if (from_start(a, rank(x)) == where) refuse("it takes a part of the batch");
        grow_all(where, size_at(x, where));
    }

    void tile()
    {
        value_id const x = operand(0), y = op_.outputs.front();
        place const where = known_place(x);
        if (rank(y) != rank(x) || size_at(y, where) % size_at(x, where) != 0)
            refuse("the batch is not found in the shape of the result");
        places_.of[y] = where;
    }

    void encode()
    {
        value_id const indices = operand(0), y = op_.outputs.front();
        expect_fixed(1), expect_fixed(2);
        place const where = known_place(indices);
        place const axis = from_start(static_cast<double>(number("axis", -1)), rank(y));
        grow(0, where < axis ? where : where + 1, size_at(indices, where));
    }

    // --- the same elements under another shape ----------------------------------------------------------

    /// In the target of a Reshape -1 is what the others leave, and 0 copies a dimension.
    place place_in_target(value_id x, value_id y) const
    {
        auto const target = numbers("shape", 1);
        place const own = places_.of[x];
        if (!target || target->size() != rank(y)) return somewhere;
        bool const copies = number("allowzero", 0) == 0;
        auto const zeros = std::count(target->begin(), target->end(), 0.0);
        if (own >= 0 && own < static_cast<place>(rank(y)) && copies &&
            (*target)[static_cast<std::size_t>(own)] == 0)
            return own;
        if (auto const rest = std::find(target->begin(), target->end(), -1.0); rest != target->end())
            return own >= 0 || (own == somewhere && zeros == 0) ? rest - target->begin() : somewhere;
        // The target is one for the batch of the file. For another N it fails: in a file made for that N the
        // batch is in the same place if no dimension up to it changes.
        for (place d = 0; d <= own; ++d)
            if (d >= static_cast<place>(rank(y)) || size_at(y, d) != size_at(x, d)) return somewhere;
        return own >= 0 ? own : somewhere;
    }

    place place_beside(value_id x, value_id y) const
    {
        std::string_view const type = op_.type;
        place const own = places_.of[x];
        if (type == "Flatten")
            return from_start(static_cast<double>(number("axis", 1)), rank(x)) > own ? 0 : 1;
        auto const axes = numbers("axes", 1);
        if (!axes) return somewhere; // a Squeeze of all dimensions of 1, or axes that are computed
        std::size_t const of_rank = type == "Squeeze" ? rank(x) : rank(y);
        std::vector<bool> is_listed(of_rank);
        for (double a : *axes)
            if (place const axis = from_start(a, of_rank); axis >= 0 && axis < static_cast<place>(of_rank))
                is_listed[static_cast<std::size_t>(axis)] = true;
        place other = 0; // counts the dimensions of the other shape
        for (std::size_t d = 0; d != of_rank; ++d) {
            if (type == "Squeeze" && static_cast<place>(d) == own) {
                if (is_listed[d]) refuse("it removes the batch");
                return other;
            }
            if (is_listed[d]) continue;
            if (type == "Unsqueeze" && other == own) return static_cast<place>(d);
            ++other;
        }
        return somewhere;
    }

    // --- refusals ---------------------------------------------------------------------------------------

    std::string name_of(value_id v) const
    {
        return v == sublet::no_value ? "an operand that is left out" : quoted(net_.values[v].name);
    }
    bool depends(value_id v) const { return places_.depends(v); }
    [[noreturn]] void refuse(std::string const& why) const { refuse_node(at_, places_, why); }

    standard_operators const& standard_;
    constant_numbers const& constants_;
    network const& net_;
    onnx::NodeProto const& node_;
    operation const& op_;
    node_context const& at_;
    batch_places& places_;
};

} // namespace

sizing sizing_by(std::string_view type, std::size_t operand)
{
    auto const* const found = std::find_if(std::begin(sizing_operators), std::end(sizing_operators),
                                           [type](auto const& o) { return o.type == type; });
    if (found != std::end(sizing_operators))
        return operand < 32 && (found->operands >> operand & 1) != 0 ? sizing::yes : sizing::no;
    bool const is_known = is_one_of(like_first, type) || is_one_of(of_first_operand, type) ||
                          is_one_of(of_any_operand, type) || is_one_of(of_all_operands, type) ||
                          is_one_of(comparisons, type) || is_one_of(of_images, type) ||
                          is_one_of(recurrent, type) || is_one_of(sized_by_shapes, type);
    return is_known ? sizing::no : sizing::unknown;
}

constant_numbers::constant_numbers(onnx::GraphProto const& graph, standard_operators const& standard)
{
    for (auto const& t : graph.initializer()) tensors_.emplace(t.name(), &t);
    for (auto const& node : graph.node()) {
        if (auto const* const value = standard.constant_of(node)) tensors_.emplace(node.output(0), value);
        if (!standard.contains(node) || node.op_type() != "Constant" || node.output_size() == 0) continue;
        if (auto const* const listed = attribute(node, "value_ints")) lists_.emplace(node.output(0), listed);
    }
}

std::optional<std::vector<double>> constant_numbers::numbers(std::string const& name) const
{
    if (auto const found = lists_.find(name); found != lists_.end())
        return std::vector<double>(found->second->ints().begin(), found->second->ints().end());
    auto const found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : elements_of(*found->second);
}

void refuse_node(node_context const& at, batch_places const& places, std::string const& why)
{
    auto const &outputs = at.op.outputs, &inputs = at.op.inputs;
    value_id const result =
        *std::find_if(outputs.begin(), outputs.end(), [](auto v) { return v != sublet::no_value; });
    value_id const from =
        *std::find_if(inputs.begin(), inputs.end(), [&](auto v) { return places.depends(v); });
    throw not_followed{"how the size of " + quoted(at.net.values[result].name) +
                       " depends on the batch is not known: " + at.op.label + " makes it from " +
                       quoted(at.net.values[from].name) + ", and " + why};
}

void place_results(node_context const& at, batch_places& places) { node_rules(at, places).place_results(); }

bool is_reshape(std::string_view type)
{
    return type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze";
}

void place_reshape(node_context const& at, batch_places& places, bool is_computed)
{
    node_rules(at, places).reshape(is_computed);
}

} // namespace plan_model
