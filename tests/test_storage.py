"""Saved fits: what is written is read back, and a damaged or hostile file is refused."""

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr
from conftest import MODULES

import bayesjudge as bj
from bayesjudge.core import storage
from bayesjudge.core.methods import NUTS

RNG = np.random.default_rng(3)


def made_up(quantity=None, **fields):
    """A fit that nobody sampled."""
    p = RNG.beta(8, 2, size=(4, 50)) if quantity is None else quantity
    posterior = xr.Dataset({"prevalence": (("chain", "draw"), p)})
    idata = xr.DataTree.from_dict({"posterior": posterior})
    idata.attrs = {
        "random_seed": 1,
        "priors": "flat",
        "data_sha256": storage.checksum(COUNTS),
        "bayesjudge_version": "0.1.0",
    }
    about = {
        "data": COUNTS,
        "spec": bj.prevalence.ErrorRates.jeffreys(),
        "quantities": ("prevalence",),
        "method": NUTS,
        "source": "Somebody (2000)",
        "assumptions": (bj.Assumption("well", "all is well"),),
        "cautions": (bj.Caution("odd", "something is odd"),),
    }
    return bj.Fit(idata=idata, **(about | fields))


COUNTS = bj.prevalence.Counts(100, 60, 30, 27, 30, 25, calibration="random")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return made_up().save(tmp_path_factory.mktemp("fits") / "fit.nc").read_bytes()


@pytest.fixture
def saved(tmp_path, whole):
    (tmp_path / "fit.nc").write_bytes(whole)
    return tmp_path / "fit.nc"


@contextmanager
def opened(path):
    """A saved fit as an attacker edits it, who can also make its checksum."""
    path.write_bytes(path.read_bytes()[: -storage.SEAL_SIZE])
    with h5py.File(path, "r+") as file:
        yield file
    storage.seal(path)


def edit(path, change):
    """Change the header of a saved fit, and its checksum with it."""
    with opened(path) as file:
        header = json.loads(file.attrs[storage.HEADER])
        change(header)
        file.attrs[storage.HEADER] = json.dumps(header)


def refused(path, *words):
    """The error of loading `path`: it names the file, says `words` and what to do."""
    with pytest.raises(bj.InputError) as error:
        bj.load(path)
    assert len(str(error.value)) < 2000
    for word in (str(path), *words, "fit again"):
        assert word in str(error.value)
    # an edited file must not be refused for a checksum that the test did not make
    assert ("checksum" in str(error.value)) == any("checksum" in word for word in words)


# Code --------------------------------------------------------------------------------------------

CALLS = [
    "bayesjudge.core.storage:import_module",
    "bayesjudge.core.fit:import_module",
    "core.storage.import_module",
    "bayesjudge.core.storage.import_module",
    "load.__globals__.import_module",
    "prevalence.closed_form.import_module",
    "Fit.save",
    "prevalence",
    "attacker.Data",
    "attacker:Data",
    "importlib:import_module",
    "subprocess:Popen",
    "bayesjudge.core.fit:Fit",
    "bayesjudge.prevalence.data:Counts",
    "",
]


@pytest.mark.fast_one_in(14)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("where", ["data", "spec", "cautions", "nested"])
def test_a_file_runs_no_code(saved, tmp_path, monkeypatch, name, where):
    """The header names a function of the package that imports, and an attacker's module."""
    (tmp_path / "attacker.py").write_text("open(__file__ + '.ran', 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    call = {"class": name, "fields": {"name": "attacker"}}

    def change(header):
        if where == "nested":
            header["spec"]["fields"]["sensitivity"] = call
        else:
            header[where] = call

    edit(saved, change)
    refused(saved)
    assert not (tmp_path / "attacker.py.ran").exists()
    assert "attacker" not in sys.modules


@dataclass
class Recorder:
    """A class that is loaded, and no model."""

    name: str

    def __post_init__(self):
        MADE.append(self.name)


MADE = []


def test_a_file_makes_no_loaded_class_but_models(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, Recorder.__module__, sys.modules[__name__])
    call = {"class": f"{Recorder.__module__}:Recorder", "fields": {"name": "attacker"}}
    edit(saved, lambda header: header.update(data=call))
    refused(saved, "not a bayesjudge model")
    assert not MADE


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    "name", ["cli.app", "core.Fit", "prevalence.model.ErrorRates", "Fit", "attacker.Model", "", 3]
)
def test_a_file_chooses_no_module(saved, name):
    edit(saved, lambda header: header["spec"].update({"class": name}))
    refused(saved)


