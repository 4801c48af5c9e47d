/** Secrets that a state cannot use, or that others can read. */
import { positionsIn } from '../graph/position.ts';
import { namedSecrets, rightsOf } from '../interpret/rights.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { limitsOf } from '../parse/limits.ts';
import { fault } from './codes.ts';
import { prompts, type Rule, startOf } from './rule.ts';

export const secretsInPrompts: Rule = (lint) => {
  const secrets = namedSecrets(lint.workflow);
  return prompts(lint).flatMap(({ name, template, place }) =>
    secrets.flatMap((secret): readonly Diagnostic[] => {
      const found = template.indexOf(`{{${secret}}}`);
      if (found < 0) return [];
      const at = positionsIn(template, place)(found);
      const fact = `${name} has {{${secret}}}, and no prompt ever contains a secret.`;
      return [fault('secret-in-prompt', name, at, fact, { remedy: `Write $${secret}: ${USE}` })];
    }),
  );
};

const USE = 'commands of the agent have it as a variable, if the state names it in rights.secrets.';

export const uselessSecrets: Rule = ({ workflow, states }) =>
  states.flatMap((state): readonly Diagnostic[] => {
    const { name } = state;
    const rights = rightsOf({}, workflow, name);
    const own = limitsOf(state).rights?.secrets ?? [];
    const lost = own.filter((secret) => !rights?.secrets?.includes(secret));
    const at = startOf(state);
    if (lost.length > 0) {
      const fact = `${name} names ${lost.join(', ')}, and the rights of the workflow do not.`;
      const remedy = 'Add it to rights.secrets of the workflow, or remove that key.';
      return [fault('secret-nowhere', name, at, fact, { remedy })];
    }
    if (!rights?.secrets || rights.network.length > 0) return [];
    const fact = `${name} has secrets and no hosts, so it sees their values, and can use them only on this machine.`;
    const remedy = 'Name the hosts in rights.network, like network: [api.github.com].';
    return [fault('secret-without-hosts', name, at, fact, { remedy })];
  });

/** A process without rights can read everything that the user can read, the secrets included. */
export const exposedSecrets: Rule = ({ workflow, states }) => {
  if (namedSecrets(workflow).length === 0) return [];
  return states
    .filter((state) => state.kind !== 'broken' && !rightsOf({}, workflow, state.name))
    .map((state) => {
      const fact = `${state.name} has no rights, so it can read the secrets of other states from your files.`;
      const remedy = 'Add rights: {} to workflow.yaml, which confines all states.';
      return fault('exposed-secrets', state.name, startOf(state), fact, { remedy });
    });
};
