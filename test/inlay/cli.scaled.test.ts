import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { toUserId } from '@inlay/protocol'
import type { ChatFullResponse } from '@inlay/protocol'
import { startOpenAi } from '../stand-in/openai.ts'
import { cases } from '../cases.ts'

/** Runs with the full tests alone. */
const atLength = cases(test.skip, test)

const program = join(import.meta.dirname, '../../packages/inlay/src/cli.ts')
const folder = mkdtempSync(join(tmpdir(), 'inlay-cli-'))
const handbook = join(folder, 'handbook')
const data = join(folder, 'data')
const running: ChildProcess[] = []

beforeAll(() => {
  mkdirSync(join(handbook, 'travel'), { recursive: true })
  mkdirSync(join(handbook, '.git'))
  writeFileSync(join(handbook, 'leave.md'), '# Leave policy\n\nStaff receive 25 days of paid leave a year.\n')
  writeFileSync(
    join(handbook, 'travel/trains & ferries.html'),
    '<html><head><title>Trains</title></head><body><p>Staff travel by train in second class.</p></body></html>',
  )
  writeFileSync(join(handbook, 'notes.txt'), 'The reading room closes at 18.')
  writeFileSync(join(handbook, '.git/hidden.md'), 'not for us')
  writeFileSync(join(handbook, 'picture.png'), 'not text')
})

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function start(words: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(INLAY_|PORT$|HOST$|OPENAI|ANTHROPIC|NODE_OPTIONS)/.test(name)),
  )
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, ...words], {
    cwd: folder,
    env: { ...own, ...env },
  })
  running.push(child)
  return child
}

async function inlay(words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = start([...words, '--data', data], env)
  const [out, err] = [collect(child.stdout!), collect(child.stderr!)]
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  expect(err()).not.toMatch(/^\s+at .*:\d+:\d+/m)
  return { code, out: out(), err: err() }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = ''
  stream.on('data', (part) => (text += part))
  return () => text
}

describe('inlay ingest', () => {
  test('takes in what can be read, and skips what has not changed', async () => {
    const first = await inlay(['ingest', 'handbook'])
    expect([first.code, first.out]).toEqual([0, '3 new, 0 changed, 0 unchanged, 0 failed\n'])
    expect(first.err).toMatch(/Reading: .* of 3/)
    writeFileSync(join(handbook, 'notes.txt'), 'The reading room closes at 20.')
    const second = await inlay(['ingest', `${handbook}/`, '--json'])
    expect([second.code, JSON.parse(second.out)]).toEqual([
      0,
      { files: 3, new: 0, changed: 1, unchanged: 2, failed: 0, skipped: { '.png': 1 } },
    ])
    const passages = JSON.parse((await inlay(['search', 'reading room', '--json'])).out) as {
      content: string
      link: string
    }[]
    expect(passages.map(({ content, link }) => [content, link])).toEqual([
      ['The reading room closes at 20.', 'handbook/notes.txt'],
    ])
  })

  atLength('knows a single file by the name it has in its folder', async () => {
    const first = await inlay(['ingest', 'handbook/leave.md', 'handbook/travel/trains & ferries.html', '--json'])
    expect(JSON.parse(first.out)).toEqual({ files: 2, new: 0, changed: 0, unchanged: 2, failed: 0, skipped: {} })
  })

  atLength('makes links of a base address', async () => {
    await inlay(['ingest', 'handbook', '--base-url', 'https://wiki.example/h'])
    const passages = JSON.parse((await inlay(['search', 'second class train', '--limit', '1', '--json'])).out) as {
      link: string
      title: string
    }[]
    expect(passages[0]).toMatchObject({
      link: 'https://wiki.example/h/travel/trains%20%26%20ferries.html',
      title: 'Trains',
    })
  })

  atLength('names a file that cannot be read and goes on with the others', async () => {
    const broken = join(folder, 'broken')
    mkdirSync(broken)
    writeFileSync(join(broken, 'good.md'), 'A good file.')
    writeFileSync(join(broken, 'bad.docx'), 'PK\x03\x04 and then nothing')
    const ended = await inlay(['ingest', 'broken', '--json'])
    expect(JSON.parse(ended.out)).toMatchObject({ new: 1, failed: 1 })
    expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(/inlay: broken\/bad\.docx: \S+/)])
  })
})

