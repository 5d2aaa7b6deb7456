import type { ParseArgsOptionDescriptor } from 'node:util'

/** An option of a command, with its description in the help. */
export type CommandOption = ParseArgsOptionDescriptor & {
  readonly meaning: string
  /** Placeholder of the value in the help, e.g. `folder`. */
  readonly value?: string
  /** The action it belongs to, in a command that has several; the others refuse it. */
  readonly action?: string
}

/** What an option does, as help and completion show it. */
export const meaningOf = ({ action, meaning }: CommandOption): string =>
  action === undefined ? meaning : `${action}: ${meaning}`

export const sharedOptions: Readonly<Record<string, CommandOption>> = {
  data: {
    type: 'string',
    value: 'folder',
    meaning: 'data folder (default: INLAY_DATA, otherwise .inlay in the working directory, as for createInlay())',
  },
  url: {
    type: 'string',
    value: 'address',
    meaning: 'work on a running server, e.g. https://docs.example.com/api, instead of a data folder',
  },
  key: { type: 'string', value: 'key', meaning: 'API key for the server of --url (default: INLAY_API_KEY)' },
  json: { type: 'boolean', meaning: 'print JSON, for programs' },
  help: { type: 'boolean', short: 'h', meaning: 'this help' },
}
