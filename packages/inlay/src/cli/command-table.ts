/** How a command is called, without the program's name, and what it does, in a line. */
export interface CommandRow {
  readonly usage: string
  readonly summary: string
}

/** Name of a command. */
export type CommandName =
  | 'serve'
  | 'ingest'
  | 'ask'
  | 'search'
  | 'keys'
  | 'check-client'
  | 'eval'
  | 'backup'
  | 'restore'
  | 'erase'
  | 'reindex'

/** All commands, in the order of the help. Apart from their code, which only runs need. */
export const commandTable: Readonly<Record<CommandName, CommandRow>> = {
  serve: { usage: 'serve', summary: 'serve the API and the web page over HTTP' },
  ingest: {
    usage: 'ingest <folder or file…>',
    summary: 'take in files and keep them in step; unchanged ones are skipped',
  },
  ask: { usage: 'ask "<question>"', summary: 'ask a question and see the answer come, then its sources' },
  search: { usage: 'search "<words>"', summary: 'search the documents and show the passages found' },
  keys: {
    usage: 'keys create | list | rotate <id> | revoke <id>',
    summary: 'make, list, replace and revoke API keys',
  },
  'check-client': {
    usage: 'check-client [address]',
    summary: 'try what existing clients of the reference service do, and say what would fail',
  },
  eval: {
    usage: 'eval <questions.jsonl> [address]',
    summary: 'ask questions with known answers or sources, and score the answers; compare two settings',
  },
  backup: {
    usage: 'backup <new folder>',
    summary: 'copy records and files to a new folder, also while a server runs',
  },
  restore: {
    usage: 'restore <backup folder>',
    summary: 'make a data folder of a backup, and its index anew',
  },
  erase: { usage: 'erase <person>', summary: 'erase everything that belongs to a person' },
  reindex: {
    usage: 'reindex [--embedder]',
    summary: 'make the index anew from the records, while search goes on',
  },
}
