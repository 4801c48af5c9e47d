import * as z from 'zod/mini';

/**
 * Why a step gave no usable transition. `interpret/recover.ts` has one answer for every kind.
 * `message` states the fact for the user.
 */
export const failureSchema = z.object({
  kind: z.enum([
    // The agent's process or its service failed: a retry may help.
    'crashed',
    'overloaded',
    'connection-lost',
    'idle',
    // The machine has no space, memory or open files left, so the step had no effect: a retry may help.
    'not-begun',
    // It ends without help.
    'usage-limit',
    // A retry cannot help.
    'not-logged-in',
    'no-credit',
    'unknown-model',
    'refused',
    // The agent no longer knows the session.
    'session-gone',
    // A hook or a setting of the agent stopped the prompt: the model did not answer.
    'blocked',
    'no-executable',
    // The step ended, but its transition cannot be used.
    'no-transition',
    'several-transitions',
    'bad-transition',
    'forbidden-transition',
    'missing-state',
    'ambiguous-state',
    'broken-state',
    'bad-directory',
    'bad-workflow',
    'bad-worktree',
    'too-many-visits',
    'too-many-forks',
    'too-many-agents',
    'too-deep',
    'script-failed',
    // A command of `ensures` still fails after the last reminder.
    'unmet-check',
    // Too few children of a join can still succeed.
    'join-failed',
    'changed-script',
    // The end of a script was not recorded.
    'lost',
  ]),
  message: z.string(),
  /** For usage-limit: its end, in ms since the epoch, if the agent reported it. */
  resetsAt: z.optional(z.number()),
});

export type Failure = z.infer<typeof failureSchema>;
export type FailureKind = Failure['kind'];
