import * as z from 'zod/mini';

/**
 * A state's file name in its workflow, with its extension. It is always resolved, never a name as
 * written.
 */
export const stateNameSchema = z.string().check(z.minLength(1)).brand<'StateName'>();
export type StateName = z.infer<typeof stateNameSchema>;
