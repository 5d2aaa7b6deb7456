import { createClient } from '@inlay/client'
import { createInlay } from 'inlay'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../bench/typos.ts'
import { temporaryFolder } from './process.ts'

const tools = 'brevix cordal dunlo fenwick garrow hestil jorvik kestor lumber marlin nortek ostler pendle quarry'.split(
  ' ',
)
const tasks = [
  'List all stored parcels',
  'Remove one or more expired tickets',
  'Rename a harbour',
  'Copy a ledger to another machine',
  'Compress a folder of photographs',
  'Verify the signature of a contract',
  'Show the last ten arrivals',
  'Schedule a backup for every night',
]
/** Commands that no page describes. */
const unanswered = [
  'How do I tune a piano string with ravelin?',
  'How do I convert audio to stereo with solveig?',
  'How do I trim the hedge of a garden with tamber?',
  'How do I bake a sourdough loaf with ravelin?',
  'How do I draw a contour map with solveig?',
  'How do I resize a video clip with tamber?',
  'How do I translate a poem with ravelin?',
  'How do I sharpen a kitchen knife with solveig?',
  'How do I calibrate a telescope with tamber?',
  'How do I paint a wooden fence with ravelin?',
]
const verbs = 'ls rm mv cp pack verify tail cron'.split(' ')

interface Task {
  readonly question: string
  readonly page: string
  readonly command: string
}

const random = seededRandom(7)
const pages = tools.map((tool) => {
  // Each tool has five of the tasks, so that other tools answer to the same words.
  const own = tasks.map((text, at) => ({ text, verb: verbs[at]! })).filter(() => random() < 0.7)
  const list = own.map(({ text, verb }) => ({ text, command: `${tool} ${verb} --${verb}-mode {{name}}` }))
  const items = list.map(({ text, command }) => `- ${text}:\n\n\`${command}\``)
  return { tool, list, text: `# ${tool}\n\n> Works with what a port office keeps.\n\n${items.join('\n\n')}` }
})
const questions = pages.flatMap(({ tool, list }) =>
  list.map(({ text, command }): Task => {
    return { question: `How do I ${text[0]!.toLowerCase()}${text.slice(1)} with ${tool}?`, page: tool, command }
  }),
)

const folder = temporaryFolder()
const inlay = createInlay({ dataFolder: folder.path, apiKey: 'key-of-the-office' })
const client = createClient({
  baseUrl: 'http://host.example/api',
  apiKey: 'key-of-the-office',
  fetch: (input: string, init: RequestInit) => inlay.fetch(new Request(input, init)),
})

beforeAll(async () => {
  for (const { tool, text } of pages)
    await client.ingest({ id: tool, semantic_identifier: tool, metadata: {}, sections: [{ text }] })
  await inlay.knowledge.whenIdle()
})
afterAll(async () => {
  await inlay.close()
  folder.remove()
})

test('asked how to do something with a tool, the answer holds the command, and its page is cited first', async () => {
  expect(questions.length).toBeGreaterThan(60)
  const counts = { commands: 0, pages: 0 }
  for (const { question, page, command } of questions) {
    const { answer, answer_citationless: text, citation_info: citations } = await client.ask({ message: question })
    if (answer.includes(command)) counts.commands++
    if (citations[0]?.document_id === page) counts.pages++
    expect(text.trim(), question).not.toMatch(/:$/)
  }
  expect(counts.commands / questions.length).toBeGreaterThanOrEqual(0.85)
  expect(counts.pages / questions.length).toBeGreaterThanOrEqual(0.95)
})

test('asked about what no page is about, no command is offered', async () => {
  for (const message of unanswered) {
    const { answer, citation_info: citations } = await client.ask({ message })
    expect(answer, message).not.toMatch(/--\w+-mode/)
    expect(citations, message).toEqual([])
  }
})
