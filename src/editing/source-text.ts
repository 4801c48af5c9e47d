/** A file of a workflow, as an editor or the disk has it. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** It contains the whole workflow, and not only a state or the manifest. */
  readonly isWorkflow: boolean;
}
