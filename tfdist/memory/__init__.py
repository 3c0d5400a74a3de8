"""Does it fit? What a step holds at its peak, and what each task does. See `tfdist.estimate`."""
