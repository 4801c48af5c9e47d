import * as z from 'zod/mini';
import { boundSchema } from '../../bound/bound.ts';
import { text, usd } from '../../look/common.ts';

export const workflowBound = z.object({
  workflow: text,
  budget_usd: z.nullable(usd).check(z.describe('It stops a run at the latest; null: unlimited.')),
  ...boundSchema.shape,
  text: text.check(z.describe('The figures in one sentence.')),
});

export type WorkflowBound = z.infer<typeof workflowBound>;
