import { useState } from 'preact/hooks';
import { useStore } from '../lib/store.ts';
import { counted, visible } from '../lib/words.ts';
import { waitingElsewhere } from '../stores/calls.ts';
import { nextTheme, storedTheme, useTheme } from '../stores/theme.ts';
import { CallsMenu } from './calls-menu.tsx';
import { Icon } from './icons.tsx';
import { useTools } from './tools.ts';

export function TopBar({ onSkip }: { readonly onSkip: () => void }) {
  const tools = useTools();
  const wants = useStore(tools.runs.wants);
  const project = useStore(tools.runs.project);
  // It changes with the projects.
  useStore(tools.runs.projects);
  const elsewhere = waitingElsewhere(tools.runs);
  const [theme, setTheme] = useState(storedTheme);
  useTheme(theme);
  const open = wants.filter(({ answered }) => !answered);
  return (
    <header class="top">
      <button type="button" class="visually-hidden" onClick={onSkip}>
        Skip to the run
      </button>
      <a class="brand" href="#/" aria-label="Raymond: all runs">
        <img src="/page/icon.svg" alt="" width="24" height="24" />
        <span class="word">Raymond</span>
      </a>
      {project && (
        <a class="project clip" href="#/projects" title={visible(project.folder)}>
          <span class="clip">{visible(project.name)}</span>
          {elsewhere > 0 && (
            <b class="elsewhere tone-wait">
              +{elsewhere}
              <span class="visually-hidden"> waiting for you in other projects</span>
            </b>
          )}
          <Icon name="down" />
          <span class="visually-hidden">All projects</span>
        </a>
      )}
      <span class="grow" />
      {open.length > 0 && (
        <a class="button asks tone-wait" href="#/waiting">
          <Icon name="chat" />
          {open.length}
          <span class="wide"> waiting for you</span>
          <span class="visually-hidden">{counted(open.length, 'question')}</span>
        </a>
      )}
      <a class="button quiet only-icon" href="#/overview" aria-label="Overview" title="Overview">
        <Icon name="chart" />
      </a>
      <a class="button quiet only-icon" href="#/triggers" aria-label="Triggers" title="Triggers">
        <Icon name="clock" />
      </a>
      <a class="button primary" href="#/workflows" aria-label="Start a run">
        <Icon name="plus" />
        <span class="wide">Start a run</span>
      </a>
      <CallsMenu />
      <button
        type="button"
        class="button quiet only-icon"
        aria-label={`Colours: ${theme}. Change to ${nextTheme(theme)}`}
        title={`Colours: ${theme}`}
        onClick={() => setTheme(nextTheme(theme))}
      >
        <Icon name={theme === 'light' ? 'sun' : theme === 'dark' ? 'moon' : 'system'} />
      </button>
      <button
        type="button"
        class="button quiet only-icon wide"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => tools.dialog.set({ kind: 'help' })}
      >
        <Icon name="help" />
      </button>
    </header>
  );
}
