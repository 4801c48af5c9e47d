declare const RAYMOND_VERSION_AT_BUILD: string | undefined;

/** Put in by the build. */
export const RAYMOND_VERSION: string =
  typeof RAYMOND_VERSION_AT_BUILD === 'string' ? RAYMOND_VERSION_AT_BUILD : 'unbuilt';
