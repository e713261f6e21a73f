"""
The Young diagram and its diagonal
==================================

The counts of a word, drawn as rows of boxes.
"""

import matplotlib.pyplot as plt

plt.plot([1, 2])
plt.show()
