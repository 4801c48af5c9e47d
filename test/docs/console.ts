/** Compares the output in a `console` block with the output of its commands. */
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { Block } from './documents.ts';
import type { DocumentProject } from './project.ts';

/** A test for each console block, in order: each one uses the files that the earlier ones left. */
export function testConsoles(blocks: readonly Block[], reader: () => DocumentProject): void {
  const consoles = blocks.filter(({ language }) => language === 'console');
  test.each(consoles.map((block) => ({ ...block, name: `line ${block.line}` })))(
    '$name shows the real output',
    (block) => followConsole(reader(), block),
  );
}

/** Enters the commands of a block. The files that the document shows before it exist. */
async function followConsole(reader: DocumentProject, block: Block): Promise<void> {
  reader.showUntil(block.line);
  let code = 0;
  for (const { command, expected } of readConsole(block.text)) {
    const ran = await reader.run(command, code);
    code = ran.code;
    const output = normalOutput(ran.output, reader);
    expect(output, `line ${block.line}: ${command}`).toMatch(expectedPattern(expected));
  }
}

export interface ConsoleCommand {
  readonly command: string;
  readonly expected: readonly string[];
}

/** `$ ` starts a command, `> ` continues it. The other lines are its output. */
export function readConsole(text: string): readonly ConsoleCommand[] {
  const commands: { command: string; expected: string[] }[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const last = commands.at(-1);
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), expected: [] });
    else if (line.startsWith('> ') && last?.expected.length === 0)
      last.command += `\n${line.slice(2)}`;
    else if (last) last.expected.push(line);
    else throw new Error(`A console block begins with "$ ", not with: ${line}`);
  }
  return commands;
}

/** A line `...` stands for any number of lines. */
export function expectedPattern(expected: readonly string[]): RegExp {
  const parts = expected.map((line) =>
    line.trim() === '...' ? '(?:[^\\n]*\\n)*?' : `${escaped(normal(line))}\\n`,
  );
  return new RegExp(`^${parts.join('')}$`);
}

/** Replaces parts that differ each time with fixed values. */
export function normalOutput(output: string, { folder }: Pick<DocumentProject, 'folder'>): string {
  return normal(output.replaceAll(folder, '/project').replaceAll(dirname(folder), '/home/you'));
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function normal(text: string): string {
  return (
    text
      .replace(/\b\d{4}-\d\d-\d\d\b/g, '2000-01-01')
      .replace(/\b\d\d:\d\d:\d\d\b/g, '00:00:00')
      .replace(/-[0-9a-f]{8}\b/g, '-00000000')
      .replace(/\b\d+\.\d s\b/g, '0.0 s')
      .replace(/ {2}\d+ (?:s|min) {2}/g, '  1 s  ')
      .replace(/\(\d+ ms\)/g, '(1 ms)')
      .replace(/\b\d+ bytes of the journal/, '1 bytes of the journal')
      .replace(/\(pid \d+\)/g, '(pid 1)')
      // A column is as wide as its widest cell, which may be a duration.
      .replace(/ {2,}/g, '  ')
      .replace(/[ \t]+$/gm, '')
  );
}
