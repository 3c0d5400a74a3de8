"""How fast do the examples come, and is it the data or the model that the other waits for?"""
