/** What a state may touch: the author says it, and the sandbox of the operating system enforces it. */
import * as z from 'zod/mini';

const texts = z.readonly(z.array(z.string()));

/** What one level says. A key that is absent leaves the level above as it is. */
export const rightsSchema = z.object({
  /** Paths that the step may change, relative to the directory of its agent. */
  write: z.optional(texts),
  /** Paths that the step must not read, beside those that are always hidden. */
  hide: z.optional(texts),
  /** Hosts that the step may reach, beside those that the agent itself needs. */
  network: z.optional(z.union([z.enum(['none', 'all']), texts])),
});

export type Rights = z.infer<typeof rightsSchema>;

export type Network = NonNullable<Rights['network']>;

/** The rights of a step: all of its levels together. */
export interface StepRights {
  /** A path may be changed if every list has it, or a folder above it. Empty: the agent's directory. */
  readonly write: readonly (readonly string[])[];
  readonly hide: readonly string[];
  readonly network: 'all' | readonly string[];
}
