"""Temporary files that go with their object, and travel in pickles."""

import os
import pickle

from skstruct.compat.sklearn_crfsuite._fileresource import FileResource


def test_a_temporary_file_goes_with_its_object():
    resource = FileResource(suffix=".x")
    name = resource.ensure_name()
    assert os.path.exists(name) and name.endswith(".x")
    assert resource.ensure_name() == name
    resource.refresh()
    assert not os.path.exists(name) and os.path.exists(resource.name)
    name = resource.name
    del resource
    assert not os.path.exists(name)


def test_the_content_is_pickled():
    resource = FileResource()
    with open(resource.ensure_name(), "wb") as file:
        file.write(b"content")
    back = pickle.loads(pickle.dumps(resource))
    assert back.name != resource.name
    with open(back.name, "rb") as file:
        assert file.read() == b"content"


def test_a_named_file_stays(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    resource = FileResource(str(path))
    assert pickle.loads(pickle.dumps(resource)).name == str(path)
    resource.cleanup()
    assert path.exists()
