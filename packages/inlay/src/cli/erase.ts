import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { needData, withInlay } from './with-inlay.ts'

export const erase: Command = {
  ...commandTable.erase,
  isLocal: 'the API has no route for it; run inlay erase on the machine of the server',
  details: [
    'Specify the id returned by authenticate, or the owner of a key (see inlay keys list).',
    'Deletes sessions, files, projects, agents, memories, settings and keys, but not documents. This cannot be undone.',
  ],
  words: [1, 1],
  needs: 'the id of a person',
  options: {},
  async run(context) {
    await needData(context)
    return withInlay(context, async (inlay) => {
      const [person = ''] = context.words
      const erased = await inlay.erase(person)
      const counts = Object.entries(erased).map(([kind, count]) => `${kind}: ${count}`)
      context.output.result({ person, ...erased }, counts.join(', '))
      return 0
    })
  },
}
