/** The page of `raymond serve`. It shows texts of others everywhere, and none of them becomes markup. */
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/run.css';
import './style/graph.css';
import './style/timeline.css';
import './style/panel.css';
import './style/workflows.css';
import './style/changes.css';
import './style/operator.css';
import './style/overview.css';
import { render } from 'preact';
import { askAbout } from './lib/api.ts';
import { openOwnTabs } from './lib/own-tabs.ts';
import { holdStoredToken, holdToken, tokenIn } from './lib/session.ts';
import { Store } from './lib/store.ts';
import { App } from './parts/app.tsx';
import { type Dialog, type Toast, type Tools, ToolsContext } from './parts/tools.ts';
import { startCalling } from './stores/calls.ts';
import { HOME, hashOf, projectIn, routeOf } from './stores/route.ts';
import { RunsWatch } from './stores/runs-watch.ts';

/** Moves the token from the address to the tab, so that neither the history nor a copied link has it. */
function takeToken(place: string): void {
  const found = tokenIn(location.hash);
  if (!found) return;
  history.replaceState(null, '', found.to ?? place);
  holdToken(found.token);
}

askAbout(projectIn(location.search));
holdStoredToken();
takeToken(hashOf(HOME));
openOwnTabs();

const route = new Store(routeOf(location.hash));
addEventListener('hashchange', ({ oldURL }) => {
  // A person may open a printed address in a tab that shows the page. It stays at its place.
  takeToken(new URL(oldURL).hash || hashOf(HOME));
  route.set(routeOf(location.hash));
});

const tools: Tools = {
  route,
  go: (next) => {
    location.hash = hashOf(next);
  },
  runs: new RunsWatch(),
  toasts: new Store<readonly Toast[]>([]),
  warnings: new Store<ReadonlyMap<string, readonly string[]>>(new Map()),
  dialog: new Store<Dialog | undefined>(undefined),
};

const root = document.querySelector('#app');
if (root)
  render(
    <ToolsContext.Provider value={tools}>
      <App />
    </ToolsContext.Provider>,
    root,
  );
startCalling(tools.runs, route);
tools.runs.start();
