"""Why something that a person asked for is not done. Each message is a sentence for them."""


class NotAllowed(Exception):
    """The person's role does not allow it."""


class NotPossible(Exception):
    """It cannot be done as things stand."""


class SignInAgain(Exception):
    """GitHub has to be asked in the person's own name, and their token has expired."""
