// Everything that Raymond sends to Claude Code: its arguments, its environment and the lines on its
// standard input. All turns use stream-json input, warm or not: only with it, a leading slash and
// "@file" in a prompt stay text.
import { randomUUID } from 'node:crypto';
import type { LaunchedProcess } from '../process/index.ts';
import { type AgentOptions, deniedAgain, withRules } from './agent-options.ts';
import type { ClaudeStep } from './choices.ts';
import { settingsOf } from './tools.ts';

type OfStep = 'effort' | 'budgetUsd' | 'allowedTools' | 'disallowedTools' | 'taskFolder';

export interface Turn
  extends Partial<
    Pick<ClaudeStep, OfStep | 'asksPermissions' | 'granted' | 'skipsProject' | 'writes'>
  > {
  readonly session: TurnSession;
  readonly model?: string | undefined;
  readonly permission: Permission;
  /** Rules like `Edit(//folder)`. */
  readonly deny?: readonly string[];
  /** Options for all turns of a run. */
  readonly options?: AgentOptions | undefined;
}

export type TurnSession =
  | { readonly use: 'fresh'; readonly id: string }
  | ({ readonly use: 'continue'; readonly id: string } & Resumption)
  | ({ readonly use: 'branch'; readonly from: string; readonly id: string } & Resumption);

interface Resumption {
  /** Old versions find a session by its id only in the directory in which it began. */
  readonly transcript?: string;
  /** The uuid of the transcript's line after which the history is cut off. */
  readonly at?: string;
}

export type Permission = { readonly mode: string } | 'skip';

export function claudeArguments(turn: Turn): string[] {
  const { options: more = {} } = turn;
  return [
    '-p',
    ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    ...sessionArguments(turn.session),
    ...option('--model', turn.model),
    ...option('--effort', turn.effort),
    ...permissionArguments(turn.permission),
    ...(turn.asksPermissions ? ['--permission-prompt-tool', 'stdio'] : []),
    ...option('--max-budget-usd', budget(turn.budgetUsd)),
    // Shows activity during a long answer, and the usage of a turn that is stopped early.
    '--include-partial-messages',
    // Shows when the model gets the words of a person.
    '--replay-user-messages',
    ...(turn.writes?.kind === 'fill' ? alone(more) : inProject(turn, more)),
  ];
}

/**
 * The model sees its prompt and nothing of the user or the project. Login, settings and limits of the
 * user's organisation still apply.
 */
function alone({ settings }: AgentOptions): readonly string[] {
  return [
    '--safe-mode',
    ...['--tools', ''],
    ...['--system-prompt', 'You fill placeholders of a prompt for another agent.'],
    ...(settings === undefined ? [] : ['--settings', JSON.stringify(settings)]),
  ];
}

function inProject(turn: Turn, more: AgentOptions): readonly string[] {
  const { granted = [] } = turn;
  return [
    ...(turn.skipsProject ? onlyOfUser(more) : []),
    ...(more.agentArgs ?? []),
    ...inOneWord('--append-system-prompt', more.appendSystemPrompt),
    ...option('--settings', settingsFor(more, turn.deny ?? [], granted)),
    // Each of these accepts all values up to the next option.
    ...options('--mcp-config', more.mcpConfig ?? []),
    ...options('--add-dir', [...(more.addDir ?? []), ...own(turn.taskFolder)]),
    ...options('--allowedTools', turn.allowedTools ?? []),
    ...options('--disallowedTools', [
      ...schedulingTools,
      ...(turn.disallowedTools ?? []),
      ...(more.settings || granted.length > 0
        ? deniedAgain(more.settings ?? {}, turn.deny ?? [])
        : []),
    ]),
  ];
}

/**
 * Makes Claude Code report the model that it would use. It answers the question itself, without a
 * model. Hooks and MCP servers are for real turns, so they are disabled. No transcript is kept.
 */
