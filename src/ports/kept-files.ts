/** The files of the questions and answers of a run, by the sha256 of their content. */
export interface KeptFiles {
  /** Resolves with the hash when the content is stored. Content that is stored already changes nothing. */
  keep(content: Uint8Array): Promise<string>;
  /** Undefined if it is not stored. Never other content than the one with this hash. */
  read(sha256: string): Promise<Uint8Array | undefined>;
}