atLength('an interrupted ingest says what is left, and the same command goes on', async () => {
  const many = join(folder, 'many')
  mkdirSync(many)
  for (let number = 0; number < 3000; number++)
    writeFileSync(join(many, `${number}.md`), `# Note ${number}\n\n${'The archive holds maps. '.repeat(200)}\n`)
  const child = start(['ingest', 'many', '--data', join(folder, 'interrupted')])
  const err = collect(child.stderr!)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await expect.poll(err, { timeout: 60_000, interval: 5 }).toMatch(/Reading: [1-9]\d* of 3000/)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(err()).toMatch(/Interrupted\..* not read: run the same command again to continue\./)
  const unread = Number(/(\d+) files were not read/.exec(err())![1])
  expect(unread).toBeGreaterThan(0)
  expect(unread).toBeLessThan(3000)
})

describe('inlay ask', () => {
  test('shows the answer, then its numbered sources', async () => {
    const ended = await inlay(['ask', 'How many days of paid leave do staff receive?'])
    expect(ended.code).toBe(0)
    expect(ended.out).toMatch(/^.*25 days of paid leave a year \[1\]\.\n/)
    expect(ended.out).toMatch(/\nSources\n\[1\] Leave policy {2}\S*leave\.md\n(?:\[\d\] .+\n)*$/)
    const session = /--session (\S+)/.exec(ended.err)![1]!
    const more = await inlay(['ask', '--session', session, '--json', 'And by train?'])
    expect((JSON.parse(more.out) as ChatFullResponse).chat_session_id).toBe(session)
  })

  atLength('says plainly when nothing was found', async () => {
    const ended = await inlay(['ask', 'Wie hoch ist der Zugspitzgipfel?', '--json'])
    expect(JSON.parse(ended.out)).toMatchObject({ citation_info: [], error_msg: null })
    expect(ended.code).toBe(1)
  })

  atLength('refuses a session that does not exist', async () => {
    const ended = await inlay(['ask', 'x', '--session', '00000000-0000-4000-8000-000000000000'])
    expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(/^inlay: \S.*session/i)])
  })
})

describe('inlay ask with a model over HTTP', () => {
  const configured = (origin: string): Record<string, string> => ({
    INLAY_MODEL: 'stand-in-1',
    INLAY_MODEL_BASE_URL: `${origin}/v1`,
    INLAY_MODEL_API_KEY: 'sk-very-secret',
  })

  atLength('stops the model when the person interrupts, and keeps what was said', async () => {
    const model = await startOpenAi([[{ text: 'Half of ' }, { hang: true }]])
    try {
      const child = start(['ask', 'Anything?', '--data', data], {
        ...configured(model.origin),
        // Until it has called a tool, the text of an unknown model is held back.
        INLAY_MODEL_GROUNDING: 'tools',
      })
      const [out, err] = [collect(child.stdout!), collect(child.stderr!)]
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      await expect.poll(out, { timeout: 60_000 }).toBe('Half of ')
      child.kill('SIGINT')
      expect([await ended, out().trimEnd()]).toEqual([130, 'Half of'])
      expect(err()).not.toMatch(/^inlay:/m)
      await expect.poll(model.abandoned).toBe(1)
    } finally {
      await model.close()
    }
  })

  test('says why the model failed, and never its key', async () => {
    const model = await startOpenAi([{ status: 401, body: { error: { message: 'bad key sk-very-secret' } } }])
    try {
      const ended = await inlay(['ask', 'Anything?'], configured(model.origin))
      expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(/^inlay: \S/m)])
      expect(ended.out + ended.err).not.toContain('secret')
      expect(model.requests[0]?.headers.authorization).toBe('Bearer sk-very-secret')
    } finally {
      await model.close()
    }
  })
})

atLength('inlay search shows passages with their place, and says when there are none', async () => {
  const ended = await inlay(['search', 'paid', 'leave'])
  expect(ended.out).toMatch(/^1\. Leave policy\n.*leave\.md/)
  const none = await inlay(['search', 'qqqqqq'])
  expect([none.code, none.out, none.err]).toEqual([0, '', 'Nothing was found.\n'])
})

