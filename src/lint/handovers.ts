/** Faults of handovers: their prompts, their limits, and the states that receive them. */
import { positionsIn } from '../graph/position.ts';
import { handoverFor } from '../interpret/handover.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { ContextLimit, NamedState, Position, PromptState } from '../model/workflow.ts';
import { agentNamed, agentsOf } from '../parse/chosen-agent.ts';
import { MANIFEST } from '../parse/manifest.ts';
import { resolveState } from '../parse/resolve.ts';
import { fault } from './codes.ts';
import { limitedHints } from './hints.ts';
import { unresolved } from './names.ts';
import { allWays, type Lint, prompts } from './rule.ts';

/** A handover must be asked for with a prompt that exists. */
export function badHandovers(lint: Lint): readonly Diagnostic[] {
  const hint = limitedHints();
  const { workflow } = lint;
  return named(lint).flatMap(({ file, handover }) => {
    const resolution = resolveState(workflow, handover.name);
    if (!('found' in resolution)) {
      const written = { written: handover.name, resolution };
      return unresolved(file, handover, written, hint, 'The prompt of this handover');
    }
    if (workflow.states.get(resolution.found)?.kind === 'prompt') return [];
    const message = `${resolution.found} is not a prompt, so it cannot ask for a handover.`;
    return fault('bad-handover', file, handover, message, { remedy: 'Name a prompt.' });
  });
}

/** The handovers that front matter and the head of the workflow name, with the file of each. */
function named(lint: Lint): readonly { file: string; handover: NamedState }[] {
  const { handover } = lint.workflow.about;
  const own = prompts(lint).flatMap(({ name, policy }) =>
    policy.handover ? [{ file: name, handover: policy.handover }] : [],
  );
  return handover ? [{ file: headFile(lint), handover }, ...own] : own;
}

/** The file that says something about the whole workflow. */
function headFile({ states }: Lint): string {
  const [first] = states.flatMap((state) => (state.kind === 'broken' ? [] : state));
  return first && first.place.file !== first.name ? first.place.file : MANIFEST;
}

/** A prompt for a handover that its state never asks for. */
export function unusedHandovers(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap((state) => {
    const { handover } = state.policy;
    const ways = lint.ways.get(state.name) ?? [];
    if (!handover || ways.some(({ tag }) => tag === 'compact') || limitOf(lint, state)) return [];
    const message = `${state.name} never asks for a handover: it has no compact, and no limit of its context.`;
    const remedy = 'Remove handover, or add a compact or a context limit.';
    return fault('unused-key', state.name, handover, message, { remedy });
  });
}

const limitOf = ({ workflow }: Lint, { policy }: PromptState): ContextLimit | undefined =>
  policy.context ?? workflow.about.context;

/** Limits for an agent that does not report the size of its sessions. */
export function unknownContexts(lint: Lint): readonly Diagnostic[] {
  const { workflow } = lint;
  const ofAll = new Set<string>();
  return prompts(lint).flatMap((state) => {
    const agent = agentsOf(workflow, state).find(
      (name) => agentNamed(workflow.agents, name)?.can.context === false,
    );
    const limit = limitOf(lint, state);
    if (!limit || agent === undefined) return [];
    const isOwn = state.policy.context !== undefined;
    if (!isOwn && ofAll.has(agent)) return [];
    if (!isOwn) ofAll.add(agent);
    const message = `The agent ${agent} of ${state.name} does not report the size of a session, so the limit of the context has no effect.`;
    const remedy = 'Write <compact> where the session should end, or choose another agent.';
    return fault('unknown-context', isOwn ? state.name : headFile(lint), limit, message, {
      remedy,
    });
  });
}

/** Prompts with a place for a handover, although none can arrive. */
export function emptyHandovers(lint: Lint): readonly Diagnostic[] {
  const receiving = receivers(lint);
  if (receiving === 'any') return [];
  const asking = new Set(lint.states.flatMap((state) => handoverFor(lint.workflow, state) ?? []));
  return prompts(lint).flatMap((state) => {
    const at = state.template.indexOf('{{handover}}');
    if (at < 0 || receiving.has(state.name) || asking.has(state.name)) return [];
    const where: Position = positionsIn(state.template, state.place)(at);
    const message = `${state.name} uses {{handover}}, but no compact leads to it.`;
    const remedy = 'Enter the state with <compact>, or remove the placeholder.';
    return fault('empty-handover', state.name, where, message, { remedy });
  });
}

/** The states that a handover can reach. A script passes it on to the prompt that follows. */
function receivers(lint: Lint): ReadonlySet<StateName> | 'any' {
  const reached = new Set<StateName>();
  const open: StateName[] = [];
  const enter = (name: StateName) => {
    if (reached.has(name)) return;
    reached.add(name);
    if (lint.workflow.states.get(name)?.kind !== 'prompt') open.push(name);
  };
  for (const { state, way } of allWays(lint)) {
    const from = lint.workflow.states.get(state);
    const limit = from?.kind === 'prompt' ? limitOf(lint, from) : lint.workflow.about.context;
    const isHandedOver = way.tag === 'compact' || (limit && way.tag === 'goto');
    if (!isHandedOver) continue;
    for (const reference of way.references) {
      if (reference.kind === 'open') return 'any';
      if (reference.kind === 'state') enter(reference.state);
    }
  }
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const { references } of lint.ways.get(name) ?? []) {
      for (const reference of references) {
        if (reference.kind === 'open') return 'any';
        if (reference.kind === 'state') enter(reference.state);
      }
    }
  }
  return reached;
}
