"""The C routines that exported models are made of; ``@`` stands for the model's prefix.

Sums of doubles come with a bound on their rounding error. Where that leaves the sign in doubt, all products are
added up once more in a fixed-point number that is wide enough for any double, so no case is left out.
"""

from __future__ import annotations

FLOATS_GUARD = """\
#if defined(__FAST_MATH__)
#error "this model is exact only without -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "this model needs doubles that are computed as doubles (FLT_EVAL_METHOD 0; on x86: -msse2 -mfpmath=sse)"
#endif
#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "this model needs doubles of 64 bits as in IEEE 754"
#endif
"""

POPCOUNT = """\
static int @popcount(uint32_t word)
{
    word = word - ((word >> 1) & UINT32_C(0x55555555));
    word = (word & UINT32_C(0x33333333)) + ((word >> 2) & UINT32_C(0x33333333));
    word = (word + (word >> 4)) & UINT32_C(0x0F0F0F0F);
    return (int)(((word * UINT32_C(0x01010101)) >> 24) & 0xFF);
}
"""

SPAN = """\
/* The part of the signals that a neuron looks at, and where its weights for it begin. */
typedef struct {
    uint32_t first, count, at;
} @span;
"""

SET_BIT = """\
static void @set_bit(uint32_t *bits, int number)
{
    bits[number / 32] |= UINT32_C(1) << (number % 32);
}
"""

LEVEL = """\
/* How many of a neuron's bits are on. */
static int @level(const uint32_t *bits, int neuron, int n_thresholds)
{
    int level = 0;
    for (int l = neuron * n_thresholds; l < (neuron + 1) * n_thresholds; l++)
        level += (int)((bits[l / 32] >> (l % 32)) & 1);
    return level;
}
"""

COUNT = """\
/* A sum of small integer weights over the signals that are on: plane p holds bit p of the weights, first of the
   positive ones, then (n_signs 2) of the negative ones. */
static int64_t @count(const uint32_t *signals, const uint32_t *planes, @span span, int n_planes, int n_signs)
{
    int64_t total = 0;
    for (int p = n_planes - 1; p >= 0; p--) {
        const uint32_t *plane = planes + span.at + (uint32_t)(p * n_signs) * span.count;
        total *= 2;
        for (uint32_t k = 0; k < span.count; k++) {
            total += @popcount(signals[span.first + k] & plane[k]);
            if (n_signs == 2)
                total -= @popcount(signals[span.first + k] & plane[span.count + k]);
        }
    }
    return total;
}
"""

DIGITS = """\
/* Adds the weights of signals that are on, each of n_digits digits in base 2^32, the lowest first. */
static void @add_digits(const uint32_t *signals, const int32_t *weights, @span span, int n_digits, int64_t *sum)
{
    for (uint32_t b = 0; b < span.count; b++) {
        const uint32_t bit = span.first + b;
        if ((signals[bit / 32] >> (bit % 32)) & 1)
            for (int k = 0; k < n_digits; k++)
                sum[k] += weights[(span.at + b) * (uint32_t)n_digits + (uint32_t)k];
    }
}

/* Whether left < right, as numbers of n_digits digits. */
static int @is_below(const int64_t *left, const int64_t *right, int n_digits)
{
    const int64_t base = INT64_C(4294967296);
    int64_t carry = 0;
    for (int k = 0; k < n_digits; k++) {
        const int64_t digit = left[k] - right[k] + carry;
        carry = k + 1 == n_digits ? digit : digit / base - (digit % base < 0);
    }
    return carry < 0;
}
"""

PLANES_STEPS = """\
static void @layer{k}(const uint32_t *signals, uint32_t *bits)
{
    for (int j = 0; j < {width}; j++) {
        const int64_t sum = @count(signals, @planes{k}, @spans{k}[j], {n_planes}, {n_signs});
        for (int l = 0; l < {n_thresholds}; l++)
            if (sum >= @thresholds{k}[j * {n_thresholds} + l])
                @set_bit(bits, j * {n_thresholds} + l);
    }
}
"""

PLANES_ARGMAX = """\
static int @layer{k}(const uint32_t *signals)
{
    int best = 0;
    int64_t highest = 0;
    for (int j = 0; j < {width}; j++) {
        const int64_t sum = @count(signals, @planes{k}, @spans{k}[j], {n_planes}, {n_signs});
        const int64_t score = {factor} * sum - @thresholds{k}[j];
        if (j == 0 || score > highest) {
            best = j;
            highest = score;
        }
    }
    return best;
}
"""

