/** The page of `raymond serve`. It shows texts of others everywhere, and none of them becomes markup. */
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/run.css';
import './style/graph.css';
import './style/timeline.css';
import './style/panel.css';
import './style/workflows.css';
import { render } from 'preact';
import { signIn } from './lib/sign-in.ts';
import { Store } from './lib/store.ts';
import { App } from './parts/app.tsx';
import { type Dialog, type Toast, type Tools, ToolsContext } from './parts/tools.ts';
import { hashOf, routeOf } from './stores/route.ts';
import { RunsWatch } from './stores/runs-watch.ts';

const replace = (hash: string) => history.replaceState(null, '', hash);
await signIn({ hash: location.hash, replace });

const route = new Store(routeOf(location.hash));
addEventListener('hashchange', async () => {
  // A person may open a printed link in a tab that shows the page.
  await signIn({ hash: location.hash, replace });
  route.set(routeOf(location.hash));
});

const tools: Tools = {
  route,
  go: (next) => {
    location.hash = hashOf(next);
  },
  runs: new RunsWatch(),
  toasts: new Store<readonly Toast[]>([]),
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
tools.runs.start();
