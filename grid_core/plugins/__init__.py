"""Finding plugins, checking what they offer, and choosing among it.

`plugin_manager` is the process's own `PluginManager`, made at its first use; tests make others.
"""

from grid_core.plugins.catalogue import Catalogue, Offer
from grid_core.plugins.discovery import Announcement, announcements
from grid_core.plugins.manager import PluginManager, plugin_manager, register_plugin
from grid_core.plugins.records import PluginRecord, Provider
from grid_core.plugins.selection import Selection

__all__ = [
    "Announcement",
    "Catalogue",
    "Offer",
    "PluginManager",
    "PluginRecord",
    "Provider",
    "Selection",
    "announcements",
    "plugin_manager",
    "register_plugin",
]
