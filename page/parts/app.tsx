import { useRef } from 'preact/hooks';
import { session } from '../lib/session.ts';
import { useStore } from '../lib/store.ts';
import { NOTHING } from '../stores/route.ts';
import { ComparePage } from './compare-page.tsx';
import { ConnectionNotice } from './connection-notice.tsx';
import { Dialogs } from './dialogs.tsx';
import { Home } from './home.tsx';
import { Icon } from './icons.tsx';
import { OverviewPage } from './overview-page.tsx';
import { ProjectsPage } from './projects-page.tsx';
import { RunPage } from './run-page.tsx';
import { RunsPane } from './runs-pane.tsx';
import { useShortcuts } from './shortcuts.ts';
import { Toasts } from './toasts.tsx';
import { useTools } from './tools.ts';
import { TopBar } from './top-bar.tsx';
import { TriggersPage } from './triggers-page.tsx';
import { WorkflowsPage } from './workflows-page.tsx';

export function App() {
  const tools = useTools();
  const route = useStore(tools.route);
  const main = useRef<HTMLElement>(null);
  const own = useStore(session);
  useShortcuts();
  // What the tab has read stays on the screen when its token becomes invalid.
  if (own.kind === 'none' || (own.kind === 'refused' && !own.hasRead)) return <SignedOut />;
  return (
    <div class={`shell ${route.kind === 'runs' ? 'at-runs' : 'at-run'}`}>
      <TopBar onSkip={() => main.current?.focus()} />
      <ConnectionNotice />
      <RunsPane />
      <main class="main" id="main" tabIndex={-1} ref={main}>
        {route.kind === 'run' ? (
          <RunPage key={route.run} route={route} />
        ) : route.kind === 'overview' ? (
          <OverviewPage />
        ) : route.kind === 'projects' ? (
          <ProjectsPage />
        ) : route.kind === 'triggers' ? (
          <TriggersPage />
        ) : route.kind === 'compare' ? (
          <ComparePage a={route.a} b={route.b} />
        ) : route.kind === 'workflows' ? (
          <WorkflowsPage chosen={route.chosen} />
        ) : (
          <Home
            onChoose={(question) =>
              tools.go({
                kind: 'run',
                run: question.run,
                tab: 'agents',
                chosen: { ...NOTHING, kind: 'agent', agent: question.agent, step: undefined },
              })
            }
          />
        )}
      </main>
      <Toasts />
      <Dialogs />
    </div>
  );
}

function SignedOut() {
  const trouble = useStore(useTools().runs.trouble);
  return (
    <main>
      <div class="empty" role="alert">
        <Icon name="plug" />
        <h1>{trouble?.message}</h1>
        <p>{trouble?.remedy}</p>
      </div>
    </main>
  );
}
