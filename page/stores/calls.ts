/** What calls a person to a page that nobody looks at: the title, the icon, notifications and a sound. */
import type { ProjectRow } from '../../src/serve/shapes/changes.ts';
import { Store } from '../lib/store.ts';
import { oneLine, visible } from '../lib/words.ts';
import { projectLink, type Route, runHash } from './route.ts';
import type { RunsWatch, Want } from './runs-watch.ts';

export interface Calls {
  /** Undefined until the person has decided. */
  readonly notify: boolean | undefined;
  readonly sound: boolean;
}

// Before `stored` is called.
const KEY = 'raymond-calls';

export const calls = new Store<Calls>(stored());

export function setCalls(next: Calls): void {
  calls.set(next);
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // A browser may forbid it. Then the choice lasts as long as the page.
  }
}

function stored(): Calls {
  try {
    const { notify, sound } = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return { notify: typeof notify === 'boolean' ? notify : undefined, sound: sound === true };
  } catch {
    return { notify: undefined, sound: false };
  }
}

/** Asks the browser. It shows its question only once, and only after an act of the person. */
export async function allowNotifications(): Promise<boolean> {
  if (!('Notification' in window)) return false;
  const isAllowed = (await Notification.requestPermission()) === 'granted';
  setCalls({ ...calls.value, notify: isAllowed });
  return isAllowed;
}

export const canNotify = () => 'Notification' in window && Notification.permission !== 'denied';

export function titleOf(route: Route, project: string, open: number): string {
  const count = open > 0 ? `(${open}) ` : '';
  const place = route.kind === 'run' ? [visible(route.run)] : [];
  return `${count}${[...place, project, 'Raymond'].filter(Boolean).join(' · ')}`;
}

/** Keeps title and icon up to date, and calls for what is new. */
export function startCalling(runs: RunsWatch, route: Store<Route>): void {
  let known: ReadonlySet<string> | undefined;
  let before: ReadonlyMap<string, number> | undefined;
  const show = () => {
    const open = runs.wants.value.filter(({ answered }) => !answered);
    const count = open.length + waitingElsewhere(runs);
    document.title = titleOf(route.value, visible(runs.project.value?.name ?? ''), count);
    showIcon(count);
  };
  /** Of another project, the page knows only how much waits there. */
  const lookElsewhere = () => {
    show();
    const now = new Map(othersOf(runs).map(({ folder, waiting }) => [folder, waiting]));
    const more = othersOf(runs).filter(
      ({ folder, waiting }) => before && waiting > (before.get(folder) ?? 0),
    );
    before = runs.projects.value && now;
    if (more.length > 0 && !document.hasFocus()) callTo(more);
  };
  const look = () => {
    show();
    if (runs.runs.value === undefined) return;
    const open = runs.wants.value.filter(({ answered }) => !answered);
    const fresh = known ? open.filter((want) => !known?.has(keyOf(want))) : [];
    known = new Set(open.map(keyOf));
    if (fresh.length > 0 && !document.hasFocus()) call(fresh, runs.project.value?.name ?? '');
  };
  runs.wants.subscribe(look);
  runs.runs.subscribe(look);
  runs.project.subscribe(show);
  runs.projects.subscribe(lookElsewhere);
  route.subscribe(show);
  show();
}

/** The projects that the page does not show. */
export function othersOf({ projects, project }: RunsWatch): readonly ProjectRow[] {
  const own = project.value?.folder;
  return own === undefined ? [] : (projects.value ?? []).filter(({ folder }) => folder !== own);
}

export const waitingElsewhere = (runs: RunsWatch) =>
  othersOf(runs).reduce((sum, { waiting }) => sum + waiting, 0);

function callTo(projects: readonly ProjectRow[]): void {
  const { notify, sound } = calls.value;
  if (sound) beep();
  const [first] = projects;
  if (!first || !notify || Notification.permission !== 'granted') return;
  const note = new Notification(`${visible(first.name)}: ${first.waiting} wait for you`, {
    body: visible(first.folder),
    tag: `raymond ${first.folder} ${first.waiting}`,
    icon: '/page/icon.svg',
  });
  note.onclick = () => {
    window.focus();
    location.assign(projectLink(first.folder, '#/waiting'));
    note.close();
  };
}

export const keyOf = (one: Want) =>
  `${one.run} ${one.agent} ${one.kind === 'permission' ? one.request : one.asked_at}`;

function call(fresh: readonly Want[], project: string): void {
  const { notify, sound } = calls.value;
  if (sound) beep();
  const [first] = fresh;
  if (!first || !notify || Notification.permission !== 'granted') return;
  const more = fresh.length > 1 ? ` (and ${fresh.length - 1} more)` : '';
  const note = new Notification(`${visible(project)}: ${visible(first.run)} waits for you${more}`, {
    body: oneLine(first.kind === 'permission' ? `${first.tool} ${first.summary}` : first.question),
    // Several tabs show one.
    tag: `raymond ${keyOf(first)}`,
    icon: '/page/icon.svg',
  });
  note.onclick = () => {
    window.focus();
    location.hash = runHash(first.run);
    note.close();
  };
}

/** Two short tones. A file would be one more to load. */
function beep(): void {
  const audio = new AudioContext();
  const gain = audio.createGain();
  gain.gain.value = 0.08;
  gain.connect(audio.destination);
  for (const [at, pitch] of [660, 880].entries()) {
    const tone = audio.createOscillator();
    tone.frequency.value = pitch;
    tone.connect(gain);
    tone.start(audio.currentTime + at * 0.16);
    tone.stop(audio.currentTime + at * 0.16 + 0.12);
  }
  setTimeout(() => void audio.close(), 1_000);
}

/** The icon with the number in a badge. */
export function iconOf(count: number): string {
  if (count === 0) return '/page/icon.svg';
  const text = count > 9 ? '9+' : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3c50d6"/><circle cx="20" cy="20" r="12" fill="#d8443b"/><text x="20" y="25.5" font-family="system-ui,sans-serif" font-size="${count > 9 ? 13 : 16}" font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function showIcon(count: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  const icon = iconOf(count);
  if (link && link.getAttribute('href') !== icon) link.setAttribute('href', icon);
}
