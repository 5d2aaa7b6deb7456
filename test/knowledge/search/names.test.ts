import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { createKnowledge } from '@inlay/knowledge'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeRecords, request } from '../setup.ts'

interface Page {
  readonly title: string
  readonly text: string
}

/** Titles of what is found for a query, best first. */
async function searchIn(pages: readonly Page[]): Promise<(query: string) => Promise<string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-names-'))
  const index = lancedbIndex({ folder })
  const knowledge = createKnowledge({ db: await makeRecords(), index, onError: () => {}, worker: { lingerMs: 0 } })
  onTestFinished(async () => {
    await knowledge.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await knowledge.start()
  await Promise.all(
    pages.map(({ title, text }, at) =>
      knowledge.accept(request({ id: `page ${at}`, semantic_identifier: title, title, text })),
    ),
  )
  await knowledge.whenIdle()
  return async (query) => {
    const passages = await knowledge.search({ text: query, limit: 10 })
    return passages.map(({ document }) => document.semantic_identifier)
  }
}

/** Numbers that are the same each time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

const filling = [
  'The team met on Monday to talk about the budget and a new office.',
  'Deliveries leave the warehouse at noon, and the rest of them a day later.',
  'A ticket is closed when the person who opened it says that it is solved.',
  'Before a release, somebody else reads the changes and runs the checks.',
]

async function missesOf(pages: readonly Page[], queries: readonly (readonly [string, string])[]): Promise<string[]> {
  const titlesFor = await searchIn(pages)
  const misses: string[] = []
  for (const [query, title] of queries) {
    const [first] = await titlesFor(query)
    if (first !== title) misses.push(`${query}: ${first ?? 'nothing'}`)
  }
  return misses
}

describe('codes', () => {
  test('a hexadecimal code finds its document first, whatever letters it holds', async () => {
    const random = randomOf(7)
    const codes = Array.from({ length: 60 }, () =>
      Array.from({ length: 7 }, () => Math.floor(random() * 16).toString(16)).join(''),
    )
    const pages = codes.map((code, at) => ({
      title: `Report ${at}`,
      text: `${filling[at % 4]!} See change ${code} for details. ${filling[(at + 1) % 4]!}`,
    }))
    const queries = codes.flatMap((code, at) =>
      [code, `commit ${code}`].map((query) => [query, `Report ${at}`] as const),
    )
    expect(await missesOf(pages, queries)).toEqual([])
  })

  test('article numbers are told apart in French', async () => {
    const numbers = Array.from({ length: 40 }, (_, at) => `L${120 + Math.floor(at / 8)}-${1 + (at % 8)}`)
    const pages = numbers.map((number, at) => ({
      title: `Article ${number}`,
      text: `Le salarié a droit à un congé dans les conditions de l'article ${
        numbers[(at + 11) % 40]!
      } du code. Il en fait la demande à l'employeur.`,
    }))
    const queries = numbers.flatMap((number) =>
      [`article ${number}`, `que dit l'article ${number} du code ?`].map(
        (query) => [query, `Article ${number}`] as const,
      ),
    )
    expect(await missesOf(pages, queries)).toEqual([])
  })

  test('versions, error numbers and paths match as a whole', async () => {
    const pages = [
      ...['3.12.1', '3.1.12', '12.3.1', '1.3.12', '31.2.1'].map((version) => ({
        title: `Notes on ${version}`,
        text: `What changed in ${version}. ${filling[1]!}`,
      })),
      ...['ORA-00942', 'ORA-00924', 'ORA-09420'].map((code) => ({
        title: `Database ${code}`,
        text: `The message ${code} means that a step failed. ${filling[2]!}`,
      })),
      ...['/etc/nginx/nginx.conf', '/etc/nginx/conf.d', '/nginx/etc/conf'].map((path) => ({
        title: `About ${path.replaceAll('/', '>')}`,
        text: `Edit ${path} and start again. ${filling[3]!}`,
      })),
    ]
    expect(
      await missesOf(pages, [
        ...['3.12.1', '3.1.12', '12.3.1', '1.3.12', '31.2.1'].flatMap(
          (version) =>
            [
              [version, `Notes on ${version}`],
              [`what is new in v${version}`, `Notes on ${version}`],
            ] as const,
        ),
        ...['ORA-00942', 'ORA-00924', 'ORA-09420'].map((code) => [`error ${code}`, `Database ${code}`] as const),
        ['/etc/nginx/nginx.conf', 'About >etc>nginx>nginx.conf'],
        ['/etc/nginx/conf.d', 'About >etc>nginx>conf.d'],
        ['/nginx/etc/conf', 'About >nginx>etc>conf'],
      ]),
    ).toEqual([])
  })
})

describe('frequent words that are names', () => {
  const pages = [
    { title: 'Who does what', text: 'The head of IT is Ada Brown. The head of sales is Max Gray.' },
    { title: 'Heads', text: 'The head of sales leads the head office. Each head of a team reports to it.' },
    { title: 'Travel', text: 'For journeys to the US a visa is needed. It takes a week.' },
    { title: 'Contact', text: 'Contact us at any time: write to us or call us.' },
    { title: 'Health', text: 'We follow the WHO guidelines on clean air.' },
    { title: 'Guidelines', text: 'The guidelines for authors: guidelines on style, guidelines on length.' },
    { title: 'Logic', text: 'Join statements with `-and`, `-or` and `-not`; the result is true or false.' },
    { title: 'Copying', text: 'With -Recurse a folder is copied with all it holds.' },
    { title: 'Recursion', text: 'A recursive function calls itself; recursion ends, recursively, at a base case.' },
    { title: 'IT helpdesk', text: 'Call 4711.' },
    { title: 'Work of the helpdesk', text: 'The helpdesk answers. A helpdesk is staffed by helpdesk people of IT.' },
    { title: 'The Who', text: 'A band from London.' },
    { title: 'C++ style', text: 'How we write C++ here.' },
    { title: 'C style', text: 'How we write C here, and how C code is laid out in C files.' },
  ]
  test('count in capitals, with a sign in front, and when they are all there is', async () => {
    expect(
      await missesOf(pages, [
        ['head of IT', 'Who does what'],
        ['US visa', 'Travel'],
        ['US', 'Travel'],
        ['WHO guidelines', 'Health'],
        ['WHO', 'Health'],
        ['-and -or -not', 'Logic'],
        ['-Recurse', 'Copying'],
        ['the who', 'The Who'],
        ['who does what', 'Who does what'],
        ['C++', 'C++ style'],
      ]),
    ).toEqual([])
  })

  test('a title that is the query comes first', async () => {
    expect(
      await missesOf(
        [
          ...pages,
          ...['about_Operators', 'about_Operator_Precedence', 'about_Logical_Operators'].map((title, at) => ({
            title,
            text:
              at === 0 ? 'A short page.' : 'Operators and operators, about operators: see about_Operators. '.repeat(3),
          })),
        ],
        [
          ['IT helpdesk', 'IT helpdesk'],
          ['it helpdesk', 'IT helpdesk'],
          ['about_Operators', 'about_Operators'],
          ['about operators', 'about_Operators'],
        ],
      ),
    ).toEqual([])
  })
})

test('parts of identifiers find the whole, however it is written', async () => {
  expect(
    await missesOf(
      [
        { title: 'Listing', text: 'Run Get-ChildItem to list a folder.' },
        { title: 'Pushing', text: 'Call push_str to add to a text.' },
        { title: 'Headers', text: 'parseHTTPHeader reads one line.' },
        ...filling.map((text, at) => ({ title: `Filling ${at}`, text })),
      ],
      [
        ['ChildItem', 'Listing'],
        ['GetChildItem', 'Listing'],
        ['pushStr', 'Pushing'],
        ['push-str', 'Pushing'],
        ['HTTPHeader', 'Headers'],
        ['parse_http_header', 'Headers'],
      ],
    ),
  ).toEqual([])
})
