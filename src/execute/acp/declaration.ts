/** Declares what an agent that speaks the Agent Client Protocol can do. */
import type { AgentDeclaration, Choices, ProjectSettings } from '../../model/agent.ts';
import type { ConfiguredAgent } from '../../model/configured-agent.ts';
import {
  mayEdit,
  readChoices,
  refusesTools,
  SHARED_CHOICES,
  sharedRules,
} from '../agents/agent-choices.ts';
import { KNOWN_ACP, type KnownAgent } from './known.ts';

type AcpAgent = Pick<KnownAgent, 'branch'> &
  Partial<KnownAgent> &
  Pick<ConfiguredAgent, 'hosts'> & { readonly name: string };

export function acpAgent(agent: AcpAgent): AgentDeclaration {
  const {
    name,
    branch,
    adopt = false,
    cost = 'tokens',
    context = false,
    permissions,
    provider,
    needs,
    hosts,
  } = agent;
  const { permissionMode, ...others } = SHARED_CHOICES;
  const asks = permissions !== undefined;
  return {
    name,
    ...(provider !== undefined && { provider }),
    can: {
      branch,
      adopt,
      cost,
      context,
      budget: false,
      permissions: asks,
      ask: asks,
      travel: false,
      rights: needs !== undefined || hosts !== undefined,
    },
    choices: [...Object.values(others), ...(asks ? [permissionMode] : [])],
    projectSettings: projectSettingsOf(agent),
    faults: {},
    ...sharedRules(name),
    refusal: (choices) => refusesTools(choices) ?? (asks ? undefined : refusesModes(name, choices)),
  };
}

/** Raymond cannot make an unknown agent ask, so it must not promise that nothing is changed. */
function refusesModes(name: string, choices: Choices): string | undefined {
  const read = readChoices(name, choices);
  return read.skipPermissions || mayEdit(read)
    ? undefined
    : `cannot follow --permission-mode ${read.permissionMode}`;
}

/** What an unknown agent loads is unknown. So it may load what the others do. */
export function projectSettingsOf({
  projectSettings,
}: Pick<AcpAgent, 'projectSettings'>): ProjectSettings {
  if (projectSettings) return projectSettings;
  const names = Object.values(KNOWN_ACP).flatMap((known) => known.projectSettings.names);
  return { names: [...new Set(names)], skips: [] };
}
