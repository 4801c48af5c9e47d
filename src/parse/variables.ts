import { clip } from './clip.ts';

/**
 * Names that variables may have. A fork attribute, `--set` and a workflow's environment become
 * environment variables of scripts, so a name that would change how programs run is refused.
 */

/** Why an author or a person cannot use a name; undefined when they can. */
export function variableProblem(name: string): string | undefined {
  if (name.length > LONGEST || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === '__proto__') {
    return `"${clip(name)}" cannot be a variable: use letters, digits and underscores, and no digit first`;
  }
  if (GIVEN.has(name)) return `"${name}" is a name that Raymond itself fills: choose another`;
  return REFUSED.test(name) || REFUSED_IN_ANY_CASE.test(name) ? steers(name) : undefined;
}

/**
 * Why an agent cannot choose a name; undefined when it can. Programs read variables in capitals, those
 * below, and what their surroundings have already set: `environment` has the names of the latter.
 */
export function agentVariableProblem(
  name: string,
  environment: ReadonlySet<string>,
): string | undefined {
  const problem = variableProblem(name);
  if (problem) return problem;
  if (!/^[a-z]/.test(name)) {
    return `"${name}" does not begin with a lower-case letter, as a variable that an agent chooses must`;
  }
  if (REFUSED_TO_AGENTS.test(name)) return steers(name);
  if (environment.has(name) || environment.has(name.toLowerCase())) {
    return `"${name}" is a variable of the environment in which Raymond runs: choose another name`;
  }
  return undefined;
}

const LONGEST = 200;

const steers = (name: string) => `"${name}" would change how programs run: choose another name`;

/** Filled by Raymond in every prompt. */
const GIVEN = new Set(['result', 'input', 'workflow_id', 'agent_id', 'state', 'task_folder']);

/** Windows does not tell "Path" from "PATH", and some programs read names in either case. */
const IN_ANY_CASE = `PATH PATHEXT COMSPEC SYSTEMROOT WINDIR PSMODULEPATH NODE_OPTIONS *_PROXY NPM_CONFIG_*
  RAYMOND_*`;

