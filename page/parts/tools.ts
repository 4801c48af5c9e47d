/** What every part of the page can use. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { post, type Trouble } from '../lib/api.ts';
import type { Store } from '../lib/store.ts';
import type { AskedRewind } from '../stores/rewind.ts';
import type { Route } from '../stores/route.ts';
import type { RunsWatch } from '../stores/runs-watch.ts';

export interface Tools {
  readonly route: Store<Route>;
  readonly go: (route: Route) => void;
  readonly runs: RunsWatch;
  readonly toasts: Store<readonly Toast[]>;
  /** What the server has said about acts, by run. It stays until somebody closes it. */
  readonly warnings: Store<ReadonlyMap<string, readonly string[]>>;
  readonly dialog: Store<Dialog | undefined>;
}

export interface Toast {
  readonly tone: 'fail' | 'done';
  /** It is shown beside this run, and where no run is shown. */
  readonly run: string;
  readonly message: string;
  readonly remedy: string;
}

export type Dialog =
  | { readonly kind: 'help' }
  | { readonly kind: 'resume'; readonly run: string }
  | { readonly kind: 'rerun'; readonly run: string }
  | { readonly kind: 'prune'; readonly runs: readonly string[] }
  | { readonly kind: 'rewind'; readonly run: string; readonly rewind: AskedRewind };

export const ToolsContext = createContext<Tools | undefined>(undefined);

export function useTools(): Tools {
  const tools = useContext(ToolsContext);
  if (!tools) throw new Error('The page has no tools.');
  return tools;
}

/** Lets the server do something with a run. Its warnings appear on the page of the run. */
export async function act<T extends { readonly id: string }>(
  { warnings }: Tools,
  run: string,
  what: string,
  body: object,
): Promise<T> {
  const path = `/api/runs${run && `/${encodeURIComponent(run)}`}${what}`;
  const answer = await post<T & { readonly warnings?: readonly string[] }>(path, body);
  const told = new Set(answer.warnings);
  if (told.size > 0) warnings.set(new Map([...warnings.value, [answer.id, [...told]]]));
  return answer;
}

function addToast({ toasts }: Tools, toast: Toast): void {
  const next = [...toasts.value.slice(-2), toast];
  toasts.set(next);
  if (toast.tone === 'done')
    setTimeout(() => toasts.set(toasts.value.filter((one) => one !== toast)), 6_000);
}

export const addDone = (tools: Tools, run: string, message: string, remedy = '') =>
  addToast(tools, { tone: 'done', run, message, remedy });

/** After an answer or a decision was stored. */
export const WITHOUT_PROCESS = 'No process works on the run. Resume it, and the agent gets it.';

export const addTrouble = (tools: Tools, { message, remedy }: Trouble, run: string) =>
  addToast(tools, { tone: 'fail', run, message, remedy });
