static int @layer$k(const double *x)
{
    int best = 0;
    double best_sum = 0, best_size = 0;
    for (int j = 0; j < $width; j++) {
        const double *weights = @weights$k + j * $n_inputs;
        const double sum = @dot(weights, x) - @thresholds$k[j];
        const double size = @size(weights, x) + @absolute(@thresholds$k[j]);
        const double lead = sum - best_sum, error = @error(size + best_size);
        int is_better = j == 0 || lead > 0;
        if (j > 0 && !(lead > error || lead < -error)) {
            @wide exact = {{0}};
            @add_neuron(&exact, weights, x, @thresholds$k[j], 0);
            @add_neuron(&exact, @weights$k + best * $n_inputs, x, @thresholds$k[best], 1);
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
