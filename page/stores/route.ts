/** The place in the page, as the fragment of its address. So every place has a link. */
export const TABS = ['graph', 'timeline', 'agents', 'states', 'log', 'steps', 'changes'] as const;
export type Tab = (typeof TABS)[number];

export type Route =
  | { readonly kind: 'runs' }
  /** Everything that waits for a person. */
  | { readonly kind: 'waiting' }
  /** Spend, success and time of all runs. */
  | { readonly kind: 'overview' }
  /** The projects of the user. */
  | { readonly kind: 'projects' }
  /** What starts runs without a person. */
  | { readonly kind: 'triggers' }
  /** Two runs side by side. */
  | { readonly kind: 'compare'; readonly a: string | undefined; readonly b: string | undefined }
  /** The workflows that can be started, and the path of the chosen one. */
  | { readonly kind: 'workflows'; readonly chosen: string | undefined }
  | { readonly kind: 'run'; readonly run: string; readonly tab: Tab; readonly chosen: Chosen };

/** What the panel beside the run shows. */
export type Chosen =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'agent'; readonly agent: string; readonly step: number | undefined }
  | { readonly kind: 'state'; readonly state: string; readonly workflow: string | undefined };

export const NOTHING: Chosen = { kind: 'nothing' };
export const HOME: Route = { kind: 'runs' };

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, runs, run, tab] = path.split('/').map(decoded);
  if (runs === 'waiting') return { kind: 'waiting' };
  if (runs === 'overview' || runs === 'projects' || runs === 'triggers') return { kind: runs };
  if (runs === 'compare') {
    const [a, b] = ['a', 'b'].map((name) => new URLSearchParams(query).get(name) || undefined);
    return { kind: 'compare', a, b };
  }
  if (runs === 'workflows')
    return { kind: 'workflows', chosen: new URLSearchParams(query).get('workflow') || undefined };
  if (runs !== 'runs' || !run) return HOME;
  return {
    kind: 'run',
    run,
    tab: TABS.find((known) => known === tab) ?? 'graph',
    chosen: chosenIn(new URLSearchParams(query)),
  };
}

function chosenIn(query: URLSearchParams): Chosen {
  const [agent, step, state] = ['agent', 'step', 'state'].map((name) => query.get(name));
  if (agent) {
    const number = step && /^[1-9]\d{0,8}$/.test(step) ? Number(step) : undefined;
    return { kind: 'agent', agent, step: number };
  }
  if (state) return { kind: 'state', state, workflow: query.get('workflow') ?? undefined };
  return NOTHING;
}

/** A fragment may be cut or written by hand. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function hashOf(route: Route): string {
  if (route.kind === 'runs') return '#/';
  if (
    route.kind === 'waiting' ||
    route.kind === 'overview' ||
    route.kind === 'projects' ||
    route.kind === 'triggers'
  )
    return `#/${route.kind}`;
  if (route.kind === 'compare') {
    const chosen = Object.entries({ a: route.a, b: route.b }).filter((pair) => pair[1]);
    return `#/compare?${new URLSearchParams(chosen as [string, string][])}`;
  }
  if (route.kind === 'workflows') {
    if (route.chosen === undefined) return '#/workflows';
    return `#/workflows?${new URLSearchParams({ workflow: route.chosen })}`;
  }
  const query = new URLSearchParams(queryOf(route.chosen)).toString();
  const path = `#/runs/${encodeURIComponent(route.run)}/${route.tab}`;
  return query === '' ? path : `${path}?${query}`;
}

function queryOf(chosen: Chosen): Record<string, string> {
  switch (chosen.kind) {
    case 'nothing':
      return {};
    case 'agent':
      return {
        agent: chosen.agent,
        ...(chosen.step === undefined ? {} : { step: String(chosen.step) }),
      };
    case 'state':
      return {
        state: chosen.state,
        ...(chosen.workflow === undefined ? {} : { workflow: chosen.workflow }),
      };
  }
}

export const runHash = (run: string, tab: Tab = 'graph') =>
  hashOf({ kind: 'run', run, tab, chosen: NOTHING });

/** A place in another project. It is another page, so that nothing of this project is left in it. */
export const projectLink = (folder: string, hash = '#/') =>
  `/?${new URLSearchParams({ project: folder })}${hash}`;

/** The project in the query of an address; undefined for the one in which the server was started. */
export const projectIn = (search: string) =>
  new URLSearchParams(search).get('project') || undefined;
