/**
 * What starts a run without a person: a schedule, a webhook or a new file. An occasion is one such event: one
 * time of a schedule, one delivery, or one file. It has at most one run.
 */
import type * as z from 'zod/mini';
import type { causeSchema, outcomeSchema, startedBySchema } from './trigger-schema.ts';

export type Trigger = ScheduleTrigger | WebhookTrigger | FilesTrigger;

/** What happens to an occasion while the run of an earlier occasion of the same trigger is not over. */
export const OVERLAPS = ['skip', 'queue', 'replace'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** What happens to the times of a schedule that passed while nothing kept it. */
export const MISSED = ['once', 'skip', 'all'] as const;
export type Missed = (typeof MISSED)[number];

export interface ScheduleTrigger {
  readonly kind: 'schedule';
  /** The five fields of cron. */
  readonly schedule: string;
  /** A name like Europe/Berlin. Without one, that of the machine. */
  readonly timezone?: string;
  readonly overlap: Overlap;
  readonly missed: Missed;
}

export interface WebhookTrigger {
  readonly kind: 'webhook';
  /** The last part of its address: `/hooks/<name>`. */
  readonly name: string;
  /** The name of the secret that signs deliveries. Absent only if the author allows unsigned ones. */
  readonly secret?: string;
  /** Without one, the headers of a delivery decide. */
  readonly signature?: Signature;
  readonly match: PayloadMatch;
  readonly overlap: Overlap;
}

export const SIGNATURES = ['standard', 'github', 'gitlab'] as const;
export type Signature = (typeof SIGNATURES)[number];

export type JsonScalar = string | number | boolean | null;

/** A path of keys with dots, `*` for every item or key, and the value or values that it may lead to. */
export type PayloadMatch = Readonly<Record<string, JsonScalar | readonly JsonScalar[]>>;

export interface FilesTrigger {
  readonly kind: 'files';
  /** Relative to the project. Only the last part may have `*` and `?`. */
  readonly pattern: string;
  readonly overlap: Overlap;
}

/**
 * Names a trigger within its workflow, for people and in the ledger. A trigger with another schedule, address
 * or pattern is another trigger.
 */
export function triggerName(trigger: Trigger): string {
  switch (trigger.kind) {
    case 'schedule': {
      const { schedule, timezone } = trigger;
      return `schedule ${schedule}${timezone === undefined ? '' : ` ${timezone}`}`;
    }
    case 'webhook':
      return `webhook ${trigger.name}`;
    case 'files':
      return `files ${trigger.pattern}`;
  }
}

/** A trigger among all that a machine or a fleet keeps. */
export interface TriggerKey {
  /** The directory of the project. */
  readonly project: string;
  /** The ref of the workflow. */
  readonly workflow: string;
  /** From `triggerName`. */
  readonly name: string;
}

/** What happened. */
export type OccasionCause = z.infer<typeof causeSchema>;

export interface Occasion {
  /** The same for everyone who sees the same cause of the same trigger. */
  readonly id: string;
  readonly trigger: TriggerKey;
  readonly cause: OccasionCause;
  /** When it was noticed. */
  readonly at: number;
  /** The id of its run, if it gets one. Derived from the id, so a start that is repeated finds the run. */
  readonly run: string;
}

/** What became of an occasion. All kinds except `due` and `started` are final. */
export type OccasionOutcome = z.infer<typeof outcomeSchema>;

export const isOpen = ({ kind }: OccasionOutcome): boolean => kind === 'due' || kind === 'started';

export interface OccasionRecord {
  readonly occasion: Occasion;
  readonly outcome: OccasionOutcome;
}

/** What started a run, as its journal says it. */
export type StartedBy = z.infer<typeof startedBySchema>;

export function startedByOf({ id, trigger, cause }: Occasion): StartedBy {
  return { occasion: id, trigger: trigger.name, cause };
}

/** In the words of `{{trigger}}` and of `raymond show`. */
export function startedByText(startedBy: StartedBy | undefined): string {
  if (!startedBy) return 'a person';
  const { trigger, cause } = startedBy;
  switch (cause.kind) {
    case 'schedule':
      return `${trigger}, due at ${new Date(cause.time).toISOString()}`;
    case 'webhook':
      return `${trigger}, delivery ${cause.delivery}`;
    case 'files':
      return `${trigger}, file ${cause.path}`;
  }
}
