/** Entry of every page: styles, htmx, the frame's behaviour, and whichever islands the page holds. */
import "../styles/app.css";
import "htmx.org";
import { watchIslands } from "./islands/registry";
import { startLive } from "./live/page";
import { keepTimesCurrent } from "./shell/ago";
import { watchActions } from "./shell/actions";
import { watchDialogs } from "./shell/dialogs";
import { watchMenus } from "./shell/menus";
import { watchPalette } from "./shell/palette";
import { watchSelection } from "./shell/selection";
import { watchTabs } from "./shell/tabs";
import { watchTheme } from "./shell/theme";
import { watchErrors } from "./shell/toasts";

watchTheme();
watchMenus();
watchDialogs();
watchTabs();
watchSelection();
watchActions();
watchPalette();
watchErrors();
keepTimesCurrent();
startLive();
watchIslands();
