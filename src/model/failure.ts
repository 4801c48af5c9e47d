import * as z from 'zod/mini';

/**
 * Why a step gave no usable transition. Every kind has one answer, in `interpret/recover.ts`.
 * `message` states the fact for the person who reads it.
 */
export const failureSchema = z.object({
  kind: z.enum([
    // The agent's process or its service let us down: worth another try.
    'crashed',
    'overloaded',
    'connection-lost',
    'idle',
    // Passes by itself.
    'usage-limit',
    // Repeating cannot cure these.
    'not-logged-in',
    'no-credit',
    'unknown-model',
    'refused',
    // The agent does not know the conversation any more.
    'session-gone',
    // A hook or a setting of the agent stopped the prompt: the model did not answer.
    'blocked',
    'no-executable',
    // The step ended, but its transition is of no use.
    'no-transition',
    'several-transitions',
    'bad-transition',
    'forbidden-transition',
    'missing-state',
    'ambiguous-state',
    'broken-state',
    'bad-directory',
    'bad-workflow',
    'too-many-visits',
    'too-many-forks',
    'too-many-agents',
    'too-deep',
    'script-failed',
    'changed-script',
    // Nobody saw how a script ended.
    'lost',
  ]),
  message: z.string(),
  /** usage-limit: when it ends, in ms since the epoch, if the agent said so. */
  resetsAt: z.optional(z.number()),
});

export type Failure = z.infer<typeof failureSchema>;
export type FailureKind = Failure['kind'];