DIGITS_STEPS = """\
static void @layer{k}(const uint32_t *signals, uint32_t *bits)
{
    for (int j = 0; j < {width}; j++) {
        int64_t sum[{n_digits}] = {0};
        @add_digits(signals, @weights{k}, @spans{k}[j], {n_digits}, sum);
        for (int l = j * {n_thresholds}; l < (j + 1) * {n_thresholds}; l++) {
            int64_t end[{n_digits}];
            for (int d = 0; d < {n_digits}; d++)
                end[d] = @thresholds{k}[l * {n_digits} + d];
            if (!@is_below(sum, end, {n_digits}))
                @set_bit(bits, l);
        }
    }
}
"""

DIGITS_ARGMAX = """\
static int @layer{k}(const uint32_t *signals)
{
    int best = 0;
    int64_t highest[{n_digits}] = {0};
    for (int j = 0; j < {width}; j++) {
        int64_t score[{n_digits}];
        for (int d = 0; d < {n_digits}; d++)
            score[d] = -(int64_t)@thresholds{k}[j * {n_digits} + d];
        @add_digits(signals, @weights{k}, @spans{k}[j], {n_digits}, score);
        if (j == 0 || @is_below(highest, score, {n_digits})) {
            best = j;
            memcpy(highest, score, sizeof highest);
        }
    }
    return best;
}
"""

INTEGERS = """\
static int64_t @dot(const int32_t *x, const {type} *weights)
{
    int64_t sum = 0;
    for (int i = 0; i < {n_inputs}; i++)
        sum += (int64_t)weights[i] * x[i];
    return sum;
}
"""

INTEGERS_STEPS = """\
static void @layer{k}(const int32_t *x, uint32_t *bits)
{
    for (int j = 0; j < {width}; j++) {
        const int64_t sum = @dot(x, @weights{k} + j * {n_inputs});
        for (int l = j * {n_thresholds}; l < (j + 1) * {n_thresholds}; l++)
            if (sum >= @thresholds{k}[l])
                @set_bit(bits, l);
    }
}
"""

INTEGERS_ARGMAX = """\
static int @layer{k}(const int32_t *x)
{
    int best = 0;
    int64_t highest = 0;
    for (int j = 0; j < {width}; j++) {
        const int64_t score = {factor} * @dot(x, @weights{k} + j * {n_inputs}) - @thresholds{k}[j];
        if (j == 0 || score > highest) {
            best = j;
            highest = score;
        }
    }
    return best;
}
"""

EXACT = """\
/* A fixed-point number in units of 2^-2148, in digits of 32 bits that need not be carried: any product of two doubles
   fits, and so do millions of them. */
typedef struct {
    int64_t digits[136];
} @wide;

static uint64_t @split(double value, int *exponent, int *is_negative)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *is_negative = (int)(bits >> 63);
    *exponent = (int)((bits >> 52) & 0x7FF);
    bits &= UINT64_C(0xFFFFFFFFFFFFF);
    if (*exponent > 0) {
        bits |= UINT64_C(0x10000000000000);
        *exponent -= 1;
    }
    return bits; /* |value| = bits * 2^(exponent - 1074) */
}

static void @add_at(@wide *sum, uint64_t part, int place, int is_negative)
{
    int64_t *digit = sum->digits + place / 32;
    const int shift = place % 32;
    const uint64_t low = (part & UINT32_MAX) << shift, high = (part >> 32) << shift;
    const int64_t sign = is_negative ? -1 : 1;
    digit[0] += sign * (int64_t)(low & UINT32_MAX);
    digit[1] += sign * (int64_t)((low >> 32) + (high & UINT32_MAX));
    digit[2] += sign * (int64_t)(high >> 32);
}

static void @add_product(@wide *sum, double left, double right, int is_subtracted)
{
    int left_exponent, right_exponent, left_sign, right_sign;
    const uint64_t a = @split(left, &left_exponent, &left_sign), b = @split(right, &right_exponent, &right_sign);
    const int place = left_exponent + right_exponent, is_negative = left_sign ^ right_sign ^ is_subtracted;
    @add_at(sum, (a & UINT32_MAX) * (b & UINT32_MAX), place, is_negative);
    @add_at(sum, (a >> 32) * (b & UINT32_MAX), place + 32, is_negative);
    @add_at(sum, (a & UINT32_MAX) * (b >> 32), place + 32, is_negative);
    @add_at(sum, (a >> 32) * (b >> 32), place + 64, is_negative);
}

/* Adds weights * x - threshold, or takes it off. */
static void @add_neuron(@wide *sum, const double *weights, const double *x, double threshold, int is_subtracted)
{
    for (int i = 0; i < {n_inputs}; i++)
        @add_product(sum, weights[i], x[i], is_subtracted);
    @add_product(sum, threshold, 1.0, !is_subtracted);
}

static int @sign(const @wide *sum)
{
    const int64_t base = INT64_C(4294967296);
    int64_t carry = 0, digit;
    int is_zero = 1;
    for (int k = 0; k < 136; k++) {
        digit = sum->digits[k] + carry;
        carry = digit / base - (digit % base < 0);
        is_zero = is_zero && digit == carry * base;
    }
    return carry < 0 ? -1 : !is_zero;
}
"""

