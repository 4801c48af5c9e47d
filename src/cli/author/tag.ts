import { createReadStream } from 'node:fs';
import { AGENTS } from '../../execute/agents/agents.ts';
import { isSystemError, reasonOf } from '../../journal/disk-errors.ts';
import { type TagName, TRANSITION_TAGS } from '../../model/tag.ts';
import { UserError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { tagChoices } from '../../parse/agent-choices.ts';
import { clip } from '../../parse/clip.ts';
import { jsonInTag, readJson } from '../../parse/json.ts';
import { nearest } from '../../parse/nearest.ts';
import { tagText } from '../../parse/tag-text.ts';
import { decodeUtf8 } from '../../parse/utf8.ts';

import { standardInput, stdout } from '../terminal/terminal.ts';

export interface TagOptions {
  readonly attr?: readonly string[];
  readonly input?: string;
  readonly inputFile?: string;
  readonly bodyFile?: string;
  readonly json?: string;
}

/** Prints a tag with escaped values, so that scripts need not escape them. */
export async function tag(
  name: string,
  body: string | undefined,
  options: TagOptions,
): Promise<number> {
  const known = tagName(name);
  const attributes = [...(options.attr ?? []).map(attributeOf), ...(await inputOf(options))];
  const twice = attributes.find(([one], index) => attributes.findIndex(([o]) => o === one) < index);
  if (twice) throw wrongUsage(`The attribute ${twice[0]} is given twice.`, 'Give it once.');
  const written = tagText(
    {
      name: known,
      attributes: Object.fromEntries(attributes),
      body: await bodyOf(known, body, options),
    },
    tagChoices(AGENTS),
  );
  if (!written.ok) throw new UserError('bad-tag', written.problem, written.remedy);
  await stdout.document(`${written.text}\n`);
  return 0;
}

function tagName(written: string): TagName {
  const known = TRANSITION_TAGS.find((one) => one === written);
  if (known) return known;
  const meant = nearest(written, TRANSITION_TAGS);
  throw wrongUsage(
    `There is no tag "${clip(written)}".`,
    meant ? `Did you mean ${meant}?` : `The tags are ${TRANSITION_TAGS.join(', ')}.`,
  );
}

type Attribute = readonly [string, string];

function attributeOf(pair: string): Attribute {
  const at = pair.indexOf('=');
  if (at <= 0) throw wrongUsage(`--attr is "${clip(pair)}".`, 'Write --attr name=value.');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

async function inputOf({
  input,
  inputFile,
  bodyFile,
  json,
}: TagOptions): Promise<readonly Attribute[]> {
  if (input !== undefined && inputFile !== undefined) {
    throw wrongUsage('--input and --input-file are both given.', 'Give one of them.');
  }
  if (inputFile === '-' && (bodyFile === '-' || json === '-')) {
    throw wrongUsage('Standard input can be read only once.', 'Name a file for one of the two.');
  }
  if (input !== undefined) return [['input', input]];
  return inputFile === undefined ? [] : [['input', await textOf(inputFile)]];
}

async function bodyOf(
  name: TagName,
  body: string | undefined,
  { bodyFile, json }: TagOptions,
): Promise<string> {
  if (json !== undefined) {
    if (name !== 'result')
      throw wrongUsage(`The tag <${name}> has no JSON.`, 'Use --json with result.');
    if (body !== undefined || bodyFile !== undefined) {
      throw wrongUsage('A body and --json are both given.', 'Give one of them.');
    }
    return jsonOf(json);
  }
  if (body !== undefined && bodyFile !== undefined) {
    throw wrongUsage('A body and --body-file are both given.', 'Give one of them.');
  }
  if (bodyFile !== undefined) return textOf(bodyFile);
  if (body !== undefined) return body;
  throw wrongUsage(
    `The body of <${name}> is missing.`,
    `Write it after the name: raymond tag ${name} "…", or name a file with --body-file.`,
  );
}

/** Escaped, so that no text in it can end the tag. */
async function jsonOf(file: string): Promise<string> {
  const text = await textOf(file);
  const read = readJson(text);
  if (read.ok) return jsonInTag(text);
  const what = file === '-' ? 'Standard input' : file;
  throw new UserError(
    'not-json',
    `${what} is not JSON: ${clip(read.problem)}.`,
    'Write JSON into it, or pass it as text with --body-file.',
  );
}

async function textOf(file: string): Promise<string> {
  const what = file === '-' ? 'Standard input' : file;
  const decoded = decodeUtf8(await allOf(what, file === '-' ? standardInput() : pieces(file)));
  if (decoded.ok) return decoded.text;
  throw new UserError(
    'not-utf8',
    `${what} is not UTF-8: the byte at offset ${decoded.offset} is not valid.`,
    'Convert it to UTF-8, or pass the name of the file.',
  );
}

/** The author of the script named the file. So it may also be a pipe, as in `<(command)`. */
function pieces(file: string): AsyncIterable<Buffer> {
  return createReadStream(file);
}

/** A longer value does not fit into a tag. */
const MAX_MIB = 32;

async function allOf(what: string, stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      size += chunk.length;
      if (size > MAX_MIB * 1024 * 1024) throw tooLarge(what);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new UserError(
      'unreadable',
      `${what} cannot be read: ${reasonOf(error)}.`,
      'Name a file that you can read.',
    );
  }
  return Buffer.concat(chunks);
}

function tooLarge(what: string): UserError {
  return new UserError(
    'too-large',
    `${what} has more than ${MAX_MIB} MiB.`,
    'Pass the name of a file instead of its content.',
  );
}
