/** The forms of action.yml and of workflow files, as far as our files use them. An unknown key is an error. */
import * as z from 'zod';

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const texts = z.record(z.string(), text);

const shared = {
  name: z.string().optional(),
  id: z.string().optional(),
  if: z.string().optional(),
};
const used = z.strictObject({
  ...shared,
  uses: z.string(),
  with: texts.optional(),
  env: texts.optional(),
  run: z.undefined().optional(),
});
const written = {
  ...shared,
  run: z.string(),
  env: texts.optional(),
  'working-directory': z.string().optional(),
  uses: z.undefined().optional(),
  with: z.undefined().optional(),
};

export type Action = z.infer<typeof actionSchema>;
export const actionSchema = z.strictObject({
  name: z.string(),
  description: z.string().max(125),
  branding: z.strictObject({ icon: z.string(), color: z.string() }),
  inputs: z
    .record(
      z.string(),
      z.strictObject({
        description: z.string(),
        required: z.boolean().optional(),
        default: z.string().optional(),
      }),
    )
    .optional(),
  outputs: z
    .record(z.string(), z.strictObject({ description: z.string(), value: z.string() }))
    .optional(),
  runs: z.strictObject({
    using: z.literal('composite'),
    // In an action, unlike in a workflow, each script has to name its shell.
    steps: z.array(z.union([z.strictObject({ ...written, shell: z.literal('bash') }), used])),
  }),
});

const permissions = z.partialRecord(
  z.enum(['contents', 'issues', 'pull-requests', 'packages', 'id-token', 'attestations']),
  z.enum(['read', 'write', 'none']),
);
const strings = z.union([z.string(), z.array(z.string())]);
const filter = z.nullable(
  z.strictObject({
    types: z.array(z.string()).optional(),
    branches: z.array(z.string()).optional(),
    tags: z.array(z.string()).optional(),
  }),
);
const job = z.strictObject({
  name: z.string().optional(),
  'runs-on': z.string(),
  needs: strings.optional(),
  if: z.string().optional(),
  'timeout-minutes': z.number(),
  permissions: permissions.optional(),
  environment: z.string().optional(),
  outputs: texts.optional(),
  env: texts.optional(),
  container: z.strictObject({ image: z.string(), options: z.string().optional() }).optional(),
  strategy: z
    .strictObject({
      'fail-fast': z.boolean().optional(),
      matrix: z.record(z.string(), z.array(text)),
    })
    .optional(),
  steps: z
    .array(
      z.union([
        z.strictObject({
          ...written,
          shell: z.literal('bash').optional(),
          'continue-on-error': z.boolean().optional(),
        }),
        used.extend({ 'continue-on-error': z.boolean().optional() }),
      ]),
    )
    .min(1),
});

export type WorkflowFile = z.infer<typeof workflowFileSchema>;
export const workflowFileSchema = z.strictObject({
  name: z.string(),
  on: z.strictObject({
    push: filter.optional(),
    pull_request: filter.optional(),
    issues: filter.optional(),
    release: filter.optional(),
    workflow_dispatch: z.nullable(z.strictObject({})).optional(),
    schedule: z.array(z.strictObject({ cron: z.string() })).optional(),
  }),
  permissions: permissions.optional(),
  concurrency: z
    .strictObject({ group: z.string(), 'cancel-in-progress': z.boolean().optional() })
    .optional(),
  jobs: z.record(z.string(), job),
});
