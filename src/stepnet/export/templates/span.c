/* The range of signals that a neuron reads, and where its weights for them begin. */
typedef struct {
    uint32_t first, count, at;
} @span;
