/**
 * The verbs of the application, and the name under which each door offers them. A door that does not
 * offer a verb says why.
 */
export const VERBS: Readonly<Record<string, Readonly<Record<DoorName, Offer>>>> = {
  start: { cli: 'run', serve: 'start', mcp: 'start', library: 'run' },
  resume: { cli: 'resume', serve: 'resume', mcp: 'resume', library: 'resume' },
  resumeAll: {
    cli: 'resume',
    serve: { not: 'A page resumes the run that a person has chosen.' },
    mcp: { not: 'An agent resumes the runs that it has looked at, one by one.' },
    library: 'resumeAll',
  },
  stop: { cli: 'stop', serve: 'stop', mcp: 'stop', library: 'stop' },
  answer: { cli: 'answer', serve: 'answer', mcp: 'answer', library: 'answer' },
  keepFile: {
    cli: { not: 'A command sends a file together with the answer.' },
    serve: 'keepFile',
    mcp: { not: 'A tool sends files of the project together with the answer.' },
    library: { not: 'A program sends a file together with the answer.' },
  },
  decide: { cli: 'answer', serve: 'permission', mcp: 'decide', library: 'answer' },
  answerByCode: {
    cli: 'answer',
    serve: { not: 'Whoever has the page answers in it. Codes come through the webhooks.' },
    mcp: { not: 'A code is the consent of a person, and an agent cannot give it.' },
    library: 'answerByCode',
  },
  approve: {
    cli: 'answer',
    serve: { not: 'The keys of people stay with them. The page shows the command that signs.' },
    mcp: { not: 'A signature is the consent of a person, and an agent cannot give it.' },
    library: { not: 'People sign at a terminal, with the programs of ssh.' },
  },
  say: { cli: 'say', serve: 'say', mcp: 'say', library: 'say' },
  rewind: {
    cli: 'rewind',
    serve: 'rewind',
    mcp: { not: 'It changes files, and an agent has no consent for that.' },
    library: 'rewind',
  },
  tryVariants: {
    cli: 'try',
    serve: 'try',
    mcp: { not: 'It spends on several runs at once, and a person compares what comes of them.' },
    library: { not: 'It needs processes of the command line for its runs.' },
  },
  prune: {
    cli: 'prune',
    serve: 'prune',
    mcp: { not: 'An agent could delete the record of what it did.' },
    library: 'prune',
  },
  add: {
    cli: 'add',
    serve: { not: 'A person reads the files in an editor before they start anything from them.' },
    mcp: { not: 'A person decides whose scripts enter the project.' },
    library: { not: 'Programs call raymond add with the digest.' },
  },
  update: {
    cli: 'update',
    serve: { not: 'A person reads the files in an editor before they start anything from them.' },
    mcp: { not: 'A person decides whose scripts enter the project.' },
    library: { not: 'Programs call raymond update --json.' },
  },
  up: {
    cli: 'up',
    serve: { not: 'A page can be closed at any time. A process of its own keeps the triggers.' },
    mcp: { not: 'A person decides what starts runs without them.' },
    library: { not: 'It needs processes of the command line for its runs.' },
  },
  replay: {
    cli: 'triggers',
    serve: 'replay',
    mcp: { not: 'A person decides whether what a stranger sent happens again.' },
    library: { not: 'Programs send the delivery again themselves.' },
  },
  propose: {
    cli: { not: 'A person who writes a workflow needs nobody to accept it.' },
    serve: { not: 'An agent proposes through the tools that a person gave it.' },
    mcp: 'propose',
    library: { not: 'A program that may write the files of a project writes them itself.' },
  },
  acceptProposal: {
    cli: 'trust',
    serve: { not: 'A person reads the files in a terminal, where everything hidden is visible.' },
    mcp: { not: 'An agent must not let its own proposal into the project.' },
    library: { not: 'Only a person can accept what an agent proposes.' },
  },
  rejectProposal: {
    cli: 'trust',
    serve: { not: 'Proposals are read and decided in a terminal.' },
    mcp: { not: 'An agent could hide the proposals of others.' },
    library: { not: 'Only a person decides about what an agent proposes.' },
  },
  attend: { cli: 'watch', serve: 'events', mcp: 'watch', library: 'events' },
  list: { cli: 'list', serve: 'runs', mcp: 'list', library: 'list' },
  inbox: {
    cli: 'inbox',
    serve: 'changes',
    mcp: { not: 'An agent works in one project. What waits in others is for the person.' },
    library: 'inbox',
  },
  triggers: {
    cli: 'triggers',
    serve: 'triggers',
    mcp: { not: 'An agent starts runs itself. What starts without it is for the person.' },
    library: { not: 'Programs read them with raymond triggers --json.' },
  },
  variants: {
    cli: 'try',
    serve: 'variants',
    mcp: { not: 'A person compares them. A run in the list says of which run it is a variant.' },
    library: { not: 'Programs read them with raymond try --json.' },
  },
  look: { cli: 'show', serve: 'run', mcp: 'show', library: 'look' },
  diff: { cli: 'diff', serve: 'diff', mcp: 'diff', library: 'diff' },
  bound: { cli: 'bound', serve: 'bound', mcp: 'bound', library: 'bound' },
  check: {
    cli: 'check',
    serve: { not: 'The page starts workflows and does not write them.' },
    mcp: 'check',
    library: 'check',
  },
  proposals: {
    cli: 'trust',
    serve: { not: 'Proposals are read and decided in a terminal.' },
    mcp: { not: 'The answer to a proposal says what a person has to decide.' },
    library: { not: 'Only a person decides about what an agent proposes.' },
  },
  files: { cli: 'show', serve: 'files', mcp: 'file', library: 'files' },
};

export type DoorName = 'cli' | 'serve' | 'mcp' | 'library';

/** The command, the route, the tool or the function. */
export type Offer = string | { readonly not: string };
