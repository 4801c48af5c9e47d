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
  /** Names of secrets that the step gets as variables. */
  secrets: z.optional(texts),
});

export type Rights = z.infer<typeof rightsSchema>;

export type Network = NonNullable<Rights['network']>;

/** Something that a step changed or reached. */
export const usedRightSchema = z.object({ right: z.enum(['write', 'network']), what: z.string() });

export type UsedRight = z.infer<typeof usedRightSchema>;

/** Something that the sandbox did not let a step do. Its processes can forge it, so it only informs. */
export const refusalSchema = z.object({
  /** The key that would allow it. */
  right: z.enum(['write', 'hide', 'network']),
  /** A path, or a host with or without a port. */
  what: z.string(),
  /** Whose rights would have to allow it. Empty if no rights can. */
  by: z.optional(z.readonly(z.array(z.enum(['user', 'workflow', 'state'])))),
});

export type Refusal = z.infer<typeof refusalSchema>;

/** The rights of a step: all of its levels together. */
export const stepRightsSchema = z.object({
  /** A path may be changed if every list has it, or a folder above it. Empty: the agent's directory. */
  write: z.readonly(z.array(texts)),
  hide: texts,
  network: z.union([z.literal('all'), texts]),
  /** The names of its secrets; absent if it has none. */
  secrets: z.optional(texts),
  /** What it changes and reaches is recorded. */
  learns: z.optional(z.literal(true)),
});

export type StepRights = z.infer<typeof stepRightsSchema>;
