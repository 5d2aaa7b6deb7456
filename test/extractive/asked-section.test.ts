import { expect, test } from 'vitest'
import { answer, refusal } from './found-passages.ts'

const help = {
  title: 'Help',
  content:
    '# Help\n\n## What does Quill cost? Is there a discount?\n\nA seat is nine euros a month. Schools pay half of it.\n\n' +
    '## How do I install Quill?\n\nRun this:\n\n```sh\nquill setup\n```\n\nSee Getting started.\n\n' +
    '## How do I reset my password? What if I lost my key?\n\nPress Forgotten on the first page. A mail arrives at once.\n\n' +
    '## Who made Quill?\n\nTwo sisters from Turin.\n',
}
const prices = {
  title: 'Storage of Quill',
  content: 'Each lookup costs a little memory. Quill keeps what it costs in a table, and the cost falls with time.',
}

test.each([
  ['What does it cost?', 'A seat is nine euros a month [2]. Schools pay half of it [2].'],
  ['How much does Quill cost?', 'A seat is nine euros a month [2]. Schools pay half of it [2].'],
  ['Are there discounts?', 'A seat is nine euros a month [2]. Schools pay half of it [2].'],
  ['How do I reset my password?', 'Press Forgotten on the first page [2]. A mail arrives at once [2].'],
  ['Who made it?', 'Two sisters from Turin [2].'],
])('%s: what stands under the heading that asks it answers, and nothing else', async (question, expected) => {
  expect(await answer(question, prices, help)).toBe(expected)
})

test('code of the section is part of the answer, where to read on is not', async () => {
  const installed = await answer('How do I install it?', prices, help)
  expect(installed).toContain('```sh\nquill setup\n```')
  expect(installed).not.toContain('Getting started')
})

test('a heading that asks for more, or for something else, does not answer', async () => {
  for (const question of ['Who reset the password?', 'Is there a discount for nurses?'])
    expect(await answer(question, prices, help)).not.toMatch(/^(?:Press|A seat|Two sisters)/)
})

test('a word that is on every page still belongs to the question', async () => {
  const support = { title: 'Help', content: '## How do I get support?\n\nWrite to the desk.\n' }
  const others = ['A language model reads it.', 'Another language model waits.', 'Each language model has a name.']
  const passages = [support, ...others.map((content, at) => ({ title: `Chapter ${at}`, content }))]
  expect(await answer('Which languages does it support?', ...passages)).not.toMatch(/^Write to the desk/)
})

test('headings in other languages answer as well', async () => {
  const hilfe = {
    title: 'Hilfe',
    content: '## Was kostet Quill?\n\nNeun Euro im Monat.\n\n## Wie installiere ich Quill?\n\nMit einem Befehl.\n',
  }
  expect(await answer('Was kostet es?', hilfe)).toBe('Neun Euro im Monat [1].')
})

/** Pages that each say a word by the way, in a sentence of their own. */
const pages = (sentences: readonly string[]): { title: string; content: string }[] =>
  sentences.map((content, at) => ({ title: `Chapter ${at}`, content }))

test('a word that is said in passing everywhere is no answer to a short question', async () => {
  const inPassing = pages([
    'The editor saves drafts fast until the writer publishes them. Others see them later.',
    'A fast disk helps when indexes are folded. Rows wait in a queue before that.',
    'Tables hold terms and their positions. A fast reader takes no lock.',
    'The gate lets fast searches pass in turn. Who waits too long is refused.',
    'Backups copy fast changing records first. Blobs follow in the order of their names.',
  ])
  expect(await answer('How fast is it?', ...inPassing)).toBe(refusal)
})

test('a short question is answered where a title names what it is about', async () => {
  const speed = { title: 'Speed', content: 'The speed of a search depends on the disk. Three milliseconds are usual.' }
  const others = pages([
    'The editor keeps drafts until the writer publishes them.',
    'Rows wait in a queue before they are folded.',
    'Tables hold terms and their positions.',
    'The gate lets searches pass in turn.',
  ])
  expect(await answer('How is the speed?', speed, ...others)).toContain(
    'The speed of a search depends on the disk [1].',
  )
})

test('a section is recognised by its heading behind a number', async () => {
  const leaving = {
    title: 'Leaving',
    content: '## 3.2. Leaving\n\n- Orphan all your packages first.\n- Return your badge.\n',
  }
  const packages = {
    title: 'Packages',
    content:
      '## 5.9. Removing packages\n\nAsk first.\n\n## 5.9.4. Orphaning a package\n\nSet the maintainer to the quality team.\n',
  }
  expect(await answer('How do I orphan a package?', leaving, packages)).toBe(
    'Set the maintainer to the quality team [2].',
  )
})
