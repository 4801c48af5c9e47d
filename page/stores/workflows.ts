/** The workflows of the project that match some words. */
import type { ListedWorkflow } from '../../src/serve/shapes/workflows.ts';

export function matching(
  workflows: readonly ListedWorkflow[],
  words: string,
): readonly ListedWorkflow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return workflows.filter((one) => {
    const text = [one.path, titleOf(one), descriptionOf(one)].join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

export function titleOf(workflow: ListedWorkflow): string {
  if (workflow.problem !== null) return workflow.name;
  return workflow.title ?? workflow.name;
}

export const descriptionOf = (workflow: ListedWorkflow): string =>
  workflow.problem === null ? (workflow.description ?? '') : workflow.problem.message;
