static double @absolute(double value)
{
    return value < 0 ? -value : value;
}

static double @dot(const double *weights, const double *x)
{
    double a = 0, b = 0, c = 0, d = 0; /* four sums that do not wait for each other */
    int i = 0;
    for (; i + 3 < $n_inputs; i += 4) {
        a += weights[i] * x[i];
        b += weights[i + 1] * x[i + 1];
        c += weights[i + 2] * x[i + 2];
        d += weights[i + 3] * x[i + 3];
    }
    for (; i < $n_inputs; i++)
        a += weights[i] * x[i];
    return (a + b) + (c + d);
}

/* The sum of the absolute products. */
static double @size(const double *weights, const double *x)
{
    double size = 0;
    for (int i = 0; i < $n_inputs; i++)
        size += @absolute(weights[i] * x[i]);
    return size;
}

/* A bound on the rounding error of a sum whose absolute terms add up to size. */
static double @error(double size)
{
    return $error * size + 0x1p-990;
}
