import type { ParseArgsOptionDescriptor } from 'node:util'

export type CommandOption = ParseArgsOptionDescriptor & {
  readonly meaning: string
  /** Placeholder of the value in the help, e.g. `folder`. */
  readonly value?: string
  /** The action it belongs to, in a command that has several; the others refuse it. */
  readonly action?: string
}

type More = Pick<CommandOption, 'action' | 'multiple' | 'short'>

export const flag = (meaning: string, more: More = {}): CommandOption => ({ type: 'boolean', meaning, ...more })

export const option = (value: string, meaning: string, more: More = {}): CommandOption => {
  return { type: 'string', value, meaning, ...more }
}

/** What an option does, as help and completion show it. */
export const meaningOf = ({ action, meaning }: CommandOption): string =>
  action === undefined ? meaning : `${action}: ${meaning}`

export const sharedOptions: Readonly<Record<string, CommandOption>> = {
  data: option(
    'folder',
    'data folder (default: INLAY_DATA, otherwise .inlay in the working directory, as for createInlay())',
  ),
  url: option('address', 'work on a running server, e.g. https://docs.example.com/api, instead of a data folder'),
  key: option('key', 'API key for the server of --url (default: INLAY_API_KEY)'),
  json: flag('print JSON, for programs'),
  help: flag('this help', { short: 'h' }),
}