export function ownModelArguments(
  { settings, agentArgs = [] }: AgentOptions,
  skipsProject: boolean,
): readonly string[] {
  return [
    ...['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    '--no-session-persistence',
    ...(skipsProject ? onlyOfUser({ agentArgs }) : []),
    ...agentArgs,
    ...(agentArgs.includes('--strict-mcp-config') ? [] : ['--strict-mcp-config']),
    ...['--settings', JSON.stringify({ ...settings, disableAllHooks: true })],
  ];
}

export const OWN_MODEL_QUESTION = line({
  type: 'user',
  message: { role: 'user', content: '/cost' },
});

/** Without the settings of the project, unless the user has named the kinds of settings. */
function onlyOfUser({ agentArgs = [] }: AgentOptions): readonly string[] {
  const isNamed = agentArgs.some((arg) => arg.startsWith('--setting-sources'));
  return isNamed ? [] : ['--setting-sources', 'user'];
}

// Their work would continue after the turn, outside of the workflow.
const schedulingTools = ['Workflow', 'ScheduleWakeup', 'CronCreate', 'CronDelete', 'CronList'];

function sessionArguments(session: TurnSession): string[] {
  switch (session.use) {
    case 'fresh':
      return ['--session-id', session.id];
    case 'continue':
      return resumption(session.id, session);
    case 'branch':
      return [...resumption(session.from, session), '--fork-session', '--session-id', session.id];
  }
}

function resumption(id: string, { transcript, at }: Resumption): string[] {
  return ['--resume', transcript ?? id, ...option('--resume-session-at', at)];
}

function permissionArguments(permission: Permission): string[] {
  if (permission === 'skip') return ['--dangerously-skip-permissions'];
  return ['--permission-mode', permission.mode];
}

/** Rules are part of the settings: in an argument, commas and spaces would separate them. */
function settingsFor(
  { settings }: AgentOptions,
  deny: readonly string[],
  granted: readonly string[],
): string | undefined {
  if (settings === undefined && deny.length + granted.length === 0) return undefined;
  return JSON.stringify(withRules(settings ?? {}, { deny, ...settingsOf(granted) }));
}

const own = (folder: string | undefined) => (folder === undefined ? [] : [folder]);

function options(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [name, ...values];
}

/** In a separate word, a text that begins with a dash would be read as an option. */
function inOneWord(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${name}=${value}`];
}

function option(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [name, value];
}

// Claude Code refuses zero as an amount, and does not understand an exponent.
function budget(usd: number | undefined): string | undefined {
  return usd === undefined ? undefined : Math.max(usd, 0.000001).toFixed(6);
}

/**
 * Disables background tasks, which would answer after the turn's result, and compactions that the workflow
 * does not know of, unless the user asks for them. `own` overrides `inherited`, and
 * only the executor steers the agent.
 */
export function claudeEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment: Record<string, string> = { DISABLE_AUTO_COMPACT: '1' };
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !ofAnotherSession.has(name)) environment[name] = value;
  }
  return {
    ...environment,
    ...own,
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    DISABLE_AUTOUPDATER: '1',
  };
}

// Claude Code sets these for its children. Raymond may be one of them, but its agents must not be.
const ofAnotherSession = new Set([
  'AI_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_EXECPATH',
  'CLAUDE_CODE_MESSAGING_SOCKET',
  'CLAUDE_CODE_MESSAGING_TOKEN',
  'CLAUDE_CODE_SESSION_ATTENDED',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_EFFORT',
  'CLAUDE_PID',
]);

/**
 * The uuid becomes that of the prompt's line in the transcript. A session silently ignores a
 * prompt whose uuid it has seen, so each attempt needs a new one.
 */
export function userMessage(text: string, uuid: string): string {
  // Claude Code looks for commands and "@file" only in the last block, and does not send a blank one.
  const content = [
    { type: 'text', text },
    { type: 'text', text: ' ' },
  ];
  return line({ type: 'user', message: { role: 'user', content }, uuid });
}

export function setModel(requestId: string, model: string): string {
  return controlRequest(requestId, { subtype: 'set_model', model });
}

/** Claude Code refuses "bypassPermissions" unless the process was started with permissions skipped. */
export function setPermissionMode(requestId: string, mode: string): string {
  return controlRequest(requestId, { subtype: 'set_permission_mode', mode });
}

export function setEffort(requestId: string, effort: string): string {
  const settings = { effortLevel: effort };
  return controlRequest(requestId, { subtype: 'apply_flag_settings', settings });
}

/** Ends a process whose input has no end. */
export function endSession(requestId: string): string {
  return controlRequest(requestId, { subtype: 'end_session' });
}

/** The reply to a permission request of Claude Code. */
export function permissionReply(requestId: string, response: object): string {
  return line({
    type: 'control_response',
    response: { subtype: 'success', request_id: requestId, response },
  });
}

function controlRequest(requestId: string, request: object): string {
  return line({ type: 'control_request', request_id: requestId, request });
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

type Input = Pick<LaunchedProcess, 'stdin' | 'fifo'>;

export function send({ stdin, fifo }: Input, line: string): void {
  (fifo ?? stdin)?.write(line);
}

/** Claude Code then finishes its turn and exits. A FIFO has no end, so Raymond asks it to exit. */
export function endInput({ stdin, fifo }: Input): void {
  if (fifo) fifo.write(endSession(randomUUID()));
  else stdin?.end();
}
