/** The sha256 of each file of a workflow, by name. */
export type WorkflowFiles = Readonly<Record<string, string>>;

/** Those that are not what was read, and new ones. A file that is missing does no harm. */
export function changedFiles(read: WorkflowFiles, now: WorkflowFiles): readonly string[] {
  return Object.keys(now).filter((name) => read[name] !== now[name]);
}
