import type {
  Occasion,
  OccasionOutcome,
  OccasionRecord,
  Trigger,
  TriggerKey,
} from '../model/trigger.ts';
import type { OccasionShape, TriggerList } from './trigger-shape.ts';

/** What the application knows about the triggers of a project. */
interface KnownTriggers {
  readonly triggers: readonly {
    readonly key: TriggerKey;
    readonly trigger: Trigger;
    readonly path: string;
    readonly isApproved: boolean;
    readonly upcoming: readonly number[];
    readonly waiting: number;
    readonly last: OccasionRecord | undefined;
  }[];
  readonly occasions: readonly OccasionRecord[];
  readonly problems: readonly string[];
}

export function triggerListForm({ triggers, occasions, problems }: KnownTriggers): TriggerList {
  return {
    triggers: triggers.map(({ key, trigger, path, isApproved, upcoming, waiting, last }) => ({
      ...{ workflow: path, name: key.name, kind: trigger.kind, approved: isApproved },
      ...{ overlap: trigger.overlap, next: upcoming.map(isoTime), waiting },
      last: last ? occasionForm(last) : null,
    })),
    occasions: occasions.map(occasionForm),
    problems,
  };
}

export function occasionForm({ occasion, outcome }: OccasionRecord): OccasionShape {
  const { id, trigger, cause, at, run } = occasion;
  return {
    ...{ id, workflow: trigger.workflow, trigger: trigger.name, kind: cause.kind },
    cause: causeText(occasion),
    replays: (cause.kind === 'webhook' && cause.replays) || null,
    at: isoTime(at),
    outcome: outcome.kind === 'over' ? outcome.how : outcome.kind,
    why: outcome.kind === 'skipped' || outcome.kind === 'refused' ? outcome.why : null,
    times: (outcome.kind === 'skipped' && outcome.times) || 1,
    run: hasRun(outcome) ? run : null,
  };
}

function causeText({ cause }: Occasion): string {
  switch (cause.kind) {
    case 'schedule':
      return isoTime(cause.time);
    case 'webhook':
      return cause.delivery;
    case 'files':
      return cause.path;
  }
}

const hasRun = ({ kind }: OccasionOutcome) => kind === 'started' || kind === 'over';

const isoTime = (ms: number): string => new Date(ms).toISOString();
