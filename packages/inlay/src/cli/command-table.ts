/** Usage of a command, without the program name, and a one-line summary. */
export interface CommandRow {
  readonly usage: string
  readonly summary: string
}

/** All commands, in the order of the help. Separate from their code, which is only loaded to run them. */
export const commandTable = {
  init: { usage: 'init', summary: 'write a .env with a new key' },
  serve: { usage: 'serve', summary: 'serve the API and the web page over HTTP' },
  ingest: {
    usage: 'ingest <folder, file or URL…>',
    summary: 'add documents and keep them up to date; unchanged ones are skipped',
  },
  ask: { usage: 'ask "<question>"', summary: 'ask a question, and see answer and sources' },
  chat: { usage: 'chat', summary: 'hold a conversation' },
  search: { usage: 'search "<words>"', summary: 'search the documents and show the passages found' },
  documents: {
    usage: 'documents [list | show | delete | retry]',
    summary: 'list documents, see why one failed, delete, retry',
  },
  agents: {
    usage: 'agents [list | show | create | update | delete]',
    summary: 'administer agents',
  },
  keys: {
    usage: 'keys [list | create | rotate | revoke]',
    summary: 'administer API keys',
  },
  'sign-in': { usage: 'sign-in <MCP server>', summary: 'sign in to an MCP server, in the browser' },
  doctor: { usage: 'doctor', summary: 'check the installation and suggest fixes' },
  eval: {
    usage: 'eval <questions.jsonl> [address]',
    summary: 'score answers on questions with known answers; compare two settings',
  },
  'check-client': {
    usage: 'check-client [address]',
    summary: 'send what existing clients send to a running server, and check its answers',
  },
  reindex: {
    usage: 'reindex [--embedder]',
    summary: 'rebuild the index while search continues',
  },
  migrate: { usage: 'migrate [--check | --contract]', summary: 'bring the tables of the database up to date' },
  backup: { usage: 'backup <new folder>', summary: 'copy the database and files, also of a server' },
  restore: { usage: 'restore <backup folder>', summary: 'create a data folder from a backup' },
  move: {
    usage: 'move --to <settings file>',
    summary: 'move all data elsewhere while this one serves',
  },
  erase: { usage: 'erase <person>', summary: 'erase everything that belongs to a person' },
  export: {
    usage: 'export <person | --all> <new folder>',
    summary: 'write all of a person, or everything, as files',
  },
  holds: { usage: 'holds [list | place | lift]', summary: 'keep all of a person, whatever is deleted' },
  completion: { usage: 'completion bash | zsh | fish', summary: 'print a completion script for a shell' },
} as const satisfies Readonly<Record<string, CommandRow>>

export type CommandName = keyof typeof commandTable
