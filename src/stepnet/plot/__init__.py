"""Pictures of networks, regions, fits and trade-offs, in the style of scikit-learn's displays.

Every display is made by a class method (``from_estimator``, ``from_tradeoff``), draws itself with ``plot(ax=...)`` and
keeps its ``ax_`` and ``figure_``. Matplotlib is imported when something is drawn.
"""

from stepnet.plot.network import NetworkDisplay
from stepnet.plot.regions import RegionsDisplay
from stepnet.plot.trace import TraceDisplay
from stepnet.plot.tradeoff import TradeoffDisplay

__all__ = ["NetworkDisplay", "RegionsDisplay", "TraceDisplay", "TradeoffDisplay"]
