import { InlayError } from '@inlay/protocol'
import type { MigrationMode, MigrationStep } from '@inlay/records'
import { engineAddresses, indexPlaceOf } from '../options/engines.ts'
import { closeAll, type Closable } from '../parts/destroy-parts.ts'
import { misuse, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { needData, readsOnly, withInlay } from './with-inlay.ts'
import { flag } from './shared-options.ts'

/** Migrates the tables without serving, for instance with a role that owns them. */
export const migrate: Command = {
  ...commandTable.migrate,
  isLocal: 'run inlay migrate where the settings name the database',
  details: [
    'Every start does the same, unless its role may not change tables. Processes of the version before go on meanwhile.',
    '--check exits with 1 if a start has to expand the tables first.',
    '--contract also removes what only the version before needs; after that it cannot be started any more.',
  ],
  words: [0, 0],
  options: {
    check: flag('print the steps that are due, and change nothing'),
    contract: flag('also remove what the version before needs, once its processes have ended'),
  },
  async run(context) {
    const isCheck = context.options['check'] === true
    const isContraction = context.options['contract'] === true
    if (isCheck && isContraction) throw misuse('--check already lists what --contract does: leave one of them out.')
    if (isCheck) await needData(context)
    const steps = await migrateRecords(context, isCheck ? 'check' : isContraction ? 'contract' : 'expand')
    const { database, index = database ?? '' } = engineAddresses(context.settings.options)
    // The first search makes the tables of the index.
    if (!isCheck && indexPlaceOf(index)?.engine === 'pgvector')
      await withInlay(context, (inlay) => inlay.knowledge.search({ text: 'inlay', limit: 1 }), readsOnly)
    report(context, steps, isCheck)
    return isCheck && steps.some(({ phase }) => phase === 'expand') ? 1 : 0
  },
}

async function migrateRecords({ settings }: CommandContext, mode: MigrationMode): Promise<readonly MigrationStep[]> {
  const [{ openRecords }, { migrateAll, processRecord }] = await Promise.all([
    import('../parts/records-of-folder.ts'),
    import('../parts/open-tables.ts'),
  ])
  const opened: Closable[] = []
  try {
    const { db, clock } = await openRecords(settings.options, opened)
    if (mode !== 'contract') return await migrateAll(db, mode)
    const expanded = await migrateAll(db, 'expand')
    const others = await processRecord(db, clock.now).otherVersions()
    if (others.length > 0)
      throw new InlayError('CONFLICT', {
        message:
          `Processes of version ${others.join(' and ')} still use the tables: stop them first. One that was killed ` +
          'on another machine counts as gone after 30 minutes.',
      })
    return [...expanded, ...(await migrateAll(db, 'contract'))]
  } finally {
    await closeAll(opened.toReversed())
  }
}

function report({ output }: CommandContext, steps: readonly MigrationStep[], isCheck: boolean): void {
  if (output.isJson) return output.json(steps)
  const done = isCheck ? 'due' : 'done'
  for (const { plan, name, phase } of steps) output.line(`${phase} ${plan}/${name}: ${done}`)
  if (steps.length === 0) output.line('The tables are up to date.')
  else if (isCheck && steps.every(({ phase }) => phase === 'contract'))
    output.line('A start expands nothing. What only the version before needs goes with inlay migrate --contract.')
}
