/** Usage of a command, without the program name, and a one-line summary. */
export interface CommandRow {
  readonly usage: string
  readonly summary: string
}

const row = (usage: string, summary: string): CommandRow => ({ usage, summary })

/** All commands, in the order of the help. Separate from their code, which is only loaded to run them. */
export const commandTable = {
  init: row('init', 'write a .env with a new key'),
  serve: row('serve', 'serve the API and the web page over HTTP'),
  ingest: row('ingest <folder, file or URL…>', 'add documents and keep them up to date; unchanged ones are skipped'),
  ask: row('ask "<question>"', 'ask a question, and see answer and sources'),
  chat: row('chat', 'hold a conversation'),
  search: row('search "<words>"', 'search the documents and show the passages found'),
  documents: row('documents [list | show | delete | retry]', 'list documents, see why one failed, delete, retry'),
  agents: row('agents [list | show | create | update | delete]', 'administer agents'),
  keys: row('keys [list | create | rotate | revoke]', 'administer API keys'),
  'sign-in': row('sign-in <MCP server>', 'sign in to an MCP server, in the browser'),
  doctor: row('doctor', 'check the installation and suggest fixes'),
  eval: row('eval <questions.jsonl> [address]', 'score answers on questions with known answers; compare two settings'),
  'check-client': row(
    'check-client [address]',
    'send what existing clients send to a running server, and check its answers',
  ),
  reindex: row('reindex [--embedder]', 'rebuild the index while search continues'),
  migrate: row('migrate [--check | --contract]', 'bring the tables of the database up to date'),
  backup: row('backup <new folder>', 'copy the database and files, also of a server'),
  restore: row('restore <backup folder>', 'create a data folder from a backup'),
  move: row('move --to <settings file>', 'move all data elsewhere while this one serves'),
  erase: row('erase <person>', 'erase everything that belongs to a person'),
  export: row('export <person | --all> <new folder>', 'write all of a person, or everything, as files'),
  holds: row('holds [list | place | lift]', 'keep all of a person, whatever is deleted'),
  completion: row('completion bash | zsh | fish', 'print a completion script for a shell'),
}

export type CommandName = keyof typeof commandTable
