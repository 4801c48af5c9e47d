import type { Diagnostic } from '../model/diagnostic.ts';
import { LINT_CODES, type LintCode } from './codes.ts';

/** Diagnostics as a SARIF 2.1.0 log, which code hosts show beside the lines of a change. */
export function toSarif(diagnostics: readonly Diagnostic[], version: string): unknown {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'raymond', version, rules: codes.map(rule) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => result(diagnostic, codes)),
      },
    ],
  };
}

/** Codes of other parts of the program have no entry of their own here. */
const MEANINGS = new Map<string, LintCode>(Object.entries(LINT_CODES));

function rule(id: string) {
  const known = MEANINGS.get(id);
  if (!known) return { id };
  return {
    id,
    shortDescription: { text: known.meaning },
    defaultConfiguration: { level: known.severity },
  };
}

function result(diagnostic: Diagnostic, codes: readonly string[]) {
  const { severity, code, file, line, column, message, remedy } = diagnostic;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: remedy === undefined ? message : `${message} ${remedy}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.split(/[/\\]/).map(encodeURIComponent).join('/') },
          region: { startLine: line, startColumn: column },
        },
      },
    ],
  };
}
