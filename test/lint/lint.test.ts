import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { lint, lintCodes, lintFailure } from '../../src/lint/lint.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { WITH_PLAIN } from './agents.ts';
import { readFiles } from './workflow-of.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const kinds = lintCodes(WITH_PLAIN);
const codes = [...kinds];
/** The codes that the loader reports need links, archives or a command line, and others need runs. */
const shown = codes.filter(([, { by }]) => by !== 'load' && by !== 'runs').map(([code]) => code);

function diagnose(files: ReadonlyMap<string, Uint8Array>): readonly Diagnostic[] {
  const reading = readFiles(files, 'unix');
  return reading.ok ? lint(reading.workflow) : lintFailure(reading);
}

function folder(path: string): ReadonlyMap<string, Uint8Array> {
  return new Map(readdirSync(path).map((name) => [name, readFileSync(`${path}/${name}`)]));
}

const codesOf = (diagnostics: readonly Diagnostic[]) => diagnostics.map(({ code }) => code);

test('every code has a folder, and every folder a code', () => {
  const folders = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual([...shown].sort());
});

describe.each(shown)('%s', (code) => {
  test('is reported, with its severity', () => {
    const found = diagnose(folder(`${here}${code}/fires`)).filter((d) => d.code === code);
    expect(found).not.toEqual([]);
    for (const { severity, message } of found) {
      expect(severity).toBe(kinds.get(code)?.severity);
      expect(message).toMatch(/\.$/);
    }
  });

  test('is not reported for a correct workflow', () => {
    const found = diagnose(folder(`${here}${code}/quiet`));
    expect(codesOf(found)).not.toContain(code);
    expect(found.filter(({ severity }) => severity !== 'note')).toEqual([]);
  });
});

const reference = readFileSync(`${here}../../docs/reference/lint.md`, 'utf8');
const sections = new Map(
  reference
    .split(/^### /m)
    .slice(1)
    .map((section) => [/^`([^`]+)`/.exec(section)?.[1] ?? section, section]),
);

describe('the reference', () => {
  test('explains every code and no other', () => {
    expect([...sections.keys()].sort()).toEqual(codes.map(([code]) => code).sort());
  });

  test.each(codes)('gives the meaning and the remedy of %s', (code, { severity, meaning }) => {
    const section = sections.get(code);
    expect(section?.toLowerCase()).toContain(`**${severity}.** ${meaning.toLowerCase()}`);
    expect(section).toMatch(/\*\*Remedy\.\*\* \S/);
  });

  test.each(shown)('has an example that causes %s', (code) => {
    expect(codesOf(diagnose(examples(sections.get(code) ?? '')))).toContain(code);
  });
});

function examples(section: string): ReadonlyMap<string, Uint8Array> {
  const blocks = section.matchAll(/^`([^`]+)`:\n\n```\w*\n([\s\S]*?)\n```$/gm);
  return new Map([...blocks].map(([, name = '', text = '']) => [name, bytesOf(`${text}\n`)]));
}

function bytesOf(text: string): Uint8Array {
  const plain = text.replaceAll('␍', '\r').replaceAll('␀', '\0');
  return Buffer.concat(
    plain
      .split(/(⟨[0-9A-F]{2}⟩)/)
      .map((part) =>
        /^⟨..⟩$/.test(part) ? Buffer.from(part.slice(1, 3), 'hex') : Buffer.from(part, 'utf8'),
      ),
  );
}
