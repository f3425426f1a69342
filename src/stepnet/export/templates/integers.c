static int64_t @dot(const int32_t *x, const $type *weights)
{
    int64_t sum = 0;
    for (int i = 0; i < $n_inputs; i++)
        sum += (int64_t)weights[i] * x[i];
    return sum;
}
