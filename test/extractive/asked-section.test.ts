import { expect, test } from 'vitest'
import { answer, refusal } from './found-passages.ts'

test('a word that is on every page still belongs to the question', async () => {
  const support = { title: 'Help', content: '## How do I get support?\n\nWrite to the desk.\n' }
  const others = ['A language model reads it.', 'Another language model waits.', 'Each language model has a name.']
  const passages = [support, ...others.map((content, at) => ({ title: `Chapter ${at}`, content }))]
  expect(await answer('Which languages does it support?', ...passages)).not.toMatch(/^Write to the desk/)
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
