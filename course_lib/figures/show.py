"""Show a picture with the words that replace it."""

import base64
import html
import io
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"  # Okabe and Ito's palette
PURPLE, SKY, INK = "#CC79A7", "#56B4E9", "#222222"
PAPER, FAINT = "white", "#DDDDDD"
DOTS_PER_INCH = 100
STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "hatch.color": "#888888",
    "hatch.linewidth": 0.8,
}


@dataclass(frozen=True)
class Still:
    """A picture that shows itself with its words, as the last line of a cell.

    Attributes:
        figure: the picture.
        alt: what it says, for someone who cannot see it.
        caption: one sentence below it.

    Lesson: notebooks/00_start.ipynb
    """

    figure: Figure
    alt: str
    caption: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        """Give the html figure, and the words alone."""
        page = figure_html(self.figure, self.alt, self.caption)
        words = f"Figure: {self.caption} [{self.alt}]"
        return {"text/html": page, "text/plain": words}


def show_figure(fig: Figure, alt: str, caption: str) -> None:
    """Show a picture with the words that replace it and a caption, then close it.

    Args:
        fig: the picture.
        alt: what someone who cannot see the picture needs to know.
        caption: one sentence, shown below the picture.

    Raises:
        ValueError: `alt` or `caption` is empty.

    Lesson: notebooks/00_start.ipynb

    >>> show_figure(new_figure(2, 1)[0], alt="", caption="An empty picture.")
    Traceback (most recent call last):
    ValueError: alt is empty: write one sentence that stands in for the picture
    """
    from IPython.display import display
    from matplotlib import pyplot

    still = Still(fig, alt, caption)._repr_mimebundle_()
    pyplot.close(fig)
    display(still, raw=True)


def figure_html(fig: Figure, alt: str, caption: str) -> str:
    """Write the picture as an html figure: the image, its alt text, its caption.

    An `<img>` inside html output is the one form that keeps its alt text in
    JupyterLab (trusted or not) and in exported pages.

    Args:
        fig: the picture.
        alt: what someone who cannot see the picture needs to know.
        caption: one sentence.

    Returns:
        The html text.

    Raises:
        ValueError: `alt` or `caption` is empty.

    Lesson: notebooks/00_start.ipynb

    >>> figure_html(new_figure(2, 1)[0], "Nothing yet.", "An empty picture.")[:32]
    '<figure><img alt="Nothing yet." '
    """
    for name, words in {"alt": alt, "caption": caption}.items():
        if not words.strip():
            raise ValueError(
                f"{name} is empty: write one sentence that "
                f"{'stands in for' if name == 'alt' else 'explains'} the picture"
            )
    picture = base64.b64encode(png_bytes(fig)).decode("ascii")
    return (
        f'<figure><img alt="{html.escape(alt)}" '
        f'src="data:image/png;base64,{picture}">'
        f"<figcaption>{html.escape(caption, quote=False)}</figcaption></figure>"
    )


def png_bytes(fig: Figure) -> bytes:
    """Render the picture on white paper; equal pictures give equal bytes.

    Args:
        fig: the picture.

    Returns:
        A PNG file.

    Lesson: notebooks/00_start.ipynb

    >>> png_bytes(new_figure(2, 1)[0])[1:4]
    b'PNG'
    """
    from PIL import Image

    raw, small = io.BytesIO(), io.BytesIO()
    fig.savefig(raw, dpi=DOTS_PER_INCH, facecolor=PAPER, metadata={"Software": None})
    # Line art has few colours: a palette makes the file much smaller.
    Image.open(raw).convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT).save(
        small, format="PNG", optimize=True
    )
    return small.getvalue()


def new_figure(width_inches: float, height_inches: float) -> tuple[Figure, Axes]:
    """Make one pair of axes in the course's style, outside pyplot's global state.

    Args:
        width_inches: at most 9, so that the picture fits a page.
        height_inches: its height.

    Returns:
        The figure and its axes.

    Lesson: notebooks/00_start.ipynb

    >>> fig, axes = new_figure(4, 3)
    >>> tuple(fig.get_size_inches().tolist())
    (4.0, 3.0)
    """
    with matplotlib.rc_context(STYLE):
        fig = Figure(figsize=(width_inches, height_inches), layout="constrained")
        return fig, fig.subplots()


def write(axes: Axes, x: float, y: float, words: str, **style: object) -> None:
    """Write centred words."""
    axes.text(x, y, words, **{"ha": "center", "va": "center"} | style)
