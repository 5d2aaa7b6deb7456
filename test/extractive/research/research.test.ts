import type { LanguageModelV4CallOptions, LanguageModelV4Content, LanguageModelV4Message } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { extractiveModel } from '@inlay/extractive'
import { planResearch } from '@inlay/extractive/internal/research/plan'

describe('a plan', () => {
  test.each<[string, readonly string[]]>([
    ['How many days of leave do I get?', ['How many days of leave do I get?']],
    ['Who is the director?', ['Who is the director?']],
    [
      'What kinds of leave are there and how do I apply?',
      [
        'What is leave?',
        'What kinds of leave are there?',
        'How do I apply (leave)?',
        'What are the requirements and limits of leave?',
        'What problems and errors occur with leave?',
      ],
    ],
    [
      'How do I apply for leave?',
      [
        'What is leave?',
        'How do I apply for leave?',
        'What are the requirements and limits of leave?',
        'What problems and errors occur with leave?',
      ],
    ],
    ['Why does Rust need lifetimes?', ['Why does Rust need lifetimes?']],
    [
      'How do I write advanced functions?',
      [
        'What are advanced functions?',
        'How do I write advanced functions?',
        'What are the requirements and limits of advanced functions?',
        'What problems and errors occur with advanced functions?',
      ],
    ],
    [
      'PowerShell error handling',
      [
        'What is PowerShell error handling?',
        'How is PowerShell error handling used?',
        'What are the options and settings of PowerShell error handling?',
        'What are the requirements and limits of PowerShell error handling?',
      ],
    ],
    ['Compare Postgres and SQLite', ['What is Postgres?', 'What is SQLite?', 'Compare Postgres and SQLite']],
    [
      'Research our leave policy. What are the carry-over rules? Which exceptions exist?',
      ['What is leave policy?', 'What are the carry-over rules?', 'Which exceptions exist?'],
    ],
    [
      'Give me an overview of modules: how are they loaded and where do they live?',
      ['What are modules?', 'How are modules loaded?', 'Where do modules live?'],
    ],
    ['1. What is X\n2. How is X deployed\n3. Who owns it', ['What is X?', 'How is X deployed?', 'Who owns X?']],
    ['Wie funktioniert die Urlaubsplanung?', ['Wie funktioniert die Urlaubsplanung']],
    ['日本語の文書について教えてください', ['日本語の文書について教えてください']],
  ])('of %j', (question, tasks) => expect(planResearch([question])).toEqual(tasks))

  test('names what a question leans on', () => {
    expect(planResearch(['What is the borrow checker?', 'How does it handle slices?'])).toEqual([
      'How does borrow checker handle slices?',
    ])
  })

  test.each(['a ', 'and what ', '? ', 'what is ', 'give me a ', '1. ', ', how ', 'X. Y', '\n'])(
    'of a request full of %j is made like any other',
    (piece) => {
      const tasks = planResearch([piece.repeat(4_000 / piece.length)])
      expect(tasks.length).toBeLessThan(13)
    },
  )
})

type Phase = 'clarify' | 'plan' | 'orchestrate' | 'agent' | 'report' | 'final'

const user = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] })
const tool = (name: string): NonNullable<LanguageModelV4CallOptions['tools']>[number] => ({
  type: 'function',
  name,
  inputSchema: { type: 'object' },
})

async function play(
  research: Phase,
  prompt: LanguageModelV4Message[],
  tools: readonly string[] = [],
): Promise<LanguageModelV4Content[]> {
  const providerOptions = { inlay: { research } }
  return (await extractiveModel().doGenerate({ prompt, tools: tools.map(tool), providerOptions })).content
}

const said = (content: readonly LanguageModelV4Content[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')
const called = (content: readonly LanguageModelV4Content[]): [string, unknown][] =>
  content.flatMap((part) => (part.type === 'tool-call' ? [[part.toolName, JSON.parse(part.input)]] : []))

const answered = (name: string, value: string): LanguageModelV4Message[] => [
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: name, input: {} }] },
  {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'c', toolName: name, output: { type: 'text', value } }],
  },
]

