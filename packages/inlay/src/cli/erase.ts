import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { withInlay } from './with-inlay.ts'

/** Erases what belongs to a person. */
export const erase: Command = {
  ...commandTable.erase,
  details: [
    'The person is the id that authenticate gives, or the owner of a key (see inlay keys list).',
    'Sessions, files, projects, agents, memories, settings and keys go; documents stay. This cannot be undone.',
  ],
  words: [1, 1],
  needs: 'the id of a person',
  options: {},
  run: (context) =>
    withInlay(context, async (inlay) => {
      const [person = ''] = context.words
      const erased = await inlay.erase(person)
      if (context.output.isJson) context.output.json({ person, ...erased })
      else
        context.output.line(
          Object.entries(erased)
            .map(([kind, count]) => `${kind}: ${count}`)
            .join(', '),
        )
      return 0
    }),
}
