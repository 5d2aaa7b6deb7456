import { expect, test } from 'vitest'
import { extractiveModel } from '@inlay/extractive'

interface Passage {
  readonly title: string
  readonly content: string
  readonly updated_at?: string
}

/** What the model answers to a question when a search found these passages. */
async function answer(question: string, ...passages: readonly Passage[]): Promise<string> {
  const results = passages.map((passage, index) => ({ document: index + 1, ...passage }))
  const output = { type: 'text', value: JSON.stringify({ results }) } as const
  const call = { toolCallId: 'c', toolName: 'internal_search' }
  const { content } = await extractiveModel().doGenerate({
    prompt: [
      { role: 'user', content: [{ type: 'text', text: question }] },
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
    ],
  })
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

const refusal = 'I could not find an answer to this in the documents.'

const ferries = {
  title: 'Ferries',
  content:
    '# Ferries\n\n## Winter\n\nFerries to Aldersund sail twice a day in winter. Tickets are sold on board.\n\n' +
    '## Bicycles\n\nBicycles travel on the lower deck. A bicycle needs a ticket of its own.\n\n' +
    '## Dogs\n\nDogs stay on the upper deck. Bicycles and dogs may not share a cabin.\n',
}
const robots = {
  title: 'Robots for rent',
  content:
    '# Robots for rent\n\n| Robot | Price | Weight | Battery |\n|---|---|---|---|\n| Heron | €1,200 | 14 kg | 3 h |\n' +
    '| Wren | €950.50 | 6 kg | 45 min |\n| Crane | €4,000 | 88 kg | 9 h |\n',
}

test('a name, a number or a code of the question that stands nowhere is refused', async () => {
  expect(await answer('How often do ferries to Bergskar sail in winter?', ferries)).toBe(refusal)
  expect(await answer('What does error E4711 of the ferries mean?', ferries)).toBe(refusal)
})

test('one sure sentence is quoted alone', async () => {
  expect(await answer('How often do ferries to Aldersund sail in winter?', ferries)).toBe(
    'Ferries to Aldersund sail twice a day in winter [1].',
  )
})

test('a long sentence is cut to the clauses that answer', async () => {
  const long = {
    title: 'Harbour',
    content: `The harbour was dredged by the town in 1907, ${'after many years of talk in the council, '.repeat(12)}and later it silted up.`,
  }
  const said = await answer('When was the harbour dredged by the town?', long)
  expect(said).toContain('dredged by the town in 1907')
  expect(said).toContain('…')
  expect(said.split(/\s+/).length).toBeLessThan(45)
})

test('the closest passages are quoted with page and heading, each with its citation', async () => {
  const said = await answer('Where do bicycles and strollers stay on deck?', ferries)
  expect(said).toMatch(/^The closest passages are:/)
  expect(said).toContain('**Ferries › Bicycles**\n\n> Bicycles travel on the lower deck [1].')
  expect(said.match(/^\*\*/gm)!.length).toBeLessThanOrEqual(3)
  for (const line of said.split('\n').filter((line) => /^> \w/.test(line))) expect(line).toMatch(/\[1\]\.$/)
})

test('an overview shows the headings of the page with their first sentences', async () => {
  const said = await answer('Summarise the ferries', ferries)
  for (const line of [
    '- **Winter**: Ferries to Aldersund sail twice a day in winter [1].',
    '- **Bicycles**: Bicycles travel on the lower deck [1].',
    '- **Dogs**: Dogs stay on the upper deck [1].',
  ])
    expect(said).toContain(line)
})

test('all of a list or table are listed', async () => {
  const said = await answer('List all robots', robots, ferries)
  for (const name of ['Heron', 'Wren', 'Crane']) expect(said).toMatch(new RegExp(`^- ${name}: .*\\[1\\]\\.$`, 'm'))
})

test('row and column of a table are looked up', async () => {
  expect(await answer('What does the Heron cost?', ferries, robots)).toBe('Heron: Price €1,200 [2].')
  expect(await answer('What is the weight of the Crane?', robots)).toBe('Crane: Weight 88 kg [1].')
})

test.each([
  ['Which robot is the cheapest?', 'Wren: Price €950.50 [1].'],
  ['Which is the most expensive robot?', 'Crane: Price €4,000 [1].'],
  ['Which robot has the lowest weight?', 'Wren: Weight 6 kg [1].'],
])('most and least are computed: %s', async (question, expected) => {
  expect(await answer(question, robots)).toBe(expected)
})

test('values of different units are not compared', async () => {
  expect(await answer('Which robot has the highest battery?', robots)).not.toMatch(/^(?:Crane|Wren|Heron): Battery/)
})

const shell = {
  title: 'tidy',
  content:
    '# tidy\n\n- Delete all files in a folder recursively and list them:\n\n`rm -rf {{folder}}`\n\n' +
    '- Show the version of the files in a folder:\n\n`tidy --version`\n',
}

test('a command that destroys is quoted only when the question asks for that', async () => {
  expect(await answer('How do I list all files in a folder recursively?', shell)).not.toContain('rm -rf')
  expect(await answer('How do I delete all files in a folder recursively?', shell)).toContain('rm -rf')
})

test('the opposite of what is asked is not quoted', async () => {
  const unzip = {
    title: 'unzip',
    content: '# unzip\n\n- Extract a zip file into a folder:\n\n`unzip {{file.zip}} -d {{folder}}`\n',
  }
  expect(await answer('How do I zip a folder?', unzip)).not.toContain('unzip {{')
  expect(await answer('How do I unzip a file into a folder?', unzip)).toContain('unzip {{')
})

test('of near-identical passages the newest is read', async () => {
  const policy = (year: number, days: number): Passage => ({
    title: `Remote work policy ${year}`,
    content: `Staff may work remotely ${days} days a week. Ask your manager before the first week begins.`,
    updated_at: `${year}-01-01T00:00:00Z`,
  })
  const said = await answer('How many days a week may staff work remotely?', policy(2022, 2), policy(2025, 3))
  expect(said).toContain('3 days a week [2]')
  expect(said).not.toContain('2 days')
})
