import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InlayOptions } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { expect, onTestFinished, test } from 'vitest'
import type { StandIn } from '../../stand-in/model-server.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import { key, serve } from './installation.ts'

const documents = {
  port: 'The port of Nordhavn was founded in 1867 by Clara Jensen. It has 14 cranes.',
  library: 'The city library lends 40,000 books. Members may keep a book for four weeks.',
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-eval-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** An installation with the documents, over HTTP. @returns its address */
async function serveDocuments(dataFolder: string, options: InlayOptions = {}): Promise<string> {
  const { base } = await serve({ dataFolder, worker: { lingerMs: 1 }, ...options })
  for (const [id, text] of Object.entries(documents)) {
    const document = { id, semantic_identifier: id, source: 'file', sections: [{ text }], metadata: {} }
    const response = await fetch(`${base}/service-api/ingestion`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, prefer: 'wait=60', 'content-type': 'application/json' },
      body: JSON.stringify({ document }),
    })
    expect(response.status).toBe(200)
  }
  return base
}

const questions = [
  { question: 'Who founded the port of Nordhavn?', answer: 'Clara Jensen', source: 'port' },
  { question: 'How many books does the city library lend?', answer: ['40,000', '40000'], document: 'library' },
  { question: 'Which tram goes to the zoo of Malmö?', absent: true },
]

function writeQuestions(lines: readonly unknown[] = questions): string {
  const file = join(newFolder(), 'questions.jsonl')
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  return file
}

async function run(...words: string[]): Promise<{ code: number; printed: string; said: string }> {
  let [printed, said] = ['', '']
  const code = await runCommandLine(['eval', ...words], {
    env: () => ({}),
    stdout: { write: (text) => (printed += text) },
    stderr: { write: (text) => (said += text) },
    signal: new AbortController().signal,
  })
  return { code, printed, said }
}

test('the built-in model is scored over HTTP, and in a data folder alike', async () => {
  const folder = newFolder()
  const base = await serveDocuments(folder)
  const figures = {
    questions: 3,
    failed: 0,
    contains: 1,
    right_source: 1,
    citation_precision: 1,
    refused: 1,
    uncited: 0,
    tool_calls: 1,
  }
  const { code, printed } = await run(writeQuestions(), base, '--key', key, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(printed)).toMatchObject({ name: base, figures, results: [{ contains: true }, {}, {}] })
  const inFolder = await run(writeQuestions(), '--data', folder, '--json')
  expect(JSON.parse(inFolder.printed)).toMatchObject({ figures })
})

/** A model that searches and then says the same to everything, and judges that nothing is so. */
async function startModel(text: string): Promise<StandIn> {
  const model = await startOpenAi((request) => {
    const body = JSON.stringify(request.body)
    if (body.includes('Do the passages below say')) return [{ text: 'NO' }]
    if (body.includes('"role":"tool"')) return [{ text }]
    return [{ calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['port founded'] } }] }]
  })
  onTestFinished(() => model.close())
  return model
}

test('questions that something was tuned on are told apart', async () => {
  const folder = newFolder()
  const base = await serveDocuments(folder)
  const lines = [
    ...questions,
    { question: 'How many cranes has the port?', answer: 'ninety', source: 'port', tuned: true },
  ]
  const { printed } = await run(writeQuestions(lines), base, '--key', key, '--json')
  expect(JSON.parse(printed)).toMatchObject({
    figures: { questions: 3, contains: 1 },
    untuned: { questions: 3, contains: 1 },
    tuned: { questions: 1, contains: 0, right_source: 1 },
  })
  const table = await run(writeQuestions(lines), base, '--key', key)
  expect(table.printed).toMatch(/, untuned +.*, tuned\n/)
  expect(table.printed).toMatch(/^answer contains +1\.000 +0\.000$/m)
  // With one kind only, there is nothing to compare.
  const plain = await run(writeQuestions(), base, '--key', key, '--json')
  expect(JSON.parse(plain.printed)).not.toHaveProperty('untuned')
})

test('two models stand side by side in a table, with what is wrong', async () => {
  const model = await startModel('It was Karl Hansen, in 1902 [1].')
  const base = await serveDocuments(newFolder(), {
    model: { name: 'wrong', provider: 'local', baseUrl: `${model.origin}/v1`, grounding: 'tools' },
    searchHelp: { expand: false },
  })
  const words = ['--key', key, '--model', 'local/wrong', '--against-model', 'inlay/extractive']
  const { code, printed } = await run(writeQuestions(), base, ...words, '--judge', 'local/wrong', '--show', '1')
  expect(code).toBe(0)
  const row = (label: string): string[] =>
    printed
      .split('\n')
      .find((line) => line.startsWith(label))!
      .slice(label.length)
      .trim()
      .split(/\s{2,}/)
  expect(row(' '.repeat(27))).toEqual(['local/wrong', 'inlay/extractive'])
  expect(row('answer contains')).toEqual(['0.000', '1.000'])
  expect(row('citations right, by words')).toEqual(['0.000', '1.000'])
  expect(row('citations right, by a model')).toEqual(['0.000', '0.000'])
  expect(row('refused when absent')).toEqual(['0.000', '1.000'])
  expect(printed).toContain('It has no known answer')
})

test('an earlier report is compared with, and an installation that is gone fails every question', async () => {
  const base = await serveDocuments(newFolder())
  const file = writeQuestions()
  const earlier = join(newFolder(), 'earlier.json')
  writeFileSync(earlier, (await run(file, base, '--key', key, '--json')).printed)
  const { code, printed } = await run(file, base, '--key', 'a-wrong-key-given', '--against-report', earlier)
  expect(code).toBe(1)
  expect(printed).toMatch(/failed +3 +0\n/)
  expect(printed).toMatch(/: 3 of 3 failed\. The first: \S/)
})

test.each([
  ['a line that is no question', ['{"question": ""}'], 'Line 1'],
  ['no question at all', ['', ' '], 'no question'],
])('%s is said', async (_, lines, expected) => {
  const { code, said } = await run(writeQuestions(lines), 'http://127.0.0.1:1/api')
  expect(code).toBe(1)
  expect(said).toContain(expected)
})
