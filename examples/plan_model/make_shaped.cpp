// SPDX-License-Identifier: BSL-1.0

// make_shaped FOLDER: writes small ONNX files with open dimensions, for the tests of plan_model that plan all
// sizes of a range. Each says what is special about its sizes.

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

constexpr struct {
    char const* file;
    char const* text;
} models[] = {
    // One dimension, of which sizes are multiples; and a size that a declaration has for another batch.
    {"shaped_batch.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, 4] x) => (float[batch, 4] y)
<float[4, 4] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, int64[1] axes = {1}> {
    a = MatMul (x, w)
    b = Relu (a)
    c = ReduceSum (b, axes)
    y = Add (b, c)
})"},
    // Scores are batch * length * length.
    {"shaped_attention.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, length, 8] x) => (float[batch, length, 8] y) {
    q = Tanh (x)
    k = Transpose <perm = [0, 2, 1]> (x)
    scores = MatMul (q, k)
    p = Softmax <axis = -1> (scores)
    y = MatMul (p, x)
})"},
    // Strides with and without a border, a pool, all heights and widths; two maps in one list of positions.
    {"shaped_image.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, 3, height, width] x, float[4, 3, 3, 3] u, float[4, 4, 3, 3] v) => (float[batch, 4, positions] y, float[batch, 4, h, w] z)
<int64[3] flat = {0, 4, -1}> {
    a = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, u)
    b = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (a, v)
    c = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (b)
    p = Reshape (b, flat)
    q = Reshape (c, flat)
    y = Concat <axis = 2> (p, q)
    z = Conv <kernel_shape = [3, 3], strides = [3, 3]> (b, v)
})"},
    // Frames of a sound: windows of 400 samples, 160 apart.
    {"shaped_sound.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[1, 1, samples] x, float[4, 1, 400] w) => (float[1, 4, frames] y) {
    a = Conv <kernel_shape = [400], strides = [160]> (x, w)
    y = Relu (a)
})"},
    // As many numbers as pairs: n * (n + 1) / 2.
    {"shaped_pairs.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[n] x) => (float[pairs] y)
<int64[1] one = {1}, int64[1] two = {2}, int64 zero = {0}, int64 step = {1}> {
    n = Shape (x)
    above = Add (n, one)
    twice = Mul (n, above)
    count = Div (twice, two)
    end = Squeeze (count)
    numbers = Range (zero, end, step)
    y = Cast <to = 1> (numbers)
})"},
    // The root of a size is no polynomial of it.
    {"shaped_root.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[n, 4] x) => (float[n, 4] y, float[m] z)
<int64[1] first = {0}> {
    s = Shape (x)
    n = Gather (s, first)
    f = Cast <to = 1> (n)
    r = Sqrt (f)
    k = Cast <to = 7> (r)
    root = ConstantOfShape (k)
    z = Exp (root)
    y = Relu (x)
})"},
    // The branch that runs depends on the size, and so does what it makes.
    {"shaped_choice.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[n, 4] x) => (float[m, 4] y)
<int64[1] first = {0}, int64[1] many = {8}> {
    s = Shape (x)
    n = Gather (s, first)
    is_large = Greater (n, many)
    large = Squeeze (is_large)
    r = If (large) <then_branch = one () => (float[a, 4] t) { t = Relu (x) },
                    else_branch = two () => (float[b, 4] e) { e = Concat <axis = 0> (x, x) }>
    y = Exp (r)
})"},
    // A graph inside with an arena that grows.
    {"shaped_scan.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, 3] start, float[5, batch, 3] rows) => (float[batch, 3] sum, float[5, batch, 3] sums) {
    a = Exp (start)
    sum, sums = Scan (a, rows) <num_scan_inputs = 1, body = body (float[batch, 3] so_far, float[batch, 3] row) => (float[batch, 3] next, float[batch, 3] out) {
        next = Add (so_far, row)
        t = Exp (next)
        out = Neg (t)
    }>
})"},
    // The file declares all sizes, of a batch of 2; a target of a Reshape is for this one, too.
    {"shaped_declared.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[2, 3, 4] x) => (float[2, 12] y)
<int64[2] flat = {2, 12}> {
    a = Relu (x)
    b = Reshape (a, flat)
    y = Exp (b)
})"},
    // A target for a batch of 1 in a file that leaves the batch open.
    {"shaped_wrong.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[batch, 3, 4] x) => (float[1, 12] y)
<int64[2] flat = {1, 12}> {
    a = Relu (x)
    b = Reshape (a, flat)
    y = Exp (b)
})"},
    // The sum of two maps that differ unless the height is a multiple of 4.
    {"shaped_pyramid.onnx", R"(
<ir_version: 7, opset_import: ["" : 13]>
g (float[1, 4, height, 8] x, float[4, 4, 3, 3] v) => (float[1, 4, h, w] y)
<float[4] up = {1, 1, 2, 2}> {
    a = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x, v)
    b = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (a, v)
    c = Resize (b, , up)
    y = Add (a, c)
})"},
};

} // namespace

int main(int count, char** words)
{
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count != 2 || asks_for_help)
        return std::fputs("usage: make_shaped FOLDER\n", asks_for_help ? stdout : stderr),
               asks_for_help ? 0 : 2;
    for (auto const& m : models) {
        onnx::ModelProto model;
        onnx::OnnxParser parser(m.text);
        if (auto const status = parser.Parse(model); !status.IsOK()) {
            std::fprintf(stderr, "make_shaped: %s: %s\n", m.file, status.ErrorMessage().c_str());
            return 1;
        }
        std::ofstream out(std::string(words[1]) + '/' + m.file, std::ios::binary);
        if (!(out << model.SerializeAsString()).flush()) {
            std::fprintf(stderr, "make_shaped: %s/%s cannot be written\n", words[1], m.file);
            return 1;
        }
    }
    return 0;
}