def test_a_model_of_another_module_is_refused(saved):
    other = storage.pack(bj.prevalence.classes.Confusions())
    edit(saved, lambda header: header.update(spec=other))
    refused(saved, "the data are of 'prevalence', the model is not")


@pytest.mark.slow
def test_loading_imports_no_sampler(saved):
    heavy = ("arviz", "matplotlib", "nutpie", "pymc", "pytensor")
    code = f"import sys, bayesjudge as bj; bj.load({str(saved)!r}); "
    code += f"print(*(name for name in {heavy!r} if name in sys.modules))"
    top = Path(bj.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=top, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


# Public names ------------------------------------------------------------------------------------


def test_classes_are_named_as_a_user_names_them(saved):
    with h5py.File(saved) as file:
        header = json.loads(file.attrs[storage.HEADER])
    assert header["data"]["class"] == "prevalence.Counts"
    assert header["spec"]["class"] == "prevalence.ErrorRates"
    assert header["spec"]["fields"]["sensitivity"]["class"] == "BetaPrior"


PAIR = [100, 50], [60, 30], [30, 20], [27, 18], [30, 20], [25, 18]
TABLE = [[10, 1, 2], [1, 10, 1], [2, 1, 10]]
VALUES = {
    **{f"data of {one.name}": data for one in MODULES for _, data in one.models()[:1]},
    **{f"{type(m).__name__} of {one.name}": m for one in MODULES for m, _ in one.models()},
    "strata": bj.prevalence.Counts(
        *PAIR, calibration="random", systems=["a", "b"], dim="stratum", unparsed=[1, 2]
    ),
    "external labels": bj.prevalence.Counts(
        100, 60, 30, 27, 30, 25, calibration="random", external_labels=[20, 18, 20, 17]
    ),
    "propensities": bj.prevalence.Counts(
        *PAIR, calibration="known_propensity", systems="ab", dim="stratum", propensity=[0.5, 0.3]
    ),
    "classes": bj.prevalence.classes.ClassCounts(
        [30, 40, 30], TABLE, classes=list("abc"), calibration="random", credit=np.array([1, 0.5, 0])
    ),
    "a list for a tuple": bj.bias.Shifts.from_differences([0, 1, 0, 2], scale=[1, 5]),
    "a prior for each system": bj.prevalence.ErrorRates({"a": bj.BetaPrior(1, 9)}),
    "NumPy's numbers": bj.prevalence.PooledErrorRates(spread=np.float32(2)),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_data_and_priors_of_every_module_come_back(value):
    again = storage.unpack(json.loads(json.dumps(storage.pack(value))))
    assert type(again) is type(value)
    assert storage.checksum(again) == storage.checksum(value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [bj.prevalence.Counts, bj.prevalence.ErrorRates, bj.BetaPrior])
def test_an_old_fit_survives_a_move_of_its_classes(saved, monkeypatch, kind):
    elsewhere = "bayesjudge.somewhere.else_"
    monkeypatch.setitem(sys.modules, elsewhere, sys.modules[kind.__module__])
    monkeypatch.setattr(kind, "__module__", elsewhere)
    fit = bj.load(saved)
    assert type(fit.data) is bj.prevalence.Counts
    assert vars(fit.data) == vars(COUNTS)
    assert fit.spec == bj.prevalence.ErrorRates.jeffreys()
    again = bj.load(fit.save(saved.with_name("again.nc")))
    assert again.idata.identical(fit.idata)


def test_a_class_that_is_not_public_is_refused_before_the_file_is_written(tmp_path):
    class Mine(bj.prevalence.Counts):
        pass

    mine = Mine(10, 5, 5, 4, 5, 4, calibration="random")
    with pytest.raises(bj.InputError, match="Mine"):
        made_up(data=mine).save(tmp_path / "fit.nc")
    assert not (tmp_path / "fit.nc").exists()
    assert storage.checksum(mine)  # so that it can be sampled all the same


# Damage ------------------------------------------------------------------------------------------


def test_what_is_saved_is_loaded(saved):
    fit = bj.load(saved)
    assert fit.cautions == (bj.Caution("odd", "something is odd"),)
    assert fit.assumptions == (bj.Assumption("well", "all is well"),)
    assert fit.quantities == ("prevalence",)
    assert fit.idata.attrs["random_seed"] == 1


def test_an_edit_with_its_checksum_is_loaded(saved):
    """So that what the tests below see refused is not refused for its checksum."""
    edit(saved, lambda header: header.update(source="Another source"))
    assert bj.load(saved).source == "Another source"


@pytest.fixture
def without_hdf5(monkeypatch):
    """HDF5 reads nothing: some damaged files make it loop for ever."""

    def read(*args, **kwargs):
        raise AssertionError("HDF5 was asked")

    monkeypatch.setattr(h5py, "File", read)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(saved, whole, without_hdf5, share):
    saved.write_bytes(whole[: int(share * len(whole))])
    refused(saved, "does not end in a checksum")


@pytest.mark.parametrize("lost", [1, 20, storage.SEAL_SIZE - 1, storage.SEAL_SIZE])
def test_a_file_that_lost_its_end(saved, whole, without_hdf5, lost):
    saved.write_bytes(whole[:-lost])
    refused(saved, "does not end in a checksum")


@pytest.mark.slow
def test_any_changed_byte_is_noticed_before_hdf5_reads_it(saved, whole, without_hdf5):
    rng = np.random.default_rng(6)
    ends = range(len(whole) - storage.SEAL_SIZE - 20, len(whole), 9)
    for at in (*rng.integers(len(whole), size=200), *range(0, 40, 4), *ends):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.integers(8)
        saved.write_bytes(damaged)
        refused(saved, "checksum")


def test_what_stands_behind_a_file_is_noticed(saved, whole, without_hdf5):
    saved.write_bytes(whole + b"\n")
    refused(saved, "does not end in a checksum")


@pytest.mark.parametrize(
    "content", [b"", b"\x89HDF\r\n\x1a\n" + bytes(10_000), b"CDF\x01" * 99, b"[]"]
)
def test_a_file_that_is_no_fit(saved, without_hdf5, content):
    saved.write_bytes(content)
    refused(saved, "does not end in a checksum", "holds no fit")


def test_a_fit_of_an_earlier_format_is_told_as_one(saved, whole, without_hdf5):
    saved.write_bytes(whole[: -storage.SEAL_SIZE])
    refused(saved, "checksum", "format 3")


@pytest.mark.parametrize("change", ["draw", "attribute"])
def test_an_edit_without_its_checksum_is_noticed(saved, change):
    with h5py.File(saved, "r+") as file:
        if change == "draw":
            file["posterior/prevalence"][0, 0] += 1e-12
        else:
            file.attrs["random_seed"] = 2
    refused(saved, "checksum")


def test_a_file_that_was_sealed_again_is_still_checked(saved):
    """Hostile, not damaged: HDF5 data that are none, behind which their checksum stands."""
    saved.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(10_000))
    storage.seal(saved)
    refused(saved, "is no fit")


@pytest.mark.parametrize("error", [AttributeError("no load_datatree"), ImportError("no library")])
def test_a_library_that_cannot_read_is_no_damage(saved, monkeypatch, error):
    def fails(*args, **kwargs):
        raise error

    monkeypatch.setattr(xr, "load_datatree", fails)
    refused(saved, "cannot be read", f"xarray {xr.__version__}", str(error))
    with pytest.raises(bj.InputError) as told:
        bj.load(saved)
    assert "damaged" not in str(told.value)


def test_a_file_of_another_format_is_no_damage(saved):
    edit(saved, lambda header: header.update(format=storage.FORMAT + 1))
    refused(saved, "load it with the version that wrote it")
    with pytest.raises(bj.InputError) as told:
        bj.load(saved)
    assert "damaged" not in str(told.value)


@pytest.mark.slow
def test_other_libraries_read_the_file(saved):
    import arviz as az

    draws = bj.load(saved).draws("prevalence")
    for read in (az.from_netcdf, lambda path: xr.load_datatree(path, engine="h5netcdf")):
        with read(saved) as tree:
            assert np.array_equal(tree["posterior"]["prevalence"].to_numpy().ravel(), draws)


@pytest.mark.parametrize("version", [1, 3, 4, "5", None, "missing"])
def test_a_file_of_another_version(saved, version):
    def change(header):
        header["format"] = version
        if version == "missing":
            del header["format"]

    edit(saved, change)
    shown = None if version == "missing" else version
    refused(saved, f"format {shown!r}", "bayesjudge 0.1.0", "format 6")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000, '{"format": 6}', "é"])
