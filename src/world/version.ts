declare const RAYMOND_VERSION_AT_BUILD: string | undefined;

/** The build inserts the version. */
export const RAYMOND_VERSION: string =
  typeof RAYMOND_VERSION_AT_BUILD === 'string' ? RAYMOND_VERSION_AT_BUILD : 'unbuilt';
