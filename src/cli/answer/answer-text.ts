import type { KeptFile } from '../../model/kept-file.ts';
import { type PermissionRequest, requestText } from '../../model/permission.ts';
import { UserError } from '../../model/user-error.ts';
import { acceptLines, asksText, choiceLines, fileLines, notDecision } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { readDecision } from '../../parse/decision.ts';
import { decodeUtf8 } from '../../parse/utf8.ts';
import { typedText } from '../terminal/edit-text.ts';
import { isAttended, standardInput, stderr } from '../terminal/terminal.ts';

/** The text of an answer: from the command line, from standard input (`-`), or from the person at the terminal. */
export async function answerText(written: string | undefined, asked: Asked): Promise<string> {
  if (written === '-') return textFromStandardInput();
  if (written !== undefined) return written;
  if (isAttended()) return fromPerson(asked);
  throw wrongUsage(
    `No answer was given for ${asked.run}.`,
    `Write it after the run: raymond answer ${asked.run} "...", or use - to read it from standard input.`,
  );
}

interface Asked {
  readonly run: string;
  readonly agent: string;
  readonly question?: string;
  readonly files?: readonly KeptFile[] | undefined;
  readonly accept?: readonly string[] | undefined;
  /** Set for a permission request, instead of a question. */
  readonly request?: PermissionRequest;
}

const MAX_MIB = 4;

export async function textFromStandardInput(): Promise<string> {
  const stream: AsyncIterable<Buffer> = standardInput();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MAX_MIB * 1024 * 1024)
      throw wrongUsage(
        `The answer is longer than ${MAX_MIB} MiB.`,
        'Save it in a file, and answer with the name of the file.',
      );
    chunks.push(chunk);
  }
  const decoded = decodeUtf8(Buffer.concat(chunks));
  if (!decoded.ok)
    throw wrongUsage(
      `The answer is not UTF-8: the byte at offset ${decoded.offset} is not valid.`,
      'Convert it to UTF-8.',
    );
  // As in "$(command)": the line break that ends the last line is not part of the text.
  const text = decoded.text.replace(/\r?\n$/, '');
  if (text === '')
    throw wrongUsage(
      'The answer on standard input is empty.',
      'To give an empty answer, write "" on the command line.',
    );
  return text;
}

function fromPerson({ run, agent, question = '', files, accept, request }: Asked): Promise<string> {
  stderr.say(`${agent} ${asksText(request)}:`);
  stderr.quote(request ? requestText(request) : question);
  stderr.say(...fileLines(run, files), ...acceptLines(accept), ...choiceLines(request));
  return textFromPerson('> ', (text) =>
    request && !readDecision(text, request) ? notDecision(text, request) : undefined,
  );
}

/** Asks until the text has no problem. */
export async function textFromPerson(
  prompt: string,
  problemOf: (text: string) => string | undefined,
): Promise<string> {
  for (;;) {
    const text = await typedText(prompt, true);
    if (text === undefined) {
      const fact = 'No answer was given. The question stays open.';
      throw new UserError('no-answer', fact, 'To answer it, run the command again.');
    }
    const problem = problemOf(text);
    if (problem === undefined) return text;
    stderr.say(problem);
  }
}
