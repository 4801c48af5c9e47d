/** The package on npm: the name `raymond` belongs to another one. */
export const NPM_PACKAGE = '@raymond-workflows/raymond';

/** The remedy for what only a newer version can read. */
export const NEWER_RAYMOND = `Install a newer Raymond: npm install -g ${NPM_PACKAGE}@latest`;