FLOATS = """\
static double @absolute(double value)
{
    return value < 0 ? -value : value;
}

static double @dot(const double *weights, const double *x)
{
    double a = 0, b = 0, c = 0, d = 0; /* four sums at a time do not wait for each other */
    int i = 0;
    for (; i + 3 < {n_inputs}; i += 4) {
        a += weights[i] * x[i];
        b += weights[i + 1] * x[i + 1];
        c += weights[i + 2] * x[i + 2];
        d += weights[i + 3] * x[i + 3];
    }
    for (; i < {n_inputs}; i++)
        a += weights[i] * x[i];
    return (a + b) + (c + d);
}

/* The sum of the absolute products. */
static double @size(const double *weights, const double *x)
{
    double size = 0;
    for (int i = 0; i < {n_inputs}; i++)
        size += @absolute(weights[i] * x[i]);
    return size;
}

/* More than what rounding can add up to in a sum of that size. */
static double @error(double size)
{
    return {error} * size + 0x1p-990;
}
"""

FLOATS_STEPS = """\
/* Whether weights * x >= threshold, exact, given their sum as rounded and a bound on the sum of absolute products. */
static int @reaches(const double *weights, const double *x, double sum, double bound, double threshold)
{
    const double value = sum - threshold;
    double error = @error(bound + @absolute(threshold));
    if (value > error || value < -error)
        return value > 0;
    error = @error(@size(weights, x) + @absolute(threshold));
    if (value > error || value < -error)
        return value > 0;
    @wide exact = {{0}};
    @add_neuron(&exact, weights, x, threshold, 0);
    return @sign(&exact) >= 0;
}

static void @layer{k}(const double *x, uint32_t *bits)
{
    double sizes = 0;
    for (int i = 0; i < {n_inputs}; i++)
        sizes += @absolute(x[i]);
    for (int j = 0; j < {width}; j++) {
        const double *weights = @weights{k} + j * {n_inputs};
        const double sum = @dot(weights, x), bound = sizes * @largest{k}[j];
        for (int l = j * {n_thresholds}; l < (j + 1) * {n_thresholds}; l++)
            if (@reaches(weights, x, sum, bound, @thresholds{k}[l]))
                @set_bit(bits, l);
    }
}
"""

FLOATS_ARGMAX = """\
static int @layer{k}(const double *x)
{
    int best = 0;
    double best_sum = 0, best_size = 0;
    for (int j = 0; j < {width}; j++) {
        const double *weights = @weights{k} + j * {n_inputs};
        const double sum = @dot(weights, x) - @thresholds{k}[j];
        const double size = @size(weights, x) + @absolute(@thresholds{k}[j]);
        const double lead = sum - best_sum, error = @error(size + best_size);
        int is_better = j == 0 || lead > 0;
        if (j > 0 && !(lead > error || lead < -error)) {
            @wide exact = {{0}};
            @add_neuron(&exact, weights, x, @thresholds{k}[j], 0);
            @add_neuron(&exact, @weights{k} + best * {n_inputs}, x, @thresholds{k}[best], 1);
            is_better = @sign(&exact) > 0;
        }
        if (is_better) {
            best = j;
            best_sum = sum;
            best_size = size;
        }
    }
    return best;
}
"""

IDENTITY = """\
/* weights * values - thresholds. Both factors are cut into slices of few digits ({n_slices} of the weights, in a table)
   whose products add up without rounding, in any order; what the sums of slices round off is added at the end. */
static void @layer{k}(const double *values, double *y)
{
    double left[{n_inputs}], slice[{n_inputs}], rest[{width}];
    memcpy(left, values, sizeof left);
    for (int j = 0; j < {width}; j++) {
        y[j] = -@thresholds{k}[j];
        rest[j] = 0;
    }
    for (int round = 0; round < {most_slices}; round++) {
        double largest = 0;
        for (int i = 0; i < {n_inputs}; i++)
            if (left[i] > largest || -left[i] > largest)
                largest = left[i] > 0 ? left[i] : -left[i];
        if (!(largest > 0))
            break;
        int exponent;
        (void)frexp(largest, &exponent);
        for (int i = 0; i < {n_inputs}; i++) {
            const double magic = 0x1.8p52; /* adding it rounds to an integer */
            const double digits = (ldexp(left[i], {n_bits} - exponent) + magic) - magic;
            slice[i] = ldexp(digits, exponent - {n_bits});
            left[i] -= slice[i];
        }
        for (int s = 0; s < {n_slices}; s++)
            for (int j = 0; j < {width}; j++) {
                const double *weights = @weights{k} + (s * {width} + j) * {n_inputs};
                double part = 0;
                for (int i = 0; i < {n_inputs}; i++)
                    part += slice[i] * weights[i];
                const double total = y[j] + part, added = total - y[j];
                rest[j] += (y[j] - (total - added)) + (part - added);
                y[j] = total;
            }
    }
    for (int j = 0; j < {width}; j++)
        y[j] += rest[j];
}
"""

