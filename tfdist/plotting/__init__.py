"""What do runs look like? Pictures of what they left behind. Imports no TensorFlow."""
