/** The sha256 of each file of a workflow, by name. */
export type WorkflowFiles = Readonly<Record<string, string>>;

/** The changed files and the new ones. A missing file does no harm. */
export function changedFiles(read: WorkflowFiles, now: WorkflowFiles): readonly string[] {
  return Object.keys(now).filter((name) => read[name] !== now[name]);
}
