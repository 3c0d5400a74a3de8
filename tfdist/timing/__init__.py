"""How fast is training here: over how many tasks, by which road, beside Keras' own loop?"""