def test_a_header_that_is_none(saved, text):
    with opened(saved) as file:
        file.attrs[storage.HEADER] = text
    refused(saved)


# Hostile values ----------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
FLOATS = {"dtype": "float64", "shape": [2], "array": [0.5, 0.5]}


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


HOSTILE_COUNTS = {
    "out of range": {"test_pass": 101},
    "negative": {"test_n": -1},
    "not a number": {"test_n": NAN},
    "infinite": {"test_n": INF},
    "beyond any integer": {"test_n": 10**400},
    "beyond an int64": {"test_n": 10**30},
    "text for a number": {"test_n": "100"},
    "number for text": {"calibration": 3},
    "another design": {"calibration": "<script>"},
    "list for text": {"dim": ["system"]},
    "text for a list": {"systems": "ab"},
    "numbers for names": {"systems": [1]},
    "nested class": {"test_n": {"class": "BetaPrior", "fields": {"alpha": 1.0, "beta": 1.0}}},
    "deeply nested": {"test_n": nested(900)},
    "array of another shape": {"test_n": {**FLOATS, "shape": [3]}},
    "array of objects": {"test_n": {**FLOATS, "dtype": "object"}},
    "array of wide text": {"test_n": {"array": ["a"], "dtype": "<U999999999", "shape": [1]}},
    "array of a record": {"test_n": {**FLOATS, "dtype": "f8,f8"}},
    "array of text": {"test_n": {**FLOATS, "array": ["0.5", "0.5"]}},
    "array that is cut": {"test_n": {"array": [0.9], "dtype": "int64", "shape": [1]}},
    "array that overflows": {"test_n": {"array": [300], "dtype": "int8", "shape": [1]}},
    "array of one size too many": {"test_n": {**FLOATS, "shape": [-1]}},
    "array of no size": {"test_n": {**FLOATS, "shape": "2"}},
    "unknown field": {"__class__": 3},
    "mapping of an unknown kind": {"test_n": {"unknown": 3}},
}


