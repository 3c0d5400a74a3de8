"""What is seen of a run while it goes: TensorBoard, lines, traces."""
