/**
 * The messages of the Agent Client Protocol. Raymond writes them in the form that the types of the
 * protocol describe. It reads them with care: an agent may send anything.
 */
import type {
  ClientCapabilities,
  InitializeRequest,
  PromptRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { parsed } from '../../model/attempt.ts';
import { type Fields, fields, list, number, text } from '../json.ts';
import type { Abilities, SessionSettings, Setting } from './records.ts';

export type Id = string | number;

export type Incoming =
  | { readonly kind: 'response'; readonly id: Id; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: Id; readonly error: RpcError }
  /** The agent wants something from Raymond. */
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Fields }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Fields };

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

/** Undefined for text that is no message. */
export function readMessage(line: string): Incoming | undefined {
  const message = fields(parsed(line));
  const id = readId(message.id);
  if (typeof message.method === 'string') {
    const { method } = message;
    const params = fields(message.params);
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id, method, params };
  }
  if (id === undefined) return undefined;
  if (message.error === undefined) return { kind: 'response', id, result: message.result };
  return { kind: 'error', id, error: readError(message.error) };
}

function readId(id: unknown): Id | undefined {
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= MOST_ID ? id : undefined;
}

const MOST_ID = 200;

/** The details are often the only useful part of an error. */
function readError(error: unknown): RpcError {
  const { code, message, data } = fields(error);
  const details = [text(data), text(fields(data).details), text(fields(data).message)];
  const parts = [text(message), ...details].map((part) => part.trim());
  const said = parts.filter((part, i) => part !== '' && parts.indexOf(part) === i).join(': ');
  return { code: number(code) ?? 0, message: said.slice(0, MOST_MESSAGE) || 'It gave no reason.' };
}

const MOST_MESSAGE = 2_000;

/** A line for the standard input of the agent. */
export function requestLine(id: Id, method: string, params: object): string {
  return lineOf({ id, method, params });
}

export function notificationLine(method: string, params: object): string {
  return lineOf({ method, params });
}

export function resultLine(id: Id, result: object): string {
  return lineOf({ id, result });
}

/** Raymond offers no files and no terminals: the agent uses its own tools. */
export function unknownMethodLine(id: Id, method: string): string {
  const message = `Method not found: ${method.slice(0, 100)}`;
  return lineOf({ id, error: { code: -32601, message } });
}

function lineOf(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
}

const CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
} satisfies ClientCapabilities;

export const VERSION = 1;

export function initializeParams(): InitializeRequest {
  const clientInfo = { name: 'raymond', title: 'Raymond', version: '1' };
  return { protocolVersion: VERSION, clientCapabilities: CAPABILITIES, clientInfo };
}

export function promptParams(sessionId: string, prompt: string): PromptRequest {
  return { sessionId, prompt: [{ type: 'text', text: prompt }] };
}

export function readAbilities(result: unknown): Abilities {
  const { protocolVersion, agentCapabilities, authMethods, agentInfo } = fields(result);
  const about = fields(agentInfo);
  const { loadSession, sessionCapabilities } = fields(agentCapabilities);
  const { resume, fork } = fields(sessionCapabilities);
  return {
    version: number(protocolVersion) ?? 0,
    about: `${text(about.title) || text(about.name)} ${text(about.version)}`.trim().slice(0, 200),
    load: loadSession === true,
    resume: isOffered(resume),
    fork: isOffered(fork),
    logins: list(authMethods)
      .map((method) => text(fields(method).name))
      .filter((name) => name !== ''),
  };
}

/** A capability is offered with an object, which may be empty. */
function isOffered(capability: unknown): boolean {
  return typeof capability === 'object' && capability !== null;
}

/** The request that gives a setting another value. */
export function settingRequest(
  { by }: Setting,
  sessionId: string,
  value: string,
): { readonly method: string; readonly params: object } {
  if (by === 'mode') return { method: 'session/set_mode', params: { sessionId, modeId: value } };
  if (by === 'model') return { method: 'session/set_model', params: { sessionId, modelId: value } };
  return {
    method: 'session/set_config_option',
    params: { sessionId, configId: by.option, value },
  };
}

/** The id of a session that was just opened, and its settings. */
export function readSession(result: unknown): { readonly id: string } & SessionSettings {
  const { sessionId, modes, models, configOptions } = fields(result);
  const options = list(configOptions).map(fields);
  const model = optionOf(options, 'model') ?? modelsOf(fields(models));
  const effort = optionOf(options, 'thought_level');
  const mode = modesOf(fields(modes)) ?? optionOf(options, 'mode');
  return {
    id: text(sessionId),
    ...(model && { model }),
    ...(effort && { effort }),
    ...(mode && { mode }),
  };
}

function optionOf(options: readonly Fields[], category: string): Setting | undefined {
  const option = options.find(
    (one) => (one.category ?? one.id) === category && one.type === 'select',
  );
  if (!option) return undefined;
  return {
    by: { option: text(option.id) },
    current: text(option.currentValue),
    values: list(option.options).map(fields).flatMap(valuesIn),
  };
}

/** Values may be in groups. */
function valuesIn(option: Fields): readonly string[] {
  if (Array.isArray(option.options)) return option.options.map(fields).flatMap(valuesIn);
  return typeof option.value === 'string' ? [option.value] : [];
}

function modesOf({ currentModeId, availableModes }: Fields): Setting | undefined {
  if (typeof currentModeId !== 'string') return undefined;
  return {
    by: 'mode',
    current: currentModeId,
    values: list(availableModes).map((mode) => text(fields(mode).id)),
  };
}

function modelsOf({ currentModelId, availableModels }: Fields): Setting | undefined {
  if (typeof currentModelId !== 'string') return undefined;
  return {
    by: 'model',
    current: currentModelId,
    values: list(availableModels).map((model) => text(fields(model).modelId)),
  };
}

export type UpdateKind = SessionUpdate['sessionUpdate'];

/** Something that the agent reports about a session. */
export interface Update {
  readonly session: string;
  /** One of `UpdateKind`, or a kind that Raymond does not know. */
  readonly kind: string;
  readonly fields: Fields;
}

export function readUpdate({
  method,
  params,
}: {
  method: string;
  params: Fields;
}): Update | undefined {
  if (method !== 'session/update') return undefined;
  const update = fields(params.update);
  return { session: text(params.sessionId), kind: text(update.sessionUpdate), fields: update };
}

/** The cost in USD in an update of the usage: the total so far. */
export function costIn({ kind, fields: update }: Update): number | undefined {
  if (kind !== ('usage_update' satisfies UpdateKind)) return undefined;
  const { amount, currency } = fields(update.cost);
  const usd = number(amount);
  return currency === 'USD' && usd !== undefined && usd >= 0 ? usd : undefined;
}

/** The tokens of the session in an update of the usage. */
export function sizeIn({ kind, fields: update }: Update): number | undefined {
  if (kind !== ('usage_update' satisfies UpdateKind)) return undefined;
  const used = number(update.used);
  return used !== undefined && used > 0 ? Math.round(used) : undefined;
}

export function permissionResult(optionId: string | undefined): RequestPermissionResponse {
  return optionId === undefined
    ? { outcome: { outcome: 'cancelled' } }
    : { outcome: { outcome: 'selected', optionId } };
}
