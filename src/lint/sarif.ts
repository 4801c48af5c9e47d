import type { Agents, FaultKind } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { lintCodes } from './codes.ts';

/** Diagnostics as a SARIF 2.1.0 log, which code hosts show beside the lines of a change. */
export function toSarif(
  diagnostics: readonly Diagnostic[],
  version: string,
  agents: Agents,
): unknown {
  const kinds = lintCodes(agents);
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'raymond',
            version,
            rules: codes.map((code) => rule(code, kinds.get(code))),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic) => result(diagnostic, codes)),
      },
    ],
  };
}

/** Codes from other parts of the program have no description here. */
function rule(id: string, known: FaultKind | undefined) {
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
