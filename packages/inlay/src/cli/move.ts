import { parseEnv } from 'node:util'
import { closeAll } from '../parts/destroy-parts.ts'
import type { Stores } from '../parts/move-data.ts'
import { engineLines } from '../options/engines.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { readSettings, type Settings } from '../settings/read-settings.ts'
import { misuse, textIn, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { hasFailed, showFinding } from './doctor.ts'
import { dataFolderOf, needData, noteErrors } from './with-inlay.ts'
import { flag, option } from './shared-options.ts'

export const move: Command = {
  ...commandTable.move,
  isLocal: 'run inlay move with the settings of the installation',
  details: [
    'The settings of this installation are those of the other commands. The file has those of the new one, like a .env.',
    'Both are checked first. Servers go on; writes are refused with 503 only at the end.',
    'Then stop the servers and start them with the new settings. The old data stays, and refuses writes.',
    'Run the command again after an interruption: it goes on.',
  ],
  words: [0, 0],
  options: {
    to: option('file', 'settings of the new installation: NAME=value, one a line'),
    check: flag('only check what the move needs'),
    cancel: flag('give the move up, or go back after it: writes are accepted here again'),
  },
  async run(context) {
    const { output, options: given, settings, signal } = context
    await needData(context)
    const file = textOption(context, 'to')
    if ((file === undefined) !== (given['cancel'] === true))
      throw misuse('Specify either --to <settings file> or --cancel.')
    // Loads everything, which help does not need.
    const [{ cancelMove, moveData, openStores }, { checkMove }] = await Promise.all([
      import('../parts/move-data.ts'),
      import('./move-checks.ts'),
    ])
    const opened: Stores[] = []
    const open = async (options: InlayOptions): Promise<Stores> => {
      const stores = await openStores(options, noteErrors(context))
      opened.unshift(stores)
      return stores
    }
    try {
      const own = { ...settings.options, dataFolder: dataFolderOf(context) }
      const from = await open(own)
      if (file === undefined) {
        const isCanceled = await cancelMove(from)
        const outcome = isCanceled ? 'Writes are accepted here again.' : 'There is no move to cancel.'
        output.result({ canceled: isCanceled }, outcome)
        return 0
      }
      const { options: next, warnings } = await settingsIn(file)
      for (const warning of warnings) output.note(`inlay: ${warning}`)
      const to = await open(next)
      const findings = await checkMove({ stores: from, options: own }, { stores: to, options: next })
      const isOnlyCheck = given['check'] === true
      for (const finding of findings)
        if (!output.isJson && (isOnlyCheck || finding.status !== 'ok')) showFinding(output, finding)
      if (isOnlyCheck || hasFailed(findings)) {
        if (output.isJson) output.json(findings)
        return hasFailed(findings) ? 1 : 0
      }
      const moved = await moveData(from, to, {
        places: { from: placeOf(own), to: placeOf(next) },
        signal,
        onStep: steps(context),
      })
      if (output.isJson) output.json(moved)
      else tellMoved(context, moved.rows, moved.readOnlyMs)
      if (moved.documentsWithoutPassages > 0)
        output.note(
          `${moved.documentsWithoutPassages} documents had no passages here: the new installation indexes them.`,
        )
      if (moved.filesWithoutBytes > 0)
        output.note(`${moved.filesWithoutBytes} files lacked bytes here, too: see inlay doctor --deep.`)
      return 0
    } finally {
      await closeAll(opened)
    }
  },
}

/** Other variables, such as keys of providers, come from this process. @throws INVALID_INPUT */
async function settingsIn(file: string): Promise<Settings> {
  const text = await textIn(file)
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('INLAY_'))
  return readSettings({ ...Object.fromEntries(others), ...parseEnv(text.replace(/^\uFEFF/, '')) })
}

const placeOf = (options: InlayOptions): string =>
  engineLines(options).join('; ') || `the data folder ${options.dataFolder}`

function steps({ output }: CommandContext): (what: string, total: number) => (done: number) => void {
  return (what, total) => {
    const progress = output.progress(what, total)
    return (done) => {
      progress.to(done)
      if (done >= total) progress.end()
    }
  }
}

function tellMoved({ output }: CommandContext, rows: Readonly<Record<string, number>>, readOnlyMs: number): void {
  const of = (table: string): number => rows[`inlay_${table}`] ?? 0
  output.line(
    `${of('documents')} documents, ${of('chat_sessions')} sessions, ${of('chat_messages')} messages and ${of('files')} ` +
      `files are in the new place, counted and compared.`,
  )
  output.line(
    `Writes are refused here, the last ${(readOnlyMs / 1000).toFixed(1)} s of the move and from now on: stop the servers, ` +
      'and start them with the new settings.',
  )
}
