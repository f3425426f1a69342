"""What may be said of a trained network: results, certificates, and whether they hold."""
