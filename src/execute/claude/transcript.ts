// Reads the transcript of a session: the file in which Claude Code keeps a conversation. Claude Code
// writes it with a short delay, so after a kill its end may be missing.
import { parsed } from '../../model/attempt.ts';
import { fields } from '../json.ts';

interface Transcript {
  /** The total from which Claude Code continues counting; only newer versions write it. */
  readonly costUsd?: number;
  /** Whether the session contains one of the given prompts. */
  readonly hasPrompt: boolean;
  /**
   * The line after which the history must be cut off to remove the prompt. Missing if the session
   * contains nothing before the prompt.
   */
  readonly cutAt?: string;
}

/**
 * `prompts` are the uuids of one prompt's attempts, the oldest first. The parent of an attempt is the
 * line where the history was cut. So lines form a tree, and their order has no meaning.
 */
export function readTranscript(text: string, prompts: readonly string[] = []): Transcript {
  const entries = new Map<string, TranscriptLine>();
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

function safeCutBefore(
  prompt: TranscriptLine,
  entries: ReadonlyMap<string, TranscriptLine>,
): string | undefined {
  let uuid = prompt.parentUuid;
  // The number of steps is limited, because the parents in a damaged file can form a cycle.
  for (let steps = entries.size; steps > 0 && typeof uuid === 'string'; steps--) {
    const entry = entries.get(uuid);
    if (entry === undefined) return undefined;
    if (isSafeCut(entry)) return uuid;
    uuid = entry.parentUuid;
  }
  return undefined;
}

interface TranscriptLine {
  readonly type?: unknown;
  readonly uuid?: unknown;
  readonly parentUuid?: unknown;
  readonly isSidechain?: unknown;
  readonly isMeta?: unknown;
  readonly totalCostUSD?: unknown;
  readonly message?: { readonly model?: unknown; readonly content?: unknown };
}

const parse = (line: string): TranscriptLine => fields(parsed(line));

// Claude Code drops tool calls without a result and reports of API errors when it loads a session.
// It keeps a prompt whose work was interrupted, and reads the next prompt together with it.
function isSafeCut({ type, isSidechain, isMeta, message }: TranscriptLine): boolean {
  if (isSidechain === true || isMeta === true || message?.model === '<synthetic>') return false;
  if (type === 'assistant') return !hasBlock(message?.content, 'tool_use');
  return type === 'user';
}

function hasBlock(content: unknown, type: string): boolean {
  return Array.isArray(content) && content.some((block) => block?.type === type);
}

/** The directory must be a real path, because Claude Code resolves links, too. */
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
