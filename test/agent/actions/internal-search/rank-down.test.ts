import { describe, expect, test } from 'vitest'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import { newTurn } from '../../action-turn.ts'
import { newPassage } from '../../setting.ts'

const links = ['Start', 'Install', 'Configure', 'Upgrade', 'Remove'].map((name) => `- [${name}](${name}.md)`)
const pages = ['Start ........ 3', 'Install ...... 12', '2.1 Configure ... 40', 'Upgrade ...... 55']
const prose =
  'The office is open from nine to five on weekdays, and from ten to two on the first Saturday of each month. ' +
  'Ask at the desk for a card; it takes ten minutes and costs nothing, unless the old one was lost.'

/** Ids of what the model reads, best first, of texts that the search found in this order. */
async function order(texts: Readonly<Record<string, string>>): Promise<string[]> {
  const passages = Object.entries(texts).map(([id, text]) => newPassage(id, text))
  const action = createInternalSearch({ search: async () => passages })
  const { text } = await action.run({ queries: ['q'] }, newTurn().turn)
  const { results } = JSON.parse(text) as { results: { title: string }[] }
  return results.map(({ title }) => title.replace('Title of ', ''))
}

describe('what tells little is read last', () => {
  test.each([
    ['lists of links', `# Contents\n\n${links.join('\n')}`],
    ['contents with page numbers', pages.join('\n')],
  ])('%s', async (_name, contents) => {
    expect(await order({ contents, prose })).toEqual(['prose', 'contents'])
  })

  test('near-copies of a better section', async () => {
    const copy = prose.replace('was lost', 'is gone')
    expect(await order({ prose, copy, other: 'Lost cards cost five euros.' })).toEqual(['prose', 'other', 'copy'])
  })

  test('but not prose with some links, short texts, or texts that share a few words', async () => {
    const linked = `${prose}\n\n${links.slice(0, 2).join('\n')}\n\nThat is all.\n\nAsk us.\n\nOr do not.`
    const short = { one: 'Open from nine to five.', two: 'Open from nine to five!' }
    const similar = 'The office is open from nine to five on weekdays. Parking is free, and dogs have to stay outside.'
    expect(await order({ linked, ...short, similar })).toEqual(['linked', 'one', 'two', 'similar'])
  })
})
