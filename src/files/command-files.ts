import { sep } from 'node:path';

/**
 * Files and folders, in any folder, from which programs take commands automatically: git, the agents,
 * editors, shells and package managers execute what these say, as soon as someone works in the folder.
 * An agent that may only edit files could therefore run commands through them. Files whose commands a
 * person starts on purpose stay free, such as package.json, Makefile and a CI's workflows, and so do
 * texts for a model (CLAUDE.md, AGENTS.md): who reads them has no more rights than before. This is the
 * one list of them.
 */
export const COMMAND_FILES: readonly string[] = [
  // git and its hooks
  ...['.git', '.gitattributes', '.gitmodules', '.gitconfig', '.husky', '.githooks'],
  ...['.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml', '.hg', '.jj'],
  // agents
  ...['.claude', '.claude.json', '.mcp.json', '.opencode', 'opencode.json', 'opencode.jsonc'],
  ...[
    '.codex',
    '.agents',
    '.gemini',
    '.qwen',
    '.pi',
    '.copilot',
    '.cursor',
    '.windsurf',
    '.continue',
  ],
  // editors
  ...['.vscode', '.idea', '.zed', '.devcontainer', '.exrc', '.nvimrc', '.nvim.lua', '.vimrc'],
  ...['.dir-locals.el', '.ripgreprc'],
  // shells
  ...['.envrc', '.mise.toml', 'mise.toml', '.bashrc', '.bash_profile', '.bash_login', '.profile'],
  ...['.zshrc', '.zshenv', '.zprofile', '.ssh'],
  // package managers and build tools
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', '.pnpmfile.mjs', 'bunfig.toml'],
  ...['.cargo', '.bazelrc', '.pypirc', '.pdbrc', '.gdbinit', '.lldbinit'],
];

/** The first of the names that is a part of a path. Some file systems ignore case. */
export function commandFileIn(
  path: string,
  names: readonly string[] = COMMAND_FILES,
): string | undefined {
  const parts = path.toLowerCase().split(sep);
  return names.find((name) => parts.includes(name));
}
