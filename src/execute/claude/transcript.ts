// What the transcript of a session tells: the file in which Claude Code keeps a conversation.
// It is written with a delay of a moment, so after a kill its end may be missing.

export interface Transcript {
  /** The total that Claude Code goes on counting from; only newer versions write it. */
  readonly costUsd?: number;
  /** Whether one of the prompts that were asked about has reached the session. */
  readonly hasPrompt: boolean;
  /**
   * The line after which the history is to be cut so that the prompt is not in it. Without one,
   * the session holds nothing before the prompt.
   */
  readonly cutAt?: string;
}

/**
 * The prompts are the uuids of one prompt's attempts, the first one first. Each attempt that was
 * cut hangs on the line where it was cut, so lines form a tree and their order says nothing.
 */
export function readTranscript(text: string, prompts: readonly string[] = []): Transcript {
  const entries = new Map<string, Entry>();
  let costUsd: number | undefined;
  for (const line of text.split('\n')) {
    const entry = parse(line);
    if (typeof entry.uuid === 'string') entries.set(entry.uuid, entry);
    if (entry.type === 'cost-state' && typeof entry.totalCostUSD === 'number') {
      costUsd = entry.totalCostUSD;
    }
  }
  const prompt = prompts.map((uuid) => entries.get(uuid)).find((entry) => entry !== undefined);
  const cutAt = prompt === undefined ? undefined : safeCutBefore(prompt, entries);
  return {
    ...(costUsd !== undefined && { costUsd }),
    hasPrompt: prompt !== undefined,
    ...(cutAt !== undefined && { cutAt }),
  };
}

function safeCutBefore(prompt: Entry, entries: ReadonlyMap<string, Entry>): string | undefined {
  let uuid = prompt.parentUuid;
  // No line is visited twice, whatever a damaged file says about parents.
  for (let steps = entries.size; steps > 0 && typeof uuid === 'string'; steps--) {
    const entry = entries.get(uuid);
    if (entry === undefined) return undefined;
    if (isSafeCut(entry)) return uuid;
    uuid = entry.parentUuid;
  }
  return undefined;
}

interface Entry {
  readonly type?: unknown;
  readonly uuid?: unknown;
  readonly parentUuid?: unknown;
  readonly isSidechain?: unknown;
  readonly isMeta?: unknown;
  readonly totalCostUSD?: unknown;
  readonly message?: { readonly model?: unknown; readonly content?: unknown };
}

function parse(line: string): Entry {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

// A call of a tool that got no result is dropped on loading, and so are reports of API errors. A
// prompt whose work was interrupted stays: the next prompt is then read together with it.
function isSafeCut({ type, isSidechain, isMeta, message }: Entry): boolean {
  if (isSidechain === true || isMeta === true || message?.model === '<synthetic>') return false;
  if (type === 'assistant') return !hasBlock(message?.content, 'tool_use');
  return type === 'user';
}

function hasBlock(content: unknown, type: string): boolean {
  return Array.isArray(content) && content.some((block) => block?.type === type);
}

/** The directory must be its real path: links are resolved by Claude Code as well. */
export function transcriptPath(configFolder: string, directory: string, session: string): string {
  return `${configFolder}/projects/${transcriptFolder(directory)}/${session}.jsonl`;
}

const longestFolderName = 200;

export function transcriptFolder(directory: string): string {
  const name = directory.replace(/[^a-zA-Z0-9]/g, '-');
  if (name.length <= longestFolderName) return name;
  return `${name.slice(0, longestFolderName)}-${hash(directory)}`;
}

function hash(text: string): string {
  let sum = 0;
  for (let index = 0; index < text.length; index++) {
    sum = (sum * 31 + text.charCodeAt(index)) | 0;
  }
  return Math.abs(sum).toString(36);
}
