import type { ParseArgsOptionDescriptor } from 'node:util'

/** An option of a command, with what the help says of it. */
export type CommandOption = ParseArgsOptionDescriptor & {
  readonly meaning: string
  /** Name of the value in the help, e.g. `folder`. */
  readonly value?: string
}

/** Options that every command takes. */
export const sharedOptions: Readonly<Record<string, CommandOption>> = {
  data: {
    type: 'string',
    value: 'folder',
    meaning: 'data folder (default: INLAY_DATA, else .inlay in the working folder, as createInlay() has it)',
  },
  json: { type: 'boolean', meaning: 'answer in JSON, for programs' },
  help: { type: 'boolean', short: 'h', meaning: 'this help' },
}