MAIN = """\
#ifdef STEPNET_MAIN
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int @has_names = {has_names};
static const char *const @features[{n_features}] = {
{features}
};

static char *@line;
static size_t @room;

/* The next line without its end, 0 at the end of the input. */
static int @read_line(void)
{
    size_t length = 0;
    int c;
    while ((c = getchar()) != EOF && c != '\\n') {
        if (length + 2 > @room) {
            @room = 2 * @room + 256;
            char *larger = realloc(@line, @room);
            if (larger == NULL) {
                fputs("not enough memory for a line\\n", stderr);
                exit(2);
            }
            @line = larger;
        }
        @line[length++] = (char)c;
    }
    if (length > 0 && @line[length - 1] == '\\r')
        length--;
    if (@line != NULL)
        @line[length] = 0;
    else
        @line = calloc(@room = 256, 1);
    if (@line == NULL)
        exit(2);
    return length > 0 || c != EOF;
}

/* Cuts the line into cells, in place: without spaces around them, without quotes. Gives their number. */
static int @cut(char *text, char **cells)
{
    int n = 0;
    for (;;) {
        char *from, *to;
        while (*text == ' ' || *text == '\\t')
            text++;
        from = to = text;
        if (*text == '"') {
            for (text++; *text != 0; text++) {
                if (*text == '"' && *++text != '"')
                    break;
                *to++ = *text;
            }
            while (*text != 0 && *text != ',')
                text++;
        } else {
            while (*text != 0 && *text != ',')
                text++;
            for (to = text; to > from && (to[-1] == ' ' || to[-1] == '\\t');)
                to--;
        }
        const int is_last = *text == 0;
        *to = 0;
        if (n < {n_features})
            cells[n] = from;
        n++;
        if (is_last)
            return n;
        text++;
    }
}

{number}
static int @are_names(char **cells)
{
    for (int i = 0; i < {n_features}; i++)
        if (strcmp(cells[i], @features[i]) != 0)
            return 0;
    return 1;
}

static int @is_header(char **cells, int n_cells)
{
    {type} value;
    if (n_cells == {n_features} && @has_names && @are_names(cells))
        return 1;
    for (int i = 0; i < n_cells && i < {n_features}; i++)
        if (@number(cells[i], &value))
            return 0;
    return 1;
}

int main(void)
{
    static char *cells[{n_features}];
    static {type} row[{n_features}];
    unsigned long number = 0;
    int is_first = 1;
    puts("{header}");
    while (@read_line()) {
        char *text = @line;
        number++;
        if (number == 1 && strncmp(text, "\\xEF\\xBB\\xBF", 3) == 0)
            text += 3;
        if (*text == 0)
            continue;
        const int n_cells = @cut(text, cells), is_header = is_first && @is_header(cells, n_cells);
        is_first = 0;
        if (n_cells != {n_features}) {
            fprintf(stderr, "line %lu: %d cells, the model has {n_features} features\\n", number, n_cells);
            return 2;
        }
        if (is_header) {
            for (int i = 0; i < {n_features} && @has_names; i++)
                if (strcmp(cells[i], @features[i]) != 0) {
                    fprintf(stderr, "line %lu: column %d is '%s', the model expects '%s'\\n", number, i + 1, cells[i],
                            @features[i]);
                    return 2;
                }
            continue;
        }
        for (int i = 0; i < {n_features}; i++)
            if (!@number(cells[i], &row[i])) {
                fprintf(stderr, "line %lu, column %d: '%s' is no {kind}\\n", number, i + 1, cells[i]);
                return 2;
            }
{print}
    }
    free(@line);
    if (ferror(stdin) || fflush(stdout) != 0) {
        fputs("standard input or output failed\\n", stderr);
        return 2;
    }
    return 0;
}
#endif
"""

NUMBER_FLOAT = """\
static int @number(const char *cell, double *value)
{
    char *end;
    *value = strtod(cell, &end);
    return end != cell && *end == 0 && *value - *value == 0;
}
"""

NUMBER_INTEGER = """\
static int @number(const char *cell, int32_t *value)
{
    char *end;
    errno = 0;
    const long long read = strtoll(cell, &end, 10);
    if (end == cell || errno != 0 || read < {lowest} || read > {highest})
        return 0;
    *value = (int32_t)read;
    if (*end == '.')
        for (end++; *end == '0';)
            end++;
    return *end == 0;
}
"""