/** As programs spell them. An asterisk stands for any letters. */
const STEERING = `
  HOME USERPROFILE SHELL IFS ENV BASH_* SHELLOPTS BASHOPTS CDPATH FPATH ZDOTDIR GLOBIGNORE EXECIGNORE
  POSIXLY_CORRECT PROMPT_COMMAND PS0 PS1 PS2 PS4 HISTFILE INPUTRC TMPDIR TMP TEMP PWD OLDPWD UID EUID PPID
  fish_* histchars auto_resume module_path manpath mailpath
  LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH TZDIR MALLOC_* GLIBC_TUNABLES HOSTALIASES LOCALDOMAIN RES_OPTIONS
  ASAN_* LSAN_* MSAN_* TSAN_* UBSAN_* VALGRIND_* TERMINFO TERMINFO_DIRS TERMCAP XDG_* DBUS_* GTK_* GIO_* QT_*
  XAUTHORITY EDITOR VISUAL FCEDIT PAGER MANPAGER MANOPT MANPATH BROWSER LESS LESSOPEN LESSCLOSE LESSKEY*
  LESSEDIT EXINIT VIMINIT GVIMINIT VIMRUNTIME EMACSLOADPATH SCREENRC TMUX_TMPDIR SSH_* SUDO_* GNUPGHOME
  OPENSSL_* SSL_CERT_* SSLKEYLOGFILE CURL_* REQUESTS_CA_BUNDLE WGETRC SYSTEM_WGETRC NETRC RSYNC_* TAR_OPTIONS
  GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS ZIPOPT UNZIP UNZIPOPT ZSTD_* GREP_OPTIONS AWKPATH AWKLIBPATH M4PATH
  BC_ENV_ARGS DC_ENV_ARGS
  MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES MAKEOVERRIDES MAKELEVEL NINJAFLAGS CMAKE_* CTEST_*
  CONFIG_SITE CONFIG_SHELL PKG_CONFIG* ACLOCAL* AUTOM4TE* LIBTOOL* ac_* am_* *_cv_* program_transform_name
  exec_prefix bindir sbindir libexecdir datarootdir sysconfdir libdir includedir
  CC CXX CPP LD AR AS NM FC F77 RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS FFLAGS FCFLAGS LIBRARY_PATH CPATH
  C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH COMPILER_PATH GCC_* CCACHE_* DISTCC_* SCCACHE_*
  CARGO CARGO_* RUSTC* RUSTDOC* RUSTFLAGS RUSTUP_*
  NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_* NODE_V8_COVERAGE NODE_COMPILE_CACHE
  NODE_ICU_DATA NODE_REDIRECT_WARNINGS NODE_GYP_* npm_* YARN_* yarn_* PNPM_* pnpm_* BUN_* DENO_* COREPACK_*
  NVM_* VOLTA_* FNM_* TS_NODE_* ELECTRON_*
  PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONBREAKPOINT PYTHONINSPECT PYTHONUSERBASE PYTHONPLATLIBDIR
  PYTHONEXECUTABLE PYTHONPYCACHEPREFIX PYTHONWARNINGS PYTHONCASEOK PYTHONUSERSITE PYTHONSAFEPATH
  PIP_* UV_* POETRY_* PIPENV_* PIPX_* CONDA_* CONDARC VIRTUAL_ENV PYENV_* PYTEST_ADDOPTS PYTEST_PLUGINS TOX_*
  IPYTHONDIR JUPYTER_* MYPYPATH
  PERL5* PERLLIB PERL_* RUBYLIB RUBYOPT RUBYPATH RUBYSHELL GEM_* BUNDLE_* RBENV_* IRBRC PHPRC PHP_INI_SCAN_DIR
  COMPOSER_* LUA_* TCLLIBPATH JULIA_* GHC_* GHCRTS STACK_ROOT STACK_YAML CABAL_* OCAMLPATH OCAMLRUNPARAM OPAM*
  ERL_* ELIXIR_ERL_OPTIONS HEX_HOME HEX_MIRROR MIX_HOME R_HOME R_PROFILE* R_ENVIRON* R_LIBS*
  GOFLAGS GOPATH GOROOT GOENV GOBIN GOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOINSECURE GOTOOLCHAIN GODEBUG CGO_*
  JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_* JRE_HOME JAVACMD CLASSPATH MAVEN_* MVNW_* M2_HOME
  GRADLE_* ANT_HOME ANT_OPTS ANT_ARGS SBT_* LEIN_* KOTLIN_* SCALA_* CATALINA_* DOTNET_* COMPlus_* CORECLR_*
  COR_* NUGET_* MSBUILD* CustomBefore* CustomAfter* DirectoryBuild* DirectoryPackages* CscTool* VbcTool* FscTool*
  GIT GIT_* HG HGRCPATH HGEDITOR HGMERGE SVN_* CVS_RSH BZR_* ANTHROPIC_* CLAUDE_*`;

/** Authors have reasons to set these. In capitals an agent cannot choose them, but Windows has no capitals. */
const OF_SERVICES = `
  AWS_* AZURE_CONFIG_DIR GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_* GH_CONFIG_DIR GH_HOST GH_TOKEN GITHUB_TOKEN
  GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT DOCKER_CONFIG DOCKER_HOST DOCKER_CONTEXT DOCKER_CERT_PATH BUILDKIT_HOST
  COMPOSE_FILE CONTAINERS_* KUBECONFIG HELM_* TF_CLI_* TF_DATA_DIR TF_PLUGIN_CACHE_DIR PULUMI_* ANSIBLE_*
  PACKER_* VAULT_ADDR PGHOST PGHOSTADDR PGPORT PGUSER PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGOPTIONS
  PGDATABASE PGSSL* PSQLRC PSQL_* MYSQL_* REDISCLI_* OPENAI_* CODEX_* GEMINI_* NODE_ENV NODE_DEBUG LC_*
  PLAYWRIGHT_* PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONDEBUG
  PYTHONOPTIMIZE PYTHONVERBOSE PYTHONMALLOC PYTHONDEVMODE PYTHONTRACEMALLOC PYTHONASYNCIODEBUG PYTHONNOUSERSITE
  PYTHONFAULTHANDLER PYTHONPROFILEIMPORTTIME`;

const REFUSED = matcher(STEERING, '');
const REFUSED_IN_ANY_CASE = matcher(IN_ANY_CASE, 'i');
const REFUSED_TO_AGENTS = matcher(`${STEERING} ${OF_SERVICES}`, 'i');

function matcher(names: string, flags: string): RegExp {
  const alternatives = names.trim().split(/\s+/).join('|').replaceAll('*', '.*');
  return new RegExp(`^(?:${alternatives})$`, flags);
}
