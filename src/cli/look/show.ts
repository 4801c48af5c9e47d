import { existsSync } from 'node:fs';
import { runToSee } from '../../app/find-run.ts';
import { look } from '../../app/look.ts';
import { PlaceReader } from '../../forecast/places.ts';
import { RunHistory } from '../../history/run-history.ts';
import type { Span } from '../../history/span.ts';
import { Steps } from '../../history/steps.ts';
import { wholeForm } from '../../look/run-form.ts';
import { stepRows } from '../../look/step-list.ts';
import type { JournaledEvent } from '../../model/event.ts';
import { doingByAgent } from '../../model/now.ts';
import type { Run } from '../../model/run.ts';
import type { Line } from '../../observe/describe.ts';
import { retelling } from '../../observe/retell.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { Bars } from '../../timeline/bars.ts';
import { timelineOf } from '../../timeline/timeline.ts';
import { agent } from '../../world/agent.ts';
import { noticeText } from '../../world/diagnostic-line.ts';
import type { Here } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';
import { runHeading, type ShownRun, showRun } from './show-run.ts';
import { showSteps } from './show-steps.ts';
import { showTimeline, writeSvg } from './show-timeline.ts';
import { stepNamed } from './step-name.ts';

export interface ShowOptions {
  readonly json?: boolean;
  readonly timeline?: boolean;
  readonly svg?: boolean;
  readonly steps?: boolean;
  readonly follow?: boolean;
  readonly rights?: boolean;
  readonly context?: boolean;
  readonly notes?: boolean;
  readonly files?: boolean;
  readonly file?: string;
  readonly save?: string;
}

export async function show(
  here: Here,
  name: string | undefined,
  stepName: string | undefined,
  { json, timeline, svg, steps, follow, rights, context, notes, files, file, save }: ShowOptions,
): Promise<number> {
  if (stepName !== undefined) {
    if (timeline || svg || steps || rights || notes || files || file !== undefined)
      throw wrongUsage(
        'A step is named, so it has no list and no timeline.',
        'Remove --steps, --rights, --notes, --files, --file, --timeline and --svg.',
      );
    const around = await here();
    const id = await runToSee(around.store, name);
    if (context && follow)
      throw wrongUsage('Both --context and --follow are given.', 'Remove one of them.');
    const key = stepNamed(stepName, id);
    if (context) return (await import('./show-context.ts')).showContext(around, id, key, { json });
    const { showStep } = await import('./show-step.ts');
    return showStep(around, id, key, { json, follow });
  }
  const lists = [files, file, steps, timeline, rights, notes].filter((one) => one !== undefined);
  if ((files || file !== undefined) && lists.length > 1)
    throw wrongUsage('--files or --file is given with another list.', 'Remove one of them.');
  if (save !== undefined && !files && file === undefined)
    throw wrongUsage('--save copies files.', 'Add --files, or name one with --file.');
  if (context) throw wrongUsage('--context needs a step.', 'Name one, such as main:4.');
  if (follow)
    throw wrongUsage('--follow needs a step.', 'Name one, such as main:4, or use raymond watch.');
  if (svg && !timeline)
    throw wrongUsage('--svg draws a timeline.', 'Add --timeline, or omit --svg.');
  if (svg && json) throw wrongUsage('Both --svg and --json are given.', 'Remove one of them.');
  if (steps && timeline)
    throw wrongUsage('Both --steps and --timeline are given.', 'Remove one of them.');
  if ((rights || notes) && (steps || timeline || (rights && notes)))
    throw wrongUsage(
      'Several lists are asked for.',
      'Name one of --rights, --notes, --steps and --timeline.',
    );
  const around = await here();
  const { store, clock, workspace } = around;
  const id = await runToSee(store, name);
  if (notes) return (await import('./show-notes.ts')).showNotes(around, id, { json });
  if (files || file !== undefined)
    return (await import('./show-files.ts')).showFiles(around, id, { file, save, json });
  if (rights) {
    await (await import('./show-rights.ts')).showRights(around, id, stdout, { json });
    return 0;
  }
  const spans: Span[] = [];
  const bars = new Bars();
  const keep = json ? (span: Span) => bars.add(span) : (span: Span) => void spans.push(span);
  const history = new RunHistory(timeline ? keep : undefined);
  const newest = new Newest();
  const places = new PlaceReader();
  const list = new Steps();
  const looked = await look(around, id, (event, before, after) => {
    history.follow(event, after);
    places.follow(event, after);
    if (steps) list.follow(event, after);
    else if (!json && !timeline) newest.add(event, before, after);
  });
  const { found, now, at, notices, saved } = looked;
  const { run } = found;
  const drawn = timeline && !json ? timelineOf(run, history, spans, at) : undefined;
  if (drawn && svg) {
    await writeSvg(drawn);
    return 0;
  }
  // The messages of the run's newest background process.
  const { path } = workspace(id).processLog;
  const log = existsSync(path) ? path : undefined;
  const isOver = run.agents.size === 0;
  // Most runs that are shown are over, and need no forecast.
  const left = isOver
    ? undefined
    : await (await import('../../app/past-runs.ts')).runForecast(store, run, places);
  if (json) {
    const { timeline: drawing, ...form } = wholeForm({ ...looked, history, bars });
    stdout.json(
      {
        ...form,
        ...(timeline && { timeline: drawing }),
        ...(steps && { step_list: stepRows(list.all, history) }),
        log: log ?? null,
        forecast: left ?? null,
      },
      2,
    );
    return 0;
  }
  if (drawn) {
    for (const line of runHeading(found)) stdout.say(line);
    stdout.say('');
    showTimeline(drawn);
    return 0;
  }
  if (steps) {
    for (const line of [...runHeading(found), '']) stdout.say(line);
    for (const line of showSteps(stepRows(list.all, history), clock.now(), stdout.columns()))
      stdout.say(line);
    return 0;
  }
  const doings = doingByAgent(now);
  const lost = notices.map(noticeText);
  const use = history.until(at);
  const shown: ShownRun = { found, history: use, doings, log, left, lost, saved };
  // One by one, because a call accepts a limited number of arguments.
  for (const line of showRun(shown, stdout.columns())) stdout.say(line);
  const { lines, isAll } = newest.lines();
  stdout.say('', isAll ? 'History' : `History, the newest lines (all: raymond logs ${id})`);
  stdout.lines(lines, { indent: '  ' });
  return 0;
}

/** The newest events of a run. Describing all of them would take most of the time. */
class Newest {
  #seen: (readonly [JournaledEvent, Run | undefined, Run])[] = [];
  #count = 0;

  add(...seen: readonly [JournaledEvent, Run | undefined, Run]): void {
    this.#count += 1;
    this.#seen.push(seen);
    // Not every time, because each cut copies the rest.
    if (this.#seen.length > 2 * MOST_EVENTS) this.#seen = this.#seen.slice(-MOST_EVENTS);
  }

  lines(): { readonly lines: readonly Line[]; readonly isAll: boolean } {
    const retell = retelling(agent.alarmsOf);
    const all = this.#seen.flatMap((seen) => retell(...seen));
    const isAll = this.#count === this.#seen.length && all.length <= MOST_LINES;
    return { lines: all.slice(-MOST_LINES), isAll };
  }
}

const MOST_EVENTS = 150;
const MOST_LINES = 25;
