/** The section `[secrets]` of the user's config file: where the values of secrets are. */
import type { SecretSource } from '../../execute/secrets/source.ts';
import { splitWords } from '../../parse/split-words.ts';
import { variableProblem } from '../../parse/variables.ts';
import type { Refuse } from './agents-section.ts';

export function readSecretsSection(
  section: unknown,
  refuse: Refuse,
): ReadonlyMap<string, SecretSource> {
  if (typeof section !== 'object' || section === null || Array.isArray(section))
    return refuse(
      ['secrets'],
      'has a wrong value for secrets',
      `Write [secrets], and below it ${EXAMPLE}.`,
    );
  return new Map(
    Object.entries(section).map(([name, value]) => {
      const problem = variableProblem(name);
      if (problem)
        return refuse(['secrets', name], `has a secret whose name ${problem}`, 'Rename it.');
      const source = readSource(value);
      return [
        name,
        source ??
          refuse(
            ['secrets', name],
            `has a wrong value for secrets.${name}`,
            `Write it like ${EXAMPLE}.`,
          ),
      ];
    }),
  );
}

const EXAMPLE =
  'GH_TOKEN = { command = "gh auth token" }, { file = "~/.token" } or { env = "MY_TOKEN" }';

function readSource(value: unknown): SecretSource | undefined {
  const [entry, ...others] =
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (!entry || others.length > 0) return undefined;
  const [kind, given] = entry;
  const words = kind === 'command' && typeof given === 'string' ? splitWords(given) : given;
  if (kind === 'command' && isTexts(words) && words.length > 0 && words[0] !== '')
    return { kind: 'command', words };
  if (typeof given !== 'string' || given === '') return undefined;
  if (kind === 'file') return { kind: 'file', path: given };
  return kind === 'env' ? { kind: 'variable', name: given } : undefined;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
