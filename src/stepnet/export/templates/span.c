/* The part of the signals that a neuron looks at, and where its weights for it begin. */
typedef struct {
    uint32_t first, count, at;
} @span;
