"""The parts of a written ``.py`` file: ordinary modules, standard library only, for Python 3.8 and later."""
