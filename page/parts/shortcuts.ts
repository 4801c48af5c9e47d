import { useEffect } from 'preact/hooks';
import { HOME, hashOf, NOTHING, TABS } from '../stores/route.ts';
import { type Tools, useTools } from './tools.ts';

export const SHORTCUTS: readonly { readonly keys: readonly string[]; readonly about: string }[] = [
  { keys: ['/'], about: 'Filter the runs' },
  { keys: ['j', 'k'], about: 'Next or previous run' },
  { keys: ['1', '…', '7'], about: 'Graph, timeline, agents, states, log, steps, changes' },
  { keys: ['w'], about: 'What waits for you' },
  { keys: ['a'], about: 'Answer the first question' },
  { keys: ['n'], about: 'Start a run' },
  { keys: ['+', '-', '0'], about: 'In the graph: zoom, or show everything' },
  { keys: ['←', '→', '↑', '↓'], about: 'Move the graph, or choose a step in the timeline' },
  { keys: ['Ctrl', 'Enter'], about: 'Send the answer' },
  { keys: ['Esc'], about: 'Close the panel' },
  { keys: ['?'], about: 'This list' },
];

export function useShortcuts(): void {
  const tools = useTools();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (tools.dialog.value !== undefined || isTyping(event.target)) return;
      if (acted(tools, event.key)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [tools]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input, textarea, select');
}

function acted(tools: Tools, key: string): boolean {
  const route = tools.route.value;
  const tab = TABS[Number(key) - 1];
  if (tab && route.kind === 'run') {
    tools.go({ ...route, tab });
    return true;
  }
  switch (key) {
    case '?':
      tools.dialog.set({ kind: 'help' });
      return true;
    case 'n':
      tools.go({ kind: 'workflows', chosen: undefined });
      return true;
    case '/':
      return focusOn('#run-filter');
    case 'a':
      return focusOn('.card.ask textarea, .card.permission button.primary');
    case 'w':
      tools.go({ kind: 'waiting' });
      return true;
    case 'j':
      return chooseRun(1);
    case 'k':
      return chooseRun(-1);
    case 'Escape':
      if (route.kind === 'workflows') {
        tools.go(route.chosen === undefined ? HOME : { ...route, chosen: undefined });
        return true;
      }
      if (route.kind !== 'run') return false;
      tools.go(route.chosen.kind === 'nothing' ? HOME : { ...route, chosen: NOTHING });
      return true;
    default:
      return false;
  }
}

function focusOn(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

/** The rows that the filter shows, in their order. */
function chooseRun(by: number): boolean {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>('a.run-row')];
  const at = rows.findIndex((row) => row.ariaCurrent === 'page');
  const row = rows[at < 0 ? 0 : at + by];
  if (row) location.hash = row.hash || hashOf(HOME);
  row?.scrollIntoView({ block: 'nearest' });
  return row !== undefined;
}