@pytest.mark.fast_one_in(6)
@pytest.mark.parametrize("fields", HOSTILE_COUNTS.values(), ids=HOSTILE_COUNTS)
def test_hostile_counts(saved, fields):
    edit(saved, lambda header: header["data"]["fields"].update(fields))
    refused(saved)


HOSTILE_PRIORS = {
    "another option": {"pooling": "some"},
    "number for an option": {"pooling": 1},
    "number for a truth value": {"better_than_chance": 1},
    "number for a prior": {"sensitivity": 0.9},
    "another class": {"sensitivity": {"class": "Caution", "fields": {"name": "a", "text": "b"}}},
    "prior out of range": {
        "sensitivity": {"class": "BetaPrior", "fields": {"alpha": -1.0, "beta": 1.0}}
    },
    "prior that is none": {
        "sensitivity": {"class": "BetaPrior", "fields": {"alpha": NAN, "beta": 1.0}}
    },
    "prior with a missing field": {"sensitivity": {"class": "BetaPrior", "fields": {"alpha": 1.0}}},
    "prior without fields": {"sensitivity": {"class": "BetaPrior"}},
}


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("fields", HOSTILE_PRIORS.values(), ids=HOSTILE_PRIORS)
def test_hostile_priors(saved, fields):
    edit(saved, lambda header: header["spec"]["fields"].update(fields))
    refused(saved)


