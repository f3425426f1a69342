/* A fixed-point number in units of 2^-2148, in digits of 32 bits that are not carried until the end: it holds any
   product of two doubles, and sums of millions of them. */
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

/* Adds weights * x - threshold, or subtracts it. */
static void @add_neuron(@wide *sum, const double *weights, const double *x, double threshold, int is_subtracted)
{
    for (int i = 0; i < $n_inputs; i++)
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
