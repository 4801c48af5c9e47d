import * as z from 'zod/mini';

/** A workflow that an agent wants to create or change. Only a person can let it into the project. */
export const proposalSchema = z.object({
  /** The root of the project. */
  project: z.string(),
  /** The folder of the workflow, relative to the root, with slashes. */
  folder: z.string(),
  /** The reason that the agent gives. */
  why: z.string(),
  files: z.readonly(
    z.array(
      z.object({
        name: z.string(),
        content: z.string(),
        /** The sha256 of the file that it replaces; null for a new file. */
        replaces: z.nullable(z.string()),
      }),
    ),
  ),
});

export type Proposal = z.infer<typeof proposalSchema>;

export interface KeptProposal extends Proposal {
  /** Ends in the hash of everything else, so that a person accepts what they have seen. */
  readonly id: string;
  readonly at: number;
}

/** Proposals come from agents, and a person has to read them. */
export const MOST_PROPOSED = {
  proposals: 20,
  files: 50,
  fileBytes: 128 * 1024,
  bytes: 512 * 1024,
  whyLength: 1_000,
} as const;