describe('in a deep research it', () => {
  test('never asks back', async () => {
    expect(called(await play('clarify', [user('Leave?')], ['generate_plan']))).toEqual([['generate_plan', {}]])
  })

  test('gives the tasks of its plan out at once, each in a call of its own, then ends', async () => {
    const question = user('Compare Postgres and SQLite')
    const tools = ['research_agent', 'think_tool', 'generate_report']
    const first = await play('orchestrate', [question, user('Instructions for this turn:\nCall a tool.')], tools)
    expect(called(first)).toEqual(
      planResearch(['Compare Postgres and SQLite']).map((task) => ['research_agent', { task }]),
    )
    const ids = first.map((part) => (part.type === 'tool-call' ? part.toolCallId : ''))
    expect(new Set(ids).size).toBe(ids.length)
    const then = await play('orchestrate', [question, ...answered('research_agent', 'A report [1].')], tools)
    expect(called(then)).toEqual([['generate_report', {}]])
  })

  test('uses each search once, then reports', async () => {
    const tools = ['internal_search', 'web_search', 'generate_report']
    const task = user('What is Postgres?')
    const names: string[] = []
    let prompt = [task]
    for (let step = 0; step < 3; step++) {
      const [[name] = ['none']] = called(await play('agent', prompt, tools))
      names.push(name)
      prompt = [...prompt, ...answered(name, '{"results":[]}')]
    }
    expect(names).toEqual(['internal_search', 'web_search', 'generate_report'])
  })

  test('reports with the numbers of the results, and says so when they tell nothing', async () => {
    const results = JSON.stringify({
      results: [
        { document: 4, title: 'Leave policy', content: 'Staff receive 25 days of paid leave a year.' },
        { document: 7, title: 'Canteen', content: 'Lunch is served at noon.' },
      ],
    })
    const context = user(`Context found by internal_search for {"queries":["leave"]}:\n${results}`)
    expect(said(await play('report', [context, user('How many days of paid leave do staff receive?')]))).toBe(
      'Staff receive 25 days of paid leave a year [4].',
    )
    expect(said(await play('report', [context, user('Who repairs the telescope?')]))).not.toContain('[')
  })

  test('of an aspect only what speaks of it is reported', async () => {
    const content =
      'Paid leave is planned with the team. Paid leave must be requested six weeks ahead. Staff like paid leave in June.'
    const results = JSON.stringify({ results: [{ document: 2, title: 'Paid leave', content }] })
    const context = user(`Context found by internal_search for {"queries":["leave"]}:\n${results}`)
    const task = user('What are the requirements and limits of paid leave?')
    expect(said(await play('report', [context, task]))).toBe('Paid leave must be requested six weeks ahead [2].')
  })

  test('writes the final report from the reports, says nothing twice, and tells what is missing', async () => {
    const reports = user(
      [
        'Reports of the research on this request:',
        '',
        '<report>\n<task>What is paid leave?</task>\nStaff receive 25 days of paid leave a year [1]. Leave is planned in May [1].\n</report>',
        '',
        '<report>\n<task>What are the limits of paid leave?</task>\nStaff receive 25 days of paid leave a year [1].\n\nFive days carry over:\n\n- Until March [2].\n- With consent [2].\n</report>',
        '',
        '<report>\n<task>What problems occur with paid leave?</task>\nThe documents do not tell.\n</report>',
      ].join('\n'),
    )
    const request = user(
      'Instructions for this turn:\nWrite it. The research was ended early because it rained: say so.',
    )
    const text = said(await play('final', [user('Tell me about paid leave'), reports, request]))
    expect(text).toContain('## What are the limits of paid leave?')
    expect(text.split('25 days')).toHaveLength(2)
    expect(text).toContain('[2]')
    expect(text).toMatch(/Nothing was found on: What problems occur with paid leave\./)
    expect(text).toMatch(/ended early because it rained/)
  })
})
