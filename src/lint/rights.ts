/** States that use the network, although their rights give them none. */
import { positionsIn } from '../graph/position.ts';
import { withoutComments } from '../graph/script-text.ts';
import { rightsOf } from '../interpret/rights.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { fault } from './codes.ts';
import { type Lint, prompts, type Rule, scripts, startOf } from './rule.ts';

export const withoutNetwork: Rule = (lint) => {
  const isCutOff = cutOff(lint);
  const inScripts = scripts(lint)
    .filter(({ name }) => isCutOff(name))
    .flatMap(({ name, text, place, interpreter }): readonly Diagnostic[] => {
      const found = COMMAND.exec(withoutComments({ text, interpreter }));
      if (!found) return [];
      const at = positionsIn(text, place)(found.index + (found[1]?.length ?? 0));
      return [fault('no-network', name, at, `${name} runs ${commandIn(found)} ${LACKS}`, ALLOW)];
    });
  const inChecks = prompts(lint)
    .filter(({ name }) => isCutOff(name))
    .flatMap((state) =>
      state.policy.ensures.flatMap(({ run }): readonly Diagnostic[] => {
        const found = COMMAND.exec(run);
        if (!found) return [];
        const fact = `A check of ${state.name} runs ${commandIn(found)} ${LACKS}`;
        return [fault('no-network', state.name, startOf(state), fact, ALLOW)];
      }),
    );
  return [...inScripts, ...inChecks];
};

/** The agent may know better, and the prompt may even forbid the command. */
export const perhapsWithoutNetwork: Rule = (lint) => {
  const isCutOff = cutOff(lint);
  return prompts(lint)
    .filter(({ name }) => isCutOff(name))
    .flatMap(({ name, template, place }): readonly Diagnostic[] => {
      const found = COMMAND.exec(template);
      if (!found) return [];
      const at = positionsIn(template, place)(found.index + (found[1]?.length ?? 0));
      const fact = `${name} names ${commandIn(found)} ${LACKS}`;
      return [fault('perhaps-no-network', name, at, fact, ALLOW)];
    });
};

function cutOff({ workflow }: Lint) {
  return (name: Parameters<typeof rightsOf>[2]) =>
    rightsOf({}, workflow, name)?.network.length === 0;
}

const commandIn = ([, , command = '']: RegExpExecArray) => `"${command.replaceAll(/\s+/g, ' ')}"`;

const LACKS = 'and has no network.';

const ALLOW = {
  remedy: 'Add its hosts to rights.network of the state, like network: [github.com].',
};

/** Commands that do nothing without a network. */
const COMMAND = new RegExp(
  `(^|[\\s;&|(\`"'])(${[
    'git\\s+(?:push|pull|fetch|clone)',
    'gh\\s+(?:pr|issue|release|api|repo|run|workflow)',
    'glab\\s+(?:mr|issue|release|api)',
    '(?:npm|pnpm|yarn)\\s+publish',
    '(?:npm|pnpm)\\s+(?:install|ci)',
    'pip3?\\s+install',
    'cargo\\s+publish',
    'docker\\s+(?:push|pull)',
    '(?:curl|wget|ssh|scp|rsync)\\s',
  ].join('|')})`,
);
