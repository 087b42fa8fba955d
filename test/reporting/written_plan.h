/* SPDX-License-Identifier: BSL-1.0 */
/* Written by sublet::write_c(). */
#ifndef SUBLET_FORMULAS
#define SUBLET_FORMULAS
static long long sublet_ceil_div(long long a, long long n) { return a / n + (a % n > 0); }
static long long sublet_max(long long a, long long b) { return a < b ? b : a; }
#endif

enum { written_buffers = 5, written_pools = 2, written_count = 7 };

static inline void written_place(long long batch, long long d1, long long *sublet_size, long long *sublet_offset, long long *sublet_bytes)
{
    long long sublet_begin;
    (void)sublet_ceil_div, (void)sublet_max;
    (void)batch;
    (void)d1;
    long long const sublet_s0 = 12ll*batch*d1*d1;
    long long const sublet_s1 = sublet_ceil_div(batch*d1, 8ll);
    long long const sublet_s2 = sublet_max(4096ll, 4ll*batch*d1);
    long long const sublet_s3 = -8ll + 8ll*batch;
    long long const sublet_s4 = 16ll*sublet_ceil_div(5ll*batch, 16ll);
    sublet_bytes[0] = 0;
    sublet_bytes[1] = 0;
    /* rows */
    sublet_size[2] = sublet_s2;
    sublet_begin = 0;
    sublet_begin = 48ll * sublet_ceil_div(sublet_begin, 48ll);
    sublet_offset[2] = sublet_begin;
    if (sublet_size[2] != 0) sublet_bytes[0] = sublet_max(sublet_bytes[0], sublet_begin + sublet_size[2]);
    /* image */
    sublet_size[0] = sublet_s0;
    sublet_begin = 0;
    sublet_begin = sublet_max(sublet_begin, sublet_offset[2] + sublet_size[2]);
    sublet_offset[0] = sublet_begin;
    if (sublet_size[0] != 0) sublet_bytes[0] = sublet_max(sublet_bytes[0], sublet_begin + sublet_size[0]);
    /* sums */
    sublet_size[4] = sublet_s4;
    sublet_begin = 0;
    sublet_begin = sublet_max(sublet_begin, sublet_offset[2] + sublet_size[2]);
    sublet_offset[4] = sublet_begin;
    if (sublet_size[4] != 0) sublet_bytes[0] = sublet_max(sublet_bytes[0], sublet_begin + sublet_size[4]);
    /* mask */
    sublet_size[1] = sublet_s1;
    sublet_begin = 0;
    sublet_begin = sublet_max(sublet_begin, sublet_offset[0] + sublet_size[0]);
    sublet_begin = 16ll * sublet_ceil_div(sublet_begin, 16ll);
    sublet_offset[1] = sublet_begin;
    if (sublet_size[1] != 0) sublet_bytes[0] = sublet_max(sublet_bytes[0], sublet_begin + sublet_size[1]);
    /* __ left */
    sublet_size[3] = sublet_s3;
    sublet_begin = 0;
    sublet_begin = sublet_max(sublet_begin, 32ll);
    sublet_offset[3] = sublet_begin;
    if (sublet_size[3] != 0) sublet_bytes[1] = sublet_max(sublet_bytes[1], sublet_begin + sublet_size[3]);
}

static inline void written_values(long long batch, long long d1, long long const *sublet_offset, long long *sublet_at)
{
    (void)sublet_offset, (void)sublet_at;
    (void)batch;
    (void)d1;
    sublet_at[0] = sublet_offset[0]; /* image */
    sublet_at[1] = sublet_offset[1]; /* mask */
    sublet_at[2] = sublet_offset[2]; /* rows */
    sublet_at[3] = sublet_offset[3]; /* __ left */
    sublet_at[4] = sublet_offset[4]; /* sums */
    sublet_at[5] = sublet_offset[4] + (batch); /* part */
    sublet_at[6] = -1; /* table */
}
