import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { withInlay } from './with-inlay.ts'

/** Serves the API, and the web page if it is part of the installation. */
export const serve: Command = {
  ...commandTable.serve,
  isLocal: 'inlay serve is the server; set its address with --host and --port',
  details: ['Ctrl+C stops the server after everything is written. Settings: inlay help settings.'],
  words: [0, 0],
  options: {
    port: { type: 'string', value: 'number', meaning: 'port; 0 for any free port (default: PORT, otherwise 3000)' },
    host: {
      type: 'string',
      value: 'name',
      meaning: 'name or address to listen on (default: HOST, otherwise 127.0.0.1)',
    },
  },
  async run(context) {
    return withInlay(
      context,
      async (inlay) => (await import('./serve-until-interrupted.ts')).serveUntilInterrupted(context, inlay),
      {
        onError: undefined,
        log: context.settings.options.log,
        telemetry: context.settings.options.telemetry ?? true,
        localModels: context.settings.findsLocalModels,
      },
    )
  },
}
