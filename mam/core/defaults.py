"""What commands, the page and the library assume alike where nothing is said."""

LETTERS = "letters"  # the bundled model of letters
LETTER_ON = 12  # of 255: a pixel of a letter is ON above 0.05, as in the test images of cABC
OBJECT_GRAPHS = 200  # of each object, with variants
