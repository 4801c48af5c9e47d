/** Steps of different kinds have different queues, because they have different limits. */
export type StepKind = 'prompt' | 'script';
