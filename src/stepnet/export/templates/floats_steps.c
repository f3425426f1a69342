/* Whether weights * x >= threshold, exactly, given the rounded sum and a bound on the sum of absolute products. */
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

static void @layer$k(const double *x, uint32_t *bits)
{
    double sizes = 0;
    for (int i = 0; i < $n_inputs; i++)
        sizes += @absolute(x[i]);
    for (int j = 0; j < $width; j++) {
        const double *weights = @weights$k + j * $n_inputs;
        const double sum = @dot(weights, x), bound = sizes * @largest$k[j];
        for (int l = j * $n_thresholds; l < (j + 1) * $n_thresholds; l++)
            if (@reaches(weights, x, sum, bound, @thresholds$k[l]))
                @set_bit(bits, l);
    }
}
