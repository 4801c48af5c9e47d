/**
 * The verbs of the application, and the name under which each door offers them. A door that does not
 * offer a verb says why.
 */
export const VERBS: Readonly<Record<string, Readonly<Record<DoorName, Offer>>>> = {
  start: { cli: 'run', serve: 'start', mcp: 'start', library: 'run', acp: 'session/prompt' },
  resume: {
    cli: 'resume',
    serve: 'resume',
    mcp: 'resume',
    library: 'resume',
    acp: 'session/prompt',
  },
  resumeAll: {
    cli: 'resume',
    serve: { not: 'A page resumes the run that a person has chosen.' },
    mcp: { not: 'An agent resumes the runs that it has looked at, one by one.' },
    library: 'resumeAll',
    acp: { not: 'An editor continues the runs of its own sessions.' },
  },
  stop: { cli: 'stop', serve: 'stop', mcp: 'stop', library: 'stop', acp: 'session/cancel' },
  answer: {
    cli: 'answer',
    serve: 'answer',
    mcp: 'answer',
    library: 'answer',
    acp: 'session/prompt',
  },
  keepFile: {
    cli: { not: 'A command sends a file together with the answer.' },
    serve: 'keepFile',
    mcp: { not: 'A tool sends files of the project together with the answer.' },
    library: { not: 'A program sends a file together with the answer.' },
    acp: { not: 'A prompt that answers a question has no files.' },
  },
  decide: {
    cli: 'answer',
    serve: 'permission',
    mcp: 'decide',
    library: 'answer',
    acp: 'session/request_permission',
  },
  answerByCode: {
    cli: 'answer',
    serve: { not: 'Whoever has the page answers in it. Codes come through the webhooks.' },
    mcp: { not: 'A code is the consent of a person, and an agent cannot give it.' },
    library: 'answerByCode',
    acp: { not: 'Codes are for people who have no editor at hand.' },
  },
  approve: {
    cli: 'answer',
    serve: { not: 'The keys of people stay with them. The page shows the command that signs.' },
    mcp: { not: 'A signature is the consent of a person, and an agent cannot give it.' },
    library: { not: 'People sign at a terminal, with the programs of ssh.' },
    acp: { not: 'The keys of people stay with them. A signature is given at a terminal.' },
  },
  say: { cli: 'say', serve: 'say', mcp: 'say', library: 'say', acp: 'session/prompt' },
  rewind: {
    cli: 'rewind',
    serve: 'rewind',
    mcp: { not: 'It changes files, and an agent has no consent for that.' },
    library: 'rewind',
    acp: { not: 'The protocol has no message for it, and it changes files.' },
  },
  tryVariants: {
    cli: 'try',
    serve: 'try',
    mcp: { not: 'It spends on several runs at once, and a person compares what comes of them.' },
    library: { not: 'It needs processes of the command line for its runs.' },
    acp: { not: 'A session of an editor is one conversation with one run.' },
  },
  prune: {
    cli: 'prune',
    serve: 'prune',
    mcp: { not: 'An agent could delete the record of what it did.' },
    library: 'prune',
    acp: { not: 'An editor deletes nothing. People remove runs at a terminal.' },
  },
  add: {
    cli: 'add',
    serve: { not: 'A person reads the files in an editor before they start anything from them.' },
    mcp: { not: 'A person decides whose scripts enter the project.' },
    library: { not: 'Programs call raymond add with the digest.' },
    acp: { not: 'A person brings workflows into the project at a terminal, and reads them first.' },
  },
  update: {
    cli: 'update',
    serve: { not: 'A person reads the files in an editor before they start anything from them.' },
    mcp: { not: 'A person decides whose scripts enter the project.' },
    library: { not: 'Programs call raymond update --json.' },
    acp: { not: 'A person brings workflows into the project at a terminal, and reads them first.' },
  },
  up: {
    cli: 'up',
    serve: { not: 'A page can be closed at any time. A process of its own keeps the triggers.' },
    mcp: { not: 'A person decides what starts runs without them.' },
    library: { not: 'It needs processes of the command line for its runs.' },
    acp: { not: 'A session ends with its editor. A process of its own keeps the triggers.' },
  },
  replay: {
    cli: 'triggers',
    serve: 'replay',
    mcp: { not: 'A person decides whether what a stranger sent happens again.' },
    library: { not: 'Programs send the delivery again themselves.' },
    acp: { not: 'A person decides at a terminal whether what a stranger sent happens again.' },
  },
  attend: { cli: 'watch', serve: 'events', mcp: 'watch', library: 'events', acp: 'session/prompt' },
  list: {
    cli: 'list',
    serve: 'runs',
    mcp: 'list',
    library: 'list',
    acp: { not: 'An editor lists its own sessions.' },
  },
  inbox: {
    cli: 'inbox',
    serve: 'changes',
    mcp: { not: 'An agent works in one project. What waits in others is for the person.' },
    library: 'inbox',
    acp: { not: 'An editor shows what its own sessions ask.' },
  },
  triggers: {
    cli: 'triggers',
    serve: 'triggers',
    mcp: { not: 'An agent starts runs itself. What starts without it is for the person.' },
    library: { not: 'Programs read them with raymond triggers --json.' },
    acp: { not: 'An editor shows its own sessions, and not what starts without it.' },
  },
  variants: {
    cli: 'try',
    serve: 'variants',
    mcp: { not: 'A person compares them. A run in the list says of which run it is a variant.' },
    library: { not: 'Programs read them with raymond try --json.' },
    acp: { not: 'A session of an editor is one conversation with one run.' },
  },
  look: { cli: 'show', serve: 'run', mcp: 'show', library: 'look', acp: 'session/load' },
  diff: {
    cli: 'diff',
    serve: 'diff',
    mcp: 'diff',
    library: 'diff',
    acp: { not: 'An editor shows changed files itself.' },
  },
  bound: {
    cli: 'bound',
    serve: 'bound',
    mcp: 'bound',
    library: 'bound',
    acp: { not: 'The protocol has no message for it. People ask at a terminal.' },
  },
  files: {
    cli: 'show',
    serve: 'files',
    mcp: 'file',
    library: 'files',
    acp: { not: 'The protocol has no message for the files of a question.' },
  },
};

export type DoorName = 'cli' | 'serve' | 'mcp' | 'acp' | 'library';

/** The command, the route, the tool, the message or the function. */
export type Offer = string | { readonly not: string };
