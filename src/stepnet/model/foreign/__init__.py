"""Networks from elsewhere: arrays and ONNX files, read into layers of step neurons."""
