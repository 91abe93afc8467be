"""What an answer must not be read without."""


class Caveat(str):
    """A line among the assumptions of an answer that every page of it shows, not only the verbose one.

    It says what was never measured, or what of a user's file is not followed.
    """

    __slots__ = ()
