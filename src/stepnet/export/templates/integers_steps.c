static void @layer$k(const int32_t *x, uint32_t *bits)
{
    for (int j = 0; j < $width; j++) {
        const int64_t sum = @dot(x, @weights$k + j * $n_inputs);
        for (int l = j * $n_thresholds; l < (j + 1) * $n_thresholds; l++)
            if (sum >= @thresholds$k[l])
                @set_bit(bits, l);
    }
}
