/**
 * INV-17: The function that upgrades a released version never changes.
 *
 * Upgrades lines of older versions: one function per version turns the JSON of an event into that of
 * the next version. `test/journals` contains real files of every version.
 */
import { JOURNAL_VERSION } from '../model/event.ts';

/** The JSON of an event as this version writes it. */
export function upcast(json: unknown, version: number): unknown {
  let event = json;
  for (let from = version; from < JOURNAL_VERSION; from++) {
    const step = UPCASTS[from];
    if (isRecord(event) && step) event = step(event);
  }
  return event;
}

type JsonRecord = Readonly<Record<string, unknown>>;

/** The functions, by the version that they upgrade. */
const UPCASTS: Readonly<Record<number, (event: JsonRecord) => JsonRecord>> = {
  1: fromVersion1,
  2: fromVersion2,
};

/** Version 3 has an authenticator in every line. Its events are the same. */
function fromVersion2(event: JsonRecord): JsonRecord {
  return event.type === 'run-started' ? { ...event, version: 3 } : event;
}

/**
 * Version 2 has an account of every step in place of `costUsd`, and `repeat` in place of `goesOn`. It
 * groups the choices for an agent. All other new fields may be absent. (The sequence number and the
 * checksum are not part of the event itself.)
 */
function fromVersion1(event: JsonRecord): JsonRecord {
  switch (event.type) {
    case 'run-started':
      return { ...event, version: 2, settings: settingsFromVersion1(event.settings) };
    case 'run-resumed':
      return { ...event, settings: settingsFromVersion1(event.settings) };
    case 'agent-moved': {
      const [choices, others] = parted(event, ['model', 'effort']);
      return Object.keys(choices).length > 0 ? { ...others, choices } : event;
    }
    case 'step-ended':
    case 'step-failed':
      return withCost(event);
    case 'step-interrupted': {
      const { goesOn, ...rest } = withCost(event);
      return { ...rest, repeat: goesOn };
    }
    default:
      return event;
  }
}

function settingsFromVersion1(settings: unknown): unknown {
  if (!isRecord(settings)) return settings;
  const [agent, others] = parted(settings, VERSION_1_CHOICES);
  return { ...others, agent };
}

/** As version 1 had them. Later names do not belong here. */
const VERSION_1_CHOICES = [
  'model',
  'effort',
  'permissionMode',
  'skipPermissions',
  'allowedTools',
  'disallowedTools',
  'mcpConfig',
  'agentSettings',
  'addDir',
  'appendSystemPrompt',
  'agentArgs',
];

/** The entries with these names, and the others. */
function parted(from: JsonRecord, names: readonly string[]): readonly [JsonRecord, JsonRecord] {
  const entries = Object.entries(from);
  return [
    Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  ];
}

/** For a step without an answer, version 1 did not record the source of the cost. */
function withCost({ costUsd, ...event }: JsonRecord): JsonRecord {
  const isTold = event.type === 'step-ended' || costUsd === 0;
  return { ...event, cost: { usd: costUsd, from: isTold ? 'told' : 'estimated' } };
}

function isRecord(json: unknown): json is JsonRecord {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
