/** Whether the operating system refused something that it may allow later: space, memory, files, processes. */
export function isShortage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && SHORTAGES.has(String(error.code));
}

const SHORTAGES = new Set(['ENOSPC', 'EDQUOT', 'ENOMEM', 'EAGAIN', 'EMFILE', 'ENFILE']);