describe('inlay keys', () => {
  atLength('makes, lists and revokes', async () => {
    const created = await inlay(['keys', 'create', '--name', 'importer', '--scope', 'ingest', '--scope', 'search'])
    expect([created.code, created.out]).toEqual([0, expect.stringMatching(/^inlay_[\w-]{43}\n$/)])
    const listed = JSON.parse((await inlay(['keys', 'list', '--json'])).out) as { id: number; display: string }[]
    expect(listed).toEqual([expect.objectContaining({ id: 1, name: 'importer', scopes: ['search', 'ingest'] })])
    expect((await inlay(['keys', 'list'])).out).not.toContain(created.out.trim())
    expect((await inlay(['keys', 'revoke', '1'])).code).toBe(0)
    expect((await inlay(['keys', 'revoke', '1'])).code).toBe(1)
    expect((await inlay(['keys', 'list'])).err).toMatch(/no keys/)
  })

  atLength('gives a key an end and limits of its own', async () => {
    const words = [
      'keys',
      'create',
      '--expires',
      '90',
      '--limit',
      'tokensPerDay=5000',
      '--limit',
      'requestsPerMinute=60',
    ]
    expect((await inlay(words)).code).toBe(0)
    const [listed] = JSON.parse((await inlay(['keys', 'list', '--json'])).out) as {
      expires_at: string
      limits: object
    }[]
    expect(listed?.limits).toEqual({ tokensPerDay: 5_000, requestsPerMinute: 60 })
    const days = (Date.parse(listed!.expires_at) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(90)
    expect((await inlay(['keys', 'list'])).out).toMatch(/expires \d{4}-\d{2}-\d{2}/)
    for (const wrong of [
      ['--expires', '0'],
      ['--limit', 'tokens=5'],
      ['--limit', 'tokensPerDay='],
    ])
      expect((await inlay(['keys', 'create', ...wrong])).code).toBe(2)
    const { id } = listed as unknown as { id: number }
    expect((await inlay(['keys', 'revoke', String(id)])).code).toBe(0)
  })
})

describe('inlay serve', () => {
  async function served(
    env: Record<string, string> = {},
  ): Promise<{ base: string; key: string | null; end(): Promise<number | null> }> {
    const child = start(['serve', '--port', '0', '--json', '--data', data], env)
    const err = collect(child.stderr!)
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const line = await Promise.race([
      new Promise<string>((resolve) => child.stdout!.once('data', (part) => resolve(String(part)))),
      ended.then(() => Promise.reject(new Error(err()))),
    ])
    const { base_url: base, key } = JSON.parse(line) as { base_url: string; key: string | null }
    return {
      base,
      key,
      end: () => {
        child.kill('SIGINT')
        return ended
      },
    }
  }

  test('answers over HTTP with the key it made, shares the folder with other commands, and ends cleanly', async () => {
    const server = await served()
    expect(server.key).toMatch(/^inlay_/)
    const headers = { authorization: `Bearer ${server.key}` }
    expect(await (await fetch(`${server.base}/me`, { headers })).json()).toMatchObject({ id: toUserId('operator') })
    writeFileSync(join(handbook, 'parking.md'), '# Parking\n\nBicycles are parked behind the greenhouse.\n')
    expect((await inlay(['ingest', 'handbook', '--json'])).out).toContain('"failed":0')
    const body = JSON.stringify({ message: 'Where are bicycles parked?', stream: false })
    const response = await fetch(`${server.base}/chat/send-chat-message`, { method: 'POST', headers, body })
    expect(((await response.json()) as ChatFullResponse).answer).toContain('behind the greenhouse')
    expect(await server.end()).toBe(0)
    const again = await served()
    expect(again.key).toBeNull()
    expect((await fetch(`${again.base}/me`, { headers })).status).toBe(200)
    expect(await again.end()).toBe(0)
  })

  atLength('takes its settings from the environment, and a key from there', async () => {
    const server = await served({
      INLAY_API_KEY: 'a-key-of-mine',
      INLAY_BASE_PATH: '/assistant',
      INLAY_STREAM_FORMAT: 'lines',
    })
    expect([server.key, server.base]).toEqual([null, expect.stringMatching(/\/assistant$/)])
    const headers = { authorization: 'Bearer a-key-of-mine' }
    const response = await fetch(`${server.base}/chat/send-chat-message`, {
      method: 'POST',
      headers,
      body: '{"message":"leave"}',
    })
    expect(await response.text()).toMatch(/^\{"chat_session_id"/)
    await server.end()
  })
})

atLength('a reader that has seen enough ends it without a word', async () => {
  const child = start(['--help'])
  const err = collect(child.stderr!)
  child.stdout!.destroy()
  await new Promise((resolve) => child.once('close', resolve))
  expect(err()).toBe('')
})
