import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { runCommandLine } from 'inlay/internal/cli/command-line'

const folder = mkdtempSync(join(tmpdir(), 'inlay-words-'))
const picture = join(folder, 'picture.png')
const old = join(folder, 'old.xls')
const data = join(folder, 'data')
mkdirSync(join(folder, 'empty'))
writeFileSync(picture, 'not text')
writeFileSync(old, 'not text')
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

async function run(
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const code = await runCommandLine(words, {
    env: () => ({ INLAY_DATA: data, ...env }),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: Readable.from([]),
    signal: new AbortController().signal,
  })
  return { code, out, err }
}

test.each([
  [['fly'], 2, /no command "fly".*serve, ingest, ask, chat, search, documents/],
  [['constructor'], 2, /no command/],
  [['search'], 2, /search needs words to search for\.\nUsage: inlay search/],
  [['ask'], 2, /ask needs a question\.\n/],
  [['ask', ''], 2, /The question is empty/],
  [['search', ' '], 2, /The search is empty/],
  [['ingest'], 2, /ingest needs the folders, files, patterns or URLs/],
  [['serve', 'now'], 2, /Unexpected argument "now"/],
  [['serch', 'x'], 2, /no command "serch"\. Did you mean search\?/],
  [['--data', folder, 'serch', 'x'], 2, /no command "serch"\. Did you mean search\?/],
  [['--limit', '3', 'search', 'x'], 2, /not every command has an option --limit\. Options of a command stand after/],
  [['--modle', 'x', 'ask'], 2, /not every command has an option --modle\. Did you mean --model\?/],
  [['--frob'], 2, /not every command has an option --frob\. Options/],
  [['ingset', 'x'], 2, /no command "ingset"\. Did you mean ingest\?/],
  [['search', 'x', '--josn'], 2, /^inlay: search has no option --josn\. Did you mean --json\?/],
  [['documents', 'shw', 'x'], 2, /documents has no action "shw"\. Did you mean show\?/],
  [['help', 'ingst'], 2, /no command "ingst"\. Did you mean ingest\?/],
  [['search', 'x', '--frob'], 2, /^inlay: search has no option --frob\. See inlay help search\.\nUsage: inlay search/],
  [['search', 'x', '--limt', '3'], 2, /^inlay: search has no option --limt\. Did you mean --limit\?/],
  [['search', 'x', '--limit'], 2, /^inlay: --limit needs a value\.\n/],
  [['search', 'x', '--help=yes'], 2, /^inlay: --help takes no value\.\n/],
  [['search', 'x', '--limit', '0'], 2, /--limit needs a number from 1 to 200/],
  [['serve', '--port', '99999'], 2, /--port needs a number/],
  [['ask', 'x', '--session', 'abc'], 2, /session_id/],
  [['ingest', join(folder, 'nowhere')], 1, /no file or folder/],
  [['ingest', ''], 2, /The name of a file or folder is empty\./],
  [['ingest', 'www.example.com'], 1, /no file or folder "www\.example\.com"\. URLs begin with http/],
  [['ingest', picture], 1, /picture\.png" is a picture: set INLAY_OCR/],
  [['ingest', folder, '--base-url', 'wiki'], 2, /--base-url requires a URL/],
  [['ingest', old], 1, /old\.xls" is of a kind that is not read: save it as \.xlsx\./],
  [['ingest', join(folder, '*.xls')], 1, /no file with a supported type .*Save \.xls as \.xlsx\./],
  [['keys', 'make'], 2, /keys has no action "make"\. There are list, create, rotate, revoke\./],
  [['keys', 'revoke'], 2, /keys revoke needs <id>\. Usage: inlay keys revoke <id>/],
  [['keys', 'create', 'x'], 2, /Unexpected argument "x"\. Usage: inlay keys create/],
  [['documents', 'delet', 'x'], 2, /documents has no action "delet"\. Did you mean delete\?/],
  [
    ['keys', 'list', '--limit=3'],
    2,
    /^inlay: keys list has no option --limit; keys create has one\. See inlay help keys\./,
  ],
  [['keys', '--name', 'x'], 2, /keys list has no option --name; keys create has one/],
  [['documents', 'retry', '--state', 'failed'], 2, /documents retry has no option --state; documents list has one/],
  [['documents', 'show'], 2, /documents show needs <id…>/],
  [['agents', 'update', 'x'], 2, /Usage: inlay agents update <name or number> <file>/],
  [['keys', 'revoke', 'x'], 2, /Specify a key by its number/],
  [['keys', 'create', '--scope', 'root'], 2, /chat, search, ingest, admin/],
  [['search', 'x', '--data', ''], 2, /--data needs/],
  [['search', 'x', '--data', picture], 1, /data folder cannot be used/],
  [['ask', 'x', '--data', '/proc/nope'], 1, /data folder cannot be used/],
])('%j ends with %i and a sentence', async (words, code, sentence) => {
  expect(await run(words)).toEqual({ code, out: '', err: expect.stringMatching(sentence) })
  for (const line of (await run(words)).err.split('\n')) expect(line).not.toMatch(/^\s+at /)
})

test('a folder without anything to read is told', async () => {
  expect(await run(['ingest', join(folder, 'empty')])).toEqual({
    code: 0,
    out: '',
    err: 'Looking for files.\nThere are no files to read.\n',
  })
})

test('a question to an empty folder says where it looked', async () => {
  const empty = join(folder, 'fresh')
  expect((await run(['ask', 'x', '--data', empty])).err).toContain(`There are no documents in ${empty} yet.`)
  expect((await run(['search', 'x', '--data', empty])).err).toContain(`There are no documents in ${empty} yet.`)
})

test.each([
  [['search', 'x']],
  [['documents', 'list']],
  [['documents', 'show', 'x']],
  [['documents', 'delete', 'x']],
  [['documents', 'retry']],
  [['agents', 'list']],
  [['agents', 'show', 'x']],
  [['agents', 'delete', 'x']],
  [['keys', 'list']],
  [['keys', 'revoke', '1']],
  [['keys', 'rotate', '1']],
  [['reindex']],
  [['erase', 'ann']],
  [['eval', join(folder, 'questions.jsonl')]],
])('%j says that there is no data instead of creating it', async (words) => {
  writeFileSync(join(folder, 'questions.jsonl'), JSON.stringify({ question: 'How high is it?' }))
  const missing = join(folder, 'missing')
  const sentence = (place: string): string =>
    `There is no Inlay data in ${place}. Add documents with inlay ingest <folder>, or name another folder with --data.`
  expect(await run([...words, '--data', missing])).toEqual({ code: 1, out: '', err: `inlay: ${sentence(missing)}\n` })
  expect(existsSync(missing)).toBe(false)
  const other = join(folder, 'empty')
  expect(JSON.parse((await run([...words, '--json', '--data', other])).out)).toEqual({
    error: { code: 'INVALID_INPUT', message: sentence(other) },
  })
  expect(readdirSync(other)).toEqual([])
})

test.each([[['ask', 'hi']], [['chat']], [['keys', 'create']], [['doctor', '--offline']]])(
  '%j creates the data folder, which the other commands then use',
  async (words) => {
    const fresh = join(folder, `fresh-${words[0]}`)
    expect((await run([...words, '--data', fresh], { PORT: '0' })).code).toBe(0)
    expect((await run(['documents', 'list', '--data', fresh])).code).toBe(0)
  },
)

test('wrong settings are told by their names, unknown ones warned about', async () => {
  const wrong = await run(['keys', 'list'], { INLAY_MODEL: 'gpt-5', PORT: 'x' })
  expect(wrong).toMatchObject({ code: 1, err: expect.stringMatching(/^inlay: PORT: "x".*\nINLAY_MODEL: "gpt-5"/) })
  expect((await run(['keys', 'list'], { INLAY_MODLE: 'x' })).err).toMatch(/INLAY_MODLE is not a setting/)
})

test('help and version need no settings', async () => {
  const env = { PORT: 'x' }
  for (const words of [[], ['--help'], ['-h'], ['help'], ['serve', '--help'], ['ingest', '-h']]) {
    expect(await run(words, env)).toMatchObject({ code: 0, out: expect.stringContaining('Usage: inlay'), err: '' })
  }
  const help = (await run(['--help'], env)).out
  expect(help.split('\n').length).toBeLessThan(36)
  expect(help).toMatch(/inlay help settings/)
  expect((await run(['help', 'settings'], env)).out).toMatch(/INLAY_EMBEDDING_DIMENSIONS/)
  expect((await run(['help', 'ingest'], env)).out).toBe((await run(['ingest', '--help'], env)).out)
  expect(await run(['--version'], env)).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test.each([
  [['ask', '  ', '--json'], 2, 'INVALID_INPUT'],
  [['serch', '--json'], 2, 'INVALID_INPUT'],
  [['search', '--json'], 2, 'INVALID_INPUT'],
  [['keys', 'make', '--json'], 2, 'INVALID_INPUT'],
  [['search', 'x', '--json', '--frob'], 2, 'INVALID_INPUT'],
  [['ingest', join(folder, 'nowhere'), '--json'], 1, 'INVALID_INPUT'],
])('for a program %j ends with %i and one line of JSON', async (words, expected, error) => {
  const { code, out } = await run(words)
  expect(code).toBe(expected)
  expect(JSON.parse(out)).toEqual({ error: { code: error, message: expect.stringMatching(/\w/) } })
})

test('a question without an answer ends with 1', async () => {
  const empty = join(folder, 'unanswered')
  expect(await run(['ask', 'How high is it?', '--data', empty])).toMatchObject({
    code: 1,
    err: expect.stringContaining('the documents do not answer this'),
  })
})

test('small talk needs no answer from the documents', async () => {
  expect(await run(['ask', 'hi'])).toMatchObject({ code: 0, err: expect.not.stringContaining('do not answer') })
})

test('files of other kinds are counted by kind', async () => {
  const mixed = join(folder, 'mixed')
  mkdirSync(mixed)
  for (const name of ['a.png', 'b.PNG', 'c.zip', 'Makefile']) writeFileSync(join(mixed, name), 'x')
  for (const name of ['notes.log', 'guide.rst', 'manual.adoc']) writeFileSync(join(mixed, name), 'Some words.')
  const { err, out } = await run(['ingest', mixed, '--json', '--no-wait'])
  expect(err).toContain('Skipped 4 files of kinds that are not read: .png (2), ')
  expect(JSON.parse(out)).toMatchObject({ files: 3, skipped: { '.png': 2, '.zip': 1, 'without an ending': 1 } })
})

test('a port that is taken is told', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  try {
    expect(await run(['serve', '--port', String(port)])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`port ${port} is in use`),
    })
  } finally {
    other.close()
  }
})

test('the shared options may stand before the command', async () => {
  const other = join(folder, 'other')
  await run(['keys', 'create', '--data', other])
  const { code, out } = await run(['--json', '--data', other, 'documents', 'list'])
  expect([code, JSON.parse(out)]).toEqual([0, []])
  const refused = await run(['--json', 'serch'])
  expect([refused.code, JSON.parse(refused.out)]).toMatchObject([2, { error: { code: 'INVALID_INPUT' } }])
  expect((await run(['--json'])).out).toContain('Usage: inlay <command>')
})

test('on a narrow terminal the help stays within its width', async () => {
  for (const columns of [40, 80]) {
    let out = ''
    const stdout = { isTTY: true, columns, write: (text: string) => (out += text) }
    const stderr = { write: () => {} }
    const { signal } = new AbortController()
    for (const words of [['--help'], ['help', 'ingest'], ['keys', '--help']])
      expect(await runCommandLine(words, { env: () => ({}), stdout, stderr, signal })).toBe(0)
    expect(out.split('\n').filter((line) => line.length > columns && line.trim().includes(' '))).toEqual([])
    expect(out.replace(/\s+/g, ' ')).toContain('serve the API and the web page over HTTP')
  }
})
