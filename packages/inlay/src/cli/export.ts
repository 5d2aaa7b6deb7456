import { resolve } from 'node:path'
import { misuse, type Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { dataFolderOf, needData, readsOnly, refuseInside, withInlay } from './with-inlay.ts'
import { flag } from './shared-options.ts'

export const exporting: Command = {
  ...commandTable.export,
  isLocal: 'the API has no route for it; run inlay export on the machine of the server',
  details: [
    'Writes JSON Lines, the files with their bytes, and manifest.json. A server may run meanwhile.',
    'Specify the id returned by authenticate, or the owner of a key; or --all for everybody, documents and settings.',
    'Holds no secrets, but all texts: protect it like the original.',
  ],
  words: [1, 2],
  needs: 'a person, or --all, and the folder to write to',
  options: { all: flag('everything, not what is of one person') },
  async run(context) {
    const { words, options, output, signal } = context
    const [folder = '', person] = words.toReversed()
    if ((options['all'] === true) !== (person === undefined))
      throw misuse('export needs a person or --all: inlay export ann@example.com ann, inlay export --all everything.')
    await needData(context)
    const target = { folder: resolve(folder), person, signal }
    refuseInside(dataFolderOf(context), target.folder, 'An export')
    const { rows, files, filesWithoutBytes } = await withInlay(context, (inlay) => inlay.export(target), readsOnly)
    const count = Object.values(rows).reduce((sum, each) => sum + each, 0)
    const summary = `${count} rows and ${files} files are in ${target.folder}.`
    output.result({ folder: target.folder, rows, files, filesWithoutBytes }, summary)
    if (count === 0) output.note(`Nothing is stored of ${person}. Is it the id that authenticate returns?`)
    if (filesWithoutBytes > 0) output.note(`${filesWithoutBytes} files lack bytes in their storage.`)
    return 0
  },
}
