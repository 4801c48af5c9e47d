/**
 * The rule that "allow for the run" grants. Agents of the protocol have no language for rules, so a rule
 * stands for one call: by the same agent, in the same directory, with the same arguments. Its digest decides.
 */
import { createHash } from 'node:crypto';
import { type Fields, fields, list, text } from '../json.ts';

/** Who makes a call, and where. */
export interface Caller {
  /** The name of the agent. */
  readonly name: string;
  readonly cwd: string;
}

/** Undefined for a call whose arguments are not known: other calls could look like it. */
export function ruleFor(call: Fields, tool: string, { name, cwd }: Caller): string | undefined {
  if (Object.keys(fields(call.rawInput)).length === 0) return undefined;
  const { label, ...whole } = withoutRemark(call);
  const digest = createHash('sha256')
    .update(JSON.stringify([name, cwd, tool, whole]))
    .digest('base64url');
  const words = oneLine(`repeats by ${name} in ${folderName(cwd)}: ${tool} ${label}`);
  return `${words.trim()} #${digest}`;
}

/** The words with which the model describes a command are different each time, and do not change it. */
function withoutRemark({ kind, title, rawInput, content }: Fields) {
  const { description, ...others } = fields(rawInput);
  if (kind !== 'execute' || typeof others.command !== 'string')
    return { label: text(title), kind, title, rawInput, content };
  const isRemark = (part: unknown) => text(fields(fields(part).content).text) === description;
  const changes = list(content).filter((part) => !isRemark(part));
  const words = text(title).replaceAll(text(description), '');
  return { label: others.command, kind, title: words, rawInput: others, content: changes };
}

const folderName = (path: string) =>
  path.length > MOST_FOLDER ? `...${path.slice(-MOST_FOLDER)}` : path;

const oneLine = (label: string) =>
  Array.from(label.replace(/[\s\p{C}]+/gu, ' '))
    .slice(0, MOST_LABEL)
    .join('');

const MOST_FOLDER = 40;
/** With the digest, all outputs show the whole rule. */
const MOST_LABEL = 110;
