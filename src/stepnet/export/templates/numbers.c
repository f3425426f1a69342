/* weights * values - thresholds. Both factors are cut into slices of few digits (the weights into $n_slices, in a table)
   whose products add up without rounding, in any order; what adding the slices rounds off is added at the end. */
static void @layer$k(const double *values, double *y)
{
    double left[$n_inputs], slice[$n_inputs], rest[$width];
    memcpy(left, values, sizeof left);
    for (int j = 0; j < $width; j++) {
        y[j] = -@thresholds$k[j];
        rest[j] = 0;
    }
    for (int round = 0; round < $most_slices; round++) {
        double largest = 0;
        for (int i = 0; i < $n_inputs; i++)
            if (left[i] > largest || -left[i] > largest)
                largest = left[i] > 0 ? left[i] : -left[i];
        if (!(largest > 0))
            break;
        int exponent;
        (void)frexp(largest, &exponent);
        for (int i = 0; i < $n_inputs; i++) {
            const double magic = 0x1.8p52; /* adding it rounds to an integer */
            const double digits = (ldexp(left[i], $n_bits - exponent) + magic) - magic;
            slice[i] = ldexp(digits, exponent - $n_bits);
            left[i] -= slice[i];
        }
        for (int s = 0; s < $n_slices; s++)
            for (int j = 0; j < $width; j++) {
                const double *weights = @weights$k + (s * $width + j) * $n_inputs;
                double part = 0;
                for (int i = 0; i < $n_inputs; i++)
                    part += slice[i] * weights[i];
                const double total = y[j] + part, added = total - y[j];
                rest[j] += (y[j] - (total - added)) + (part - added);
                y[j] = total;
            }
    }
    for (int j = 0; j < $width; j++)
        y[j] += rest[j];
}