HOSTILE_HEADERS = {
    "data of another module": {"data": {"class": "panel.VotingRule", "fields": {}}},
    "data that are none": {"data": None},
    "another interval": {"interval": "<script>"},
    "quantities that are not there": {"quantities": {"tuple": ["accuracy"]}},
    "quantities that are numbers": {"quantities": {"tuple": [1]}},
    "cautions that are numbers": {"cautions": [[1, 2]]},
    "cautions of three": {"cautions": [["a", "b", "c"]]},
    "a method that is none": {"method": None},
    "another field": {"idata": 3},
}


@pytest.mark.slow
@pytest.mark.parametrize("words", HOSTILE_HEADERS.values(), ids=HOSTILE_HEADERS)
def test_hostile_headers(saved, words):
    edit(saved, lambda header: header.update(words))
    refused(saved)


def test_missing_and_unknown_fields_are_named_together(saved):
    def change(header):
        del header["data"]["fields"]["unparsed"]
        header["data"]["fields"]["colour"] = "red"

    edit(saved, change)
    refused(saved, "prevalence.Counts", "'unparsed'", "'colour'", "bayesjudge 0.1.0")


def test_an_array_larger_than_its_file_is_not_allocated(saved):
    with opened(saved) as file:
        file["posterior"].create_dataset("huge", (10**7, 10**6), "f8", chunks=(1000, 1000))
    refused(saved, "declares", "80,000")


@pytest.mark.parametrize("kind", ["external link", "soft link", "external data", "virtual data"])
def test_other_files_are_not_read_through_a_fit(saved, tmp_path, kind):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["secret"] = np.arange(10)
    with opened(saved) as file:
        if kind == "external link":
            file["posterior/secret"] = h5py.ExternalLink(str(secret), "secret")
        elif kind == "soft link":
            file["posterior/secret"] = h5py.SoftLink("/posterior/prevalence")
        elif kind == "external data":
            file["posterior"].create_dataset("secret", (8,), "i1", external=[(str(secret), 0, 8)])
        else:
            layout = h5py.VirtualLayout((10,), "i8")
            layout[:] = h5py.VirtualSource(secret, "secret", (10,))
            file["posterior"].create_virtual_dataset("secret", layout)
    refused(saved, "another file")


def test_a_fit_without_what_a_report_needs(tmp_path):
    fit = made_up()
    del fit.idata.attrs["random_seed"]
    path = fit.save(tmp_path / "fit.nc")
    refused(path, "random_seed")


#: Writes half a file in place of a whole one, and dies.
KILLED = """
import os, sys, xarray as xr, bayesjudge as bj
fit = bj.load(sys.argv[1])

def half(self, path, **kwargs):
    open(path, "wb").write(open(sys.argv[1], "rb").read()[:500])
    os._exit(9)

xr.DataTree.to_netcdf = half
fit.save(sys.argv[1])
"""


@pytest.mark.slow
def test_a_save_that_is_killed_half_way_leaves_the_saved_fit(saved):
    before = saved.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(saved)], check=False)
    assert done.returncode == 9
    assert saved.read_bytes() == before
    assert bj.load(saved).method.id == "nuts"


def test_a_save_that_fails_leaves_nothing_beside_the_saved_fit(saved, monkeypatch):
    def full(self, path, **kwargs):
        Path(path).write_bytes(b"half")
        raise OSError("no space left on device")

    before = saved.read_bytes()
    monkeypatch.setattr(xr.DataTree, "to_netcdf", full)
    with pytest.raises(OSError, match="no space"):
        made_up().save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]
