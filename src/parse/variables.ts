/**
 * Names that a fork attribute, `--set` or a workflow's environment may have. They become environment
 * variables of scripts, so a name that would change how programs run is refused.
 */
export function variableProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === '__proto__') {
    return `"${name}" cannot be a variable: use letters, digits and underscores, and no digit first`;
  }
  if (GIVEN.has(name)) return `"${name}" is a name that Raymond itself fills: choose another`;
  if (
    REFUSED.has(name) ||
    REFUSED_IN_ANY_CASE.has(name.toUpperCase()) ||
    REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix))
  ) {
    return `"${name}" would change how programs run: choose another name`;
  }
  return undefined;
}

/** Filled by Raymond in every prompt. */
const GIVEN = new Set(['result', 'input', 'workflow_id', 'agent_id', 'state', 'task_folder']);

const REFUSED = new Set(
  `PATH PATHEXT HOME USERPROFILE SHELL COMSPEC SYSTEMROOT IFS ENV BASH_ENV SHELLOPTS BASHOPTS CDPATH
  GLOBIGNORE POSIXLY_CORRECT PROMPT_COMMAND PS0 PS1 PS2 PS4 HISTFILE TMPDIR TMP TEMP PWD OLDPWD UID EUID PPID
  BASH_XTRACEFD BASH_LOADABLES_PATH GCONV_PATH NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS
  NODE_TLS_REJECT_UNAUTHORIZED PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONBREAKPOINT PERL5LIB PERL5OPT
  PERL5DB RUBYLIB RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH LUA_PATH LUA_INIT
  EDITOR VISUAL PAGER BROWSER LESSOPEN SSH_ASKPASS SUDO_ASKPASS HTTP_PROXY HTTPS_PROXY ALL_PROXY
  NO_PROXY SSL_CERT_FILE SSL_CERT_DIR`
    .trim()
    .split(/\s+/),
);

/** Windows does not tell "Path" from "PATH", and programs read proxies in either case. */
const REFUSED_IN_ANY_CASE = new Set(
  `PATH PATHEXT COMSPEC SYSTEMROOT WINDIR PSMODULEPATH NODE_OPTIONS HTTP_PROXY HTTPS_PROXY ALL_PROXY
  NO_PROXY`
    .trim()
    .split(/\s+/),
);

const REFUSED_PREFIXES = [
  'LD_',
  'DYLD_',
  'RAYMOND_',
  'BASH_FUNC_',
  'GIT_',
  'npm_config_',
  'NPM_CONFIG_',
  'ANTHROPIC_',
  'CLAUDE_',
];
