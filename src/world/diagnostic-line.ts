import { relative } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Notice } from '../model/notice.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Workflow } from '../model/workflow.ts';
import { squeezed } from '../observe/words.ts';
import type { WorkflowLibrary } from '../ports.ts';

/** `flow/START.md:3:9: error: There is no state "REVEIW". Similar names: REVIEW.md. [missing-target]` */
export function diagnosticLine({
  file,
  line,
  column,
  severity,
  message,
  remedy,
  code,
}: Diagnostic): string {
  const cure = remedy === undefined ? '' : ` ${remedy}`;
  return squeezed(`${file}:${line}:${column}: ${severity}: ${message}${cure} [${code}]`);
}

/** The diagnostic with its file relative to the working directory. */
export function placed(
  library: Pick<WorkflowLibrary, 'pathOf'>,
  { ref }: Workflow,
  diagnostic: Diagnostic,
): Diagnostic {
  return { ...diagnostic, file: nearHere(library.pathOf(ref, diagnostic.file)) };
}

/** An absolute path, relative to the working directory if it is in it. */
export function nearHere(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') || near === '' ? path : near;
}

/** A notice as one text, for a program. */
export function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case 'warning':
    case 'hint':
      return notice.text;
    case 'diagnostic':
      return diagnosticLine(notice.diagnostic);
    case 'trouble':
      return `${notice.message} ${notice.remedy}`;
    default:
      return unreachable(notice);
  }
}
